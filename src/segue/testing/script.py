"""What a stand-in says: replies, and faults on demand. What makes no sense is refused when it is made."""

from collections.abc import Callable, Iterable, Mapping
from math import isfinite
from typing import Any, Literal, get_args

from ..types import AssistantContent, Context, StopReason, TextContent, Usage
from ..types.value import Value

FaultKind = Literal[
    "rate-limit",
    "server-error",
    "unavailable",
    "overloaded",
    "wrong-key",
    "overflow",
    "cut",
    "error-event",
    "silence",
    "broken-json",
]
"""The first six are answers with a status; the others happen after half of the reply has been sent."""


STATUS_FAULTS = ("rate-limit", "server-error", "unavailable", "overloaded", "wrong-key", "overflow")
"""Faults that are answers with a status: nothing is sent before them."""


class Reply(Value, frozen=True):
    """An answer, as canonical blocks. What is empty is made by the stand-in, as the provider would: signatures of
    thinking and calls, the payload of redacted thinking, ids of calls."""

    content: list[AssistantContent]
    # Without a word: `toolUse` if there are calls, else `stop`. `error` is a refusal.
    stop: StopReason | None = None
    usage: Usage = Usage(input=20, output=10, total_tokens=30)
    # Seconds between two events of a stream.
    pause: float = 0.0

    def _validate(self) -> None:
        if not isinstance(self.content, list):
            raise TypeError(f"the content of a Reply is a list of blocks, not {_kind(self.content)}")
        for block in self.content:
            if not isinstance(block, get_args(AssistantContent)):
                kinds = ", ".join(kind.__name__ for kind in get_args(AssistantContent))
                raise TypeError(f"a Reply consists of {kinds}, not of {_kind(block)}")
        if self.stop is not None:
            _check_word("stop of a Reply", self.stop, get_args(StopReason))
        if not isinstance(self.usage, Usage):
            raise TypeError(f"the usage of a Reply is a segue.Usage, not {_kind(self.usage)}")
        _check_seconds("pause of a Reply", self.pause)


class Fault(Value, frozen=True):
    """A failure instead of an answer, or in the middle of one."""

    kind: FaultKind
    # The answer that is broken off, for faults in mid-stream.
    reply: Reply | None = None
    # Seconds, in the header of that name, for faults with a status.
    retry_after: float | None = None

    def _validate(self) -> None:
        _check_word("kind of a Fault", self.kind, get_args(FaultKind))
        if self.reply is not None and not isinstance(self.reply, Reply):
            raise TypeError(f"the reply of a Fault is a Reply, not {_kind(self.reply)}")
        if self.retry_after is not None:
            _check_seconds("retry_after of a Fault", self.retry_after)
        if self.kind not in STATUS_FAULTS and self.retry_after is not None:
            raise ValueError(f"a Fault of kind {self.kind!r} comes in an answer that has begun: it has no retry_after")


Scripted = Reply | Fault | str
"""One answer; a text stands for a reply that says it."""

Script = Iterable[Scripted | Callable[[Context], Scripted]]
"""Answers in their order. A function is given the conversation that the request holds."""


def said(text: str) -> Reply:
    """A reply of one text."""
    return Reply([TextContent(text)])


def checked_script(script: Any) -> list[Any]:
    """The answers of a script, each of which is one."""
    if isinstance(script, str | bytes | Mapping | Reply | Fault) or not isinstance(script, Iterable):
        raise TypeError(f"a script is a list of answers, not {_kind(script)}")
    answers = list(script)
    for at, answer in enumerate(answers):
        if not callable(answer):
            as_reply(answer, f"answer {at} of the script")
    return answers


def as_reply(answer: Any, name: str) -> Reply | Fault:
    """An answer of a script as a reply or a fault."""
    if isinstance(answer, str):
        return said(answer)
    if not isinstance(answer, Reply | Fault):
        raise TypeError(
            f"{name} is a Reply, a Fault, a str or a function that returns one of them, not {_kind(answer)}"
        )
    return answer


def _check_word(name: str, word: Any, words: Iterable[str]) -> None:
    if not isinstance(word, str):
        raise TypeError(f"the {name} is a str, not {_kind(word)}")
    if word not in words:
        raise ValueError(f"the {name} is one of {', '.join(words)}, not {word!r}")


def _check_seconds(name: str, seconds: Any) -> None:
    if isinstance(seconds, bool) or not isinstance(seconds, int | float):
        raise TypeError(f"the {name} is a number of seconds, not {_kind(seconds)}")
    if not (isfinite(seconds) and seconds >= 0):
        raise ValueError(f"the {name} is a number of seconds from 0 on, not {seconds}")


def _kind(value: Any) -> str:
    return f"{type(value).__name__} {value!r:.60}"
