"""Asks whether calls may run: one question at a time, and a clear no where there is no clear answer."""

import asyncio
import inspect
from typing import Any, get_args

from ..waiting import for_a_while
from .approval import Approval, Approve, Asked, Deny, Edit


class NoAnswer(Exception):
    """The callback gave no answer: it raised, or gave something else."""


async def answer(approve: Approve, asked: Asked, closing: "asyncio.Future[None]", grace: float) -> Approval:
    """What the callback says; ``NoAnswer`` if it says nothing that can be understood, or not before ``closing``."""
    task = asyncio.create_task(_called(approve, asked))
    try:
        await asyncio.wait([task, closing], return_when=asyncio.FIRST_COMPLETED)
    finally:
        if not task.done():
            task.cancel()
            await for_a_while(task, grace)
    if not task.done() or task.cancelled():
        raise NoAnswer("the question was cancelled")
    found = task.result()
    if isinstance(found, BaseException):
        raise NoAnswer(f"{type(found).__name__}: {found}".removesuffix(": "))
    if not isinstance(found, get_args(Approval)):
        raise NoAnswer(f"the answer was {found!r:.100}, not one of Allow, AllowAlways, Deny, Edit")
    _check(found)
    return found  # type: ignore[no-any-return]  # it is one of them


async def _called(approve: Approve, asked: Asked) -> Any:
    try:
        given = approve(asked)
        return await given if inspect.isawaitable(given) else given
    except GeneratorExit:
        raise
    except BaseException as error:  # noqa: BLE001, the code of others; an exit there must not end the loop
        return error


def _check(given: Any) -> None:
    """Structs check nothing when they are made."""
    if isinstance(given, Edit) and not isinstance(given.arguments, dict):
        raise NoAnswer(f"the edited arguments are {type(given.arguments).__name__}, not a dict")
    if isinstance(given, Deny) and not isinstance(given.reason, str):
        raise NoAnswer("it was denied")
