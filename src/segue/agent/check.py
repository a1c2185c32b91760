"""Checks the next request of a stored session: what is changed for a model, and what it would refuse. Read-only."""

from collections.abc import Iterable
from typing import Any

from msgspec import Struct
from msgspec.structs import asdict

from ..projection import PolicyLike
from ..render import Preview, lint, preview
from ..rules import Finding
from ..session import Store
from ..types import AssistantMessage, Change, Context, Message, Model, ToolDefinition, UserMessage
from .recovery import Interruption, closing_results, interruption
from .state import State

NEXT = "…"
"""A placeholder for the user's next message."""


class SessionCheck(Struct, frozen=True):
    """The result of checking the next request of a session."""

    session: str
    entries: list[int | None]
    """For each message of the rendered history, the number of its entry in the log; ``None`` if it has none yet."""
    preview: Preview
    findings: list[Finding]
    """What the provider would refuse."""
    interrupted: Interruption | None
    """A turn that is open: it runs elsewhere, or was interrupted and is closed when the session continues."""

    @property
    def ok(self) -> bool:
        """Whether the request would be accepted."""
        return not self.preview.limits and not any(finding.severity == "error" for finding in self.findings)

    def entry_of(self, change: Change) -> int | None:
        """The number of the entry that a change concerns."""
        return None if change.message is None else self.entries[change.message]

    def document(self) -> dict[str, Any]:
        """The whole check, as a JSON document."""
        ahead = self.preview
        return {
            "session": self.session,
            "model": ahead.model.ref,
            "ok": self.ok,
            "changes": [{"entry": self.entry_of(change), **_fields(change)} for change in ahead.changes],
            "findings": self.findings,
            "limits": ahead.limits,
            "fits": ahead.fits,
            "sure": ahead.sure,
            "tokens": ahead.tokens,
            "contextWindow": ahead.model.context_window,
            "inputLimit": ahead.model.input_limit(),
            "retires": ahead.model.retires,
            "interrupted": None
            if self.interrupted is None
            else {"notStarted": self.interrupted.not_started, "unknown": self.interrupted.unknown},
        }


def check_session(
    store: Store, session: str, model: Model, policy: PolicyLike = None, *, tools: Iterable[ToolDefinition] = ()
) -> SessionCheck:
    """Check the next request of a stored session to ``model``, which is offered ``tools``."""
    state, numbers = State(), {}
    for stored in store.read(session):
        state.apply(stored.entry)
        numbers[stored.entry.key] = stored.number
    messages: list[Message] = list(state.messages)
    entries = [numbers.get(state.key_of(at)) for at in range(len(messages))]
    found = interruption(state)
    messages += closing_results(state.unanswered()) if found is not None else []
    if not messages or isinstance(messages[-1], AssistantMessage):
        messages.append(UserMessage(NEXT))
    context = Context(system_prompt=state.system_prompt, messages=messages, tools=list(tools))
    ahead = preview(context, model, policy)
    return SessionCheck(
        session=session,
        entries=entries + [None] * (len(messages) - len(entries)),
        preview=ahead,
        findings=lint(ahead.request.body, model.protocol, model),
        interrupted=found,
    )


def _fields(change: Change) -> dict[str, Any]:
    return {name: value for name, value in asdict(change).items() if name != "message"}
