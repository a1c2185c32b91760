"""Call the user's ``approve`` callback. Anything that is not a clear answer means that the call is not run."""

import asyncio
import inspect
from typing import Any

from ..waiting import for_a_while
from .approval import Approval, ApprovalRequest, Approve, Deny, Edit


class NoAnswer(Exception):
    """The callback did not return an answer: it raised, was cancelled, or returned something else."""


async def ask_approval(
    approve: Approve, request: ApprovalRequest, closing: "asyncio.Future[None]", grace: float
) -> Approval:
    """Return the answer of the callback; ``NoAnswer`` if there is no valid one before ``closing`` is done."""
    task = asyncio.create_task(_call(approve, request))
    try:
        await asyncio.wait([task, closing], return_when=asyncio.FIRST_COMPLETED)
    finally:
        if not task.done():
            task.cancel()
            await for_a_while(task, grace)
    if not task.done() or task.cancelled():
        raise NoAnswer("the question was cancelled")
    answer = task.result()
    if isinstance(answer, BaseException):
        raise NoAnswer(f"{type(answer).__name__}: {answer}".removesuffix(": "))
    if not isinstance(answer, Approval):
        raise NoAnswer(f"the answer was {answer!r:.100}, not one of Allow, AllowAlways, Deny, Edit")
    _check_fields(answer)
    return answer


async def _call(approve: Approve, request: ApprovalRequest) -> Any:
    """Return what the callback returns, or the exception that it raises."""
    try:
        answer = approve(request)
        return await answer if inspect.isawaitable(answer) else answer
    except GeneratorExit:
        raise
    except BaseException as error:  # noqa: BLE001, foreign code; SystemExit there must not end the event loop
        return error


def _check_fields(answer: Approval) -> None:
    """Check the types of the fields, because a struct does not check them when it is created."""
    if isinstance(answer, Edit) and not isinstance(answer.arguments, dict):
        raise NoAnswer(f"the edited arguments are {type(answer.arguments).__name__}, not a dict")
    if isinstance(answer, Deny) and not isinstance(answer.reason, str):
        raise NoAnswer("it was denied")
