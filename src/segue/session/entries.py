"""The entries of a session's log. Entries are only appended, and any state can be rebuilt from them alone.

The ``key`` of an entry is its identity: writing an entry twice has no effect. The store numbers the entries.
"""

from typing import Any

from msgspec import Struct

from ..types import Message, UserMessage


class Entry(Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True, tag_field="entry"):
    """The fields of all entries: a unique key, and the time (Unix ms)."""

    key: str
    time: int


class MessageAdded(Entry, frozen=True, tag="message"):
    """A message of the conversation: the user's, an answer (also a failed one), or a result."""

    message: Message
    # For an answer, the failed attempts of this request before it, in order (keys of `AttemptFailed`).
    attempts: tuple[str, ...] = ()


class SystemPromptSet(Entry, frozen=True, tag="systemPrompt"):
    """The system prompt from here on."""

    system_prompt: str | None = None


class TurnBegun(Entry, frozen=True, tag="turnBegun"):
    """A turn begins with this model; the user's message follows."""

    model: str
    protocol: str
    # The host, the process and a unique word of the process that runs it, so that others can check if it still lives.
    owner: str = ""


class TurnRenewed(Entry, frozen=True, tag="turnRenewed"):
    """A sign that the turn still runs, written when nothing else was for a while."""


class TurnEnded(Entry, frozen=True, tag="turnEnded"):
    """The turn has ended: with an answer, a failure, a cancellation, or by recovery after a crash."""

    how: str  # done, failed, cancelled, limit, recovered; handed on, for history that a sub-agent got
    reason: str | None = None


class ModelChosen(Entry, frozen=True, tag="model"):
    """The model from the next turn on."""

    model: str
    protocol: str


class CallStarted(Entry, frozen=True, tag="callStarted"):
    """A call is about to run: from here on its outcome is unknown until its result is in the log."""

    call: str  # the canonical id of the call


class AttemptFailed(Entry, frozen=True, tag="attempt"):
    """A failed attempt: the model, the kind of failure, and the action that followed. If output had begun, the failed
    answer follows."""

    model: str
    protocol: str
    kind: str  # of ProviderError
    text: str
    then: str  # retry, next, compact, give-up
    status: int | None = None
    request_id: str | None = None


class Compacted(Entry, frozen=True, tag="compaction"):
    """From here on the history is rendered as this summary, followed by the entries from ``first`` on."""

    summary: UserMessage
    first: str  # the key of the first entry that is still rendered; empty: none before this one
    model: str  # the model that wrote the summary
    details: dict[str, Any] = {}


AnyEntry = (
    MessageAdded
    | SystemPromptSet
    | TurnBegun
    | TurnRenewed
    | TurnEnded
    | ModelChosen
    | CallStarted
    | AttemptFailed
    | Compacted
)
