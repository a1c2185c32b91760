"""Compaction of a session: a summary takes the place of older turns; the log keeps everything."""

from typing import TYPE_CHECKING

import msgspec

from ..client import complete
from ..compaction import Plan, accept, obstacle, plan, request, summary_message
from ..errors import SegueError, SessionError
from ..session.entries import Compacted
from ..types import Context, Model, Options, UserMessage
from .meter import Meter

if TYPE_CHECKING:
    from .session import Session


async def compact(session: "Session", target: Model, meter: Meter | None = None) -> UserMessage | None:
    """Replace what can be cut by a summary, for the window of ``target``; ``None`` if nothing can be cut.

    The model that has seen the conversation writes it; where that one does not answer, the target does. A
    ``SessionError`` if neither can. What it used counts to ``meter``, and the log has it, too.
    """
    state, context = session.state, session.context
    reasons, used = [], Meter(parent=meter)
    for model in _writers(session, target):
        chosen = plan(
            context, target, model, running_from=state.running_from, options=session.options, policy=session.policy
        )
        if chosen is None:
            return None
        text, reason = await _summary(session, context, chosen, model, used)
        if text is None:
            reasons.append(f"{model.ref}: {reason}")
            continue
        first = state.key_of(chosen.cut) if chosen.cut < len(state.messages) else ""
        summary = summary_message(text)
        details = {"usage": msgspec.to_builtins(used.usage)}
        await session.append(session.entry(Compacted, summary=summary, first=first, model=model.ref, details=details))
        return summary
    raise SessionError(f"the conversation could not be summarised ({'; '.join(reasons)})")


def too_long(session: "Session", target: Model) -> str:
    """Why no summary helps, after none could be made."""
    found = obstacle(
        session.context,
        target,
        target,
        running_from=session.state.running_from,
        options=session.options,
        policy=session.policy,
    )
    return found or "there is nothing before the running turn that could be summarised"


def _writers(session: "Session", target: Model) -> list[Model]:
    """Who is asked for the summary, one after the other."""
    seen = session.last_model()
    if seen is None or (seen.ref, seen.protocol) == (target.ref, target.protocol):
        return [target]
    return [target] if seen.ref in session.router.resting(session.now()) else [seen, target]


async def _summary(
    session: "Session", context: Context, chosen: Plan, model: Model, used: Meter
) -> tuple[str | None, str]:
    """The summary of all parts, one after the other; or why there is none."""
    so_far: str | None = None
    for part in range(len(chosen.parts)):
        asked = request(context, chosen, part, so_far, model)
        try:
            # No router stands behind this request: the client itself tries again.
            answer = await complete(asked, model, Options(), None, session.connection(model))
        except SegueError as error:  # for example, there is no key for it any more
            return None, str(error)
        used.spend(answer.usage)
        if answer.failed:
            return None, answer.error_message or answer.stop_reason
        judged = accept(answer.text, chosen)
        if not judged.text:
            return None, "the summary is empty"
        so_far = judged.text
    return so_far, ""
