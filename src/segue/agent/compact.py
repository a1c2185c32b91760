"""Compaction of a session: a summary replaces older turns in the history; the log keeps everything."""

import time
from typing import TYPE_CHECKING

import msgspec

from ..client import complete
from ..compaction import Plan, RequestSettings, accept, obstacle, plan, request, summary_message
from ..errors import SegueError, SessionError
from ..session import Compacted
from ..types import Context, Model, Options, UserMessage
from .meter import Meter

if TYPE_CHECKING:
    from .session import Session


async def compact(session: "Session", target: Model, meter: Meter | None = None) -> UserMessage | None:
    """Replace older turns by a summary, for the window of ``target``; ``None`` if there is nothing to cut.

    The last model writes the summary. If that fails, the target writes it; if both fail, a ``SessionError`` is raised.
    The usage is counted by ``meter`` and stored in the log.
    """
    log, state, context = session.log, session.log.state, session.context
    reasons, used = [], Meter(parent=meter)
    for model in _writers(session, target):
        chosen = plan(context, target, model, running_from=state.running_from, settings=_request_settings(session))
        if chosen is None:
            return None
        text, reason = await _summary(session, context, chosen, model, used)
        if text is None:
            reasons.append(f"{model.ref}: {reason}")
            continue
        first = state.key_of(chosen.cut) if chosen.cut < len(state.messages) else ""
        summary = summary_message(text)
        details = {"usage": msgspec.to_builtins(used.usage)}
        await log.append(log.entry(Compacted, summary=summary, first=first, model=model.ref, details=details))
        return summary
    raise SessionError(f"the conversation could not be summarised ({'; '.join(reasons)})")


def too_long(session: "Session", target: Model) -> str:
    """Why a summary does not help, after none could be made."""
    found = obstacle(
        session.context,
        target,
        target,
        running_from=session.log.state.running_from,
        settings=_request_settings(session),
    )
    return found or "there is nothing before the running turn that could be summarised"


def _request_settings(session: "Session") -> RequestSettings:
    return RequestSettings(session.settings.options, session.settings.policy)


def _writers(session: "Session", target: Model) -> list[Model]:
    """The models that are asked for the summary, in this order."""
    last = session.targets.find(session.log.state.last)
    if last is None or (last.ref, last.protocol) == (target.ref, target.protocol):
        return [target]
    return [target] if last.ref in session.router.resting(time.monotonic()) else [last, target]


async def _summary(
    session: "Session", context: Context, chosen: Plan, model: Model, used: Meter
) -> tuple[str | None, str]:
    """Summarise all parts, one after the other. Return the summary, or ``None`` and the reason."""
    so_far: str | None = None
    for part in range(len(chosen.parts)):
        asked = request(context, chosen, part, so_far, model)
        try:
            # No router is involved here, so the client makes the retries.
            answer = await complete(asked, model, Options(), None, session.targets.connection_to(model), check=False)
        except SegueError as error:  # for example, its key is missing
            return None, str(error)
        used.spend(answer.usage)
        if answer.failed:
            return None, answer.error_message or answer.stop_reason
        judged = accept(answer.text, chosen)
        if not judged.text:
            return None, "the summary is empty"
        so_far = judged.text
    return so_far, ""
