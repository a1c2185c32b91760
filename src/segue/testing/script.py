"""The script of a stand-in: replies, and faults on demand. Invalid values are refused when they are created."""

from collections.abc import Callable, Iterable, Mapping
from math import isfinite
from typing import Any, Literal, get_args

from ..types import AssistantContent, Context, StopReason, TextContent, Usage, Value

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
"""The first six are responses with an error status; the others happen after half of the reply has been sent."""


STATUS_FAULTS = ("rate-limit", "server-error", "unavailable", "overloaded", "wrong-key", "overflow")
"""Faults that are responses with an error status: nothing is sent before them."""


class Reply(Value, frozen=True):
    """An answer as canonical blocks. The stand-in fills in what is empty, like the provider: signatures of thinking and
    calls, the payload of redacted thinking, ids of calls."""

    content: list[AssistantContent]
    # None: `toolUse` if there are calls, otherwise `stop`. `error` is a refusal.
    stop: StopReason | None = None
    usage: Usage = Usage(input=20, output=10, total_tokens=30)
    # Seconds between two events of a stream.
    pause: float = 0.0

    def _validate(self) -> None:
        if not isinstance(self.content, list):
            raise TypeError(f"the content of a Reply must be a list of blocks, not {_kind(self.content)}")
        for block in self.content:
            if not isinstance(block, get_args(AssistantContent)):
                kinds = ", ".join(kind.__name__ for kind in get_args(AssistantContent))
                raise TypeError(f"the blocks of a Reply must be {kinds}, not {_kind(block)}")
        if self.stop is not None:
            _check_choice("stop of a Reply", self.stop, get_args(StopReason))
        if not isinstance(self.usage, Usage):
            raise TypeError(f"the usage of a Reply must be a segue.Usage, not {_kind(self.usage)}")
        _check_seconds("pause of a Reply", self.pause)


class Fault(Value, frozen=True):
    """A failure instead of an answer, or in the middle of one."""

    kind: FaultKind
    # For faults in mid-stream: the answer that is interrupted.
    reply: Reply | None = None
    # For faults with a status: the seconds in the header `retry-after`.
    retry_after: float | None = None

    def _validate(self) -> None:
        _check_choice("kind of a Fault", self.kind, get_args(FaultKind))
        if self.reply is not None and not isinstance(self.reply, Reply):
            raise TypeError(f"the reply of a Fault must be a Reply, not {_kind(self.reply)}")
        if self.retry_after is not None:
            _check_seconds("retry_after of a Fault", self.retry_after)
        if self.kind not in STATUS_FAULTS and self.retry_after is not None:
            raise ValueError(f"a Fault of kind {self.kind!r} happens in mid-stream and cannot have a retry_after")


Scripted = Reply | Fault | str
"""One answer; a string is a reply with this text."""

Script = Iterable[Scripted | Callable[[Context], Scripted]]
"""Answers in their order. A function is called with the conversation of the request."""


def text_reply(text: str) -> Reply:
    """A reply with one text."""
    return Reply([TextContent(text)])


def checked_script(script: Any) -> list[Any]:
    """The answers of a script, after checking each of them."""
    if isinstance(script, str | bytes | Mapping | Reply | Fault) or not isinstance(script, Iterable):
        raise TypeError(f"a script must be a list of answers, not {_kind(script)}")
    answers = list(script)
    for at, answer in enumerate(answers):
        if not callable(answer) or isinstance(answer, type):
            as_reply(answer, f"answer {at} of the script")
    return answers


def as_reply(answer: Any, name: str) -> Reply | Fault:
    """Convert an answer of a script to a reply or a fault."""
    if isinstance(answer, str):
        return text_reply(answer)
    if not isinstance(answer, Reply | Fault):
        raise TypeError(
            f"{name} must be a Reply, a Fault, a str or a function that returns one of them, not {_kind(answer)}"
        )
    return answer


def _check_choice(name: str, value: Any, choices: Iterable[str]) -> None:
    if not isinstance(value, str):
        raise TypeError(f"the {name} must be a str, not {_kind(value)}")
    if value not in choices:
        raise ValueError(f"the {name} must be one of {', '.join(choices)}, not {value!r}")


def _check_seconds(name: str, seconds: Any) -> None:
    if isinstance(seconds, bool) or not isinstance(seconds, int | float):
        raise TypeError(f"the {name} must be a number of seconds, not {_kind(seconds)}")
    if not (isfinite(seconds) and seconds >= 0):
        raise ValueError(f"the {name} must be 0 seconds or more, not {seconds}")


def _kind(value: Any) -> str:
    return f"{type(value).__name__} {value!r:.60}"
