"""What a session's log is made of. Entries are only ever appended; any state can be rebuilt from them alone.

An entry's ``key`` is its identity: writing it twice has no effect. Its number in the log is the store's affair.
"""

from typing import Any

from msgspec import Struct

from ..types import Message, UserMessage


class Entry(Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True, tag_field="entry"):
    """What all entries have: a key that nothing else has, and the time (Unix ms)."""

    key: str
    time: int


class MessageAdded(Entry, frozen=True, tag="message"):
    """A message of the conversation: the user's, an answer (also a failed one), or a result."""

    message: Message
    # For an answer, the attempts before it that failed in this request, in their order (keys of `Failed`).
    attempts: tuple[str, ...] = ()


class Prompted(Entry, frozen=True, tag="systemPrompt"):
    """From here on the system prompt is this one."""

    system_prompt: str | None = None


class TurnBegun(Entry, frozen=True, tag="turnBegun"):
    """A turn begins, with the model that it is bound to; the user's message follows."""

    model: str
    protocol: str
    # Who runs it: the host, the process and a word of its own, so that another one can see whether it still lives.
    owner: str = ""


class TurnRenewed(Entry, frozen=True, tag="turnRenewed"):
    """The turn still runs where it began: nothing else was written for a while."""


class TurnEnded(Entry, frozen=True, tag="turnEnded"):
    """The turn is over: its answer is there, or it failed, was cancelled, or was found broken off on opening."""

    how: str  # done, failed, cancelled, limit, recovered; handed on, where a sub-agent was given what came before
    reason: str | None = None


class ModelChosen(Entry, frozen=True, tag="model"):
    """From the next turn on, another model answers."""

    model: str
    protocol: str


class CallStarted(Entry, frozen=True, tag="callStarted"):
    """A call is about to run: from here on its outcome is unknown until its result is there."""

    call: str  # the canonical id of the call


class Failed(Entry, frozen=True, tag="attempt"):
    """An attempt that failed: who was asked, what kind of failure, and what was done about it. If output had begun, the
    failed answer follows."""

    model: str
    protocol: str
    kind: str  # of ProviderError
    text: str
    then: str  # retry, next, compact, give-up
    status: int | None = None
    request_id: str | None = None


class Compacted(Entry, frozen=True, tag="compaction"):
    """From here on the history is rendered as this summary, followed by everything from the entry ``first`` on."""

    summary: UserMessage
    first: str  # the key of the first entry that is still rendered; empty: none of those before this one
    model: str  # who wrote it
    details: dict[str, Any] = {}


AnyEntry = (
    MessageAdded | Prompted | TurnBegun | TurnRenewed | TurnEnded | ModelChosen | CallStarted | Failed | Compacted
)
