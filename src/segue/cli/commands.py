"""What may be typed into a chat beside messages: one function for each, listed in ``COMMANDS``."""

import re
from collections.abc import Awaitable, Callable, Iterator
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

from ..agent.check import check_session
from ..agent.meter import added, session_usage
from ..catalog import Catalog
from ..session import MessageAdded
from ..types import AssistantMessage, TextContent, Usage
from . import offline
from .show import count_of, dollars, tokens_of

if TYPE_CHECKING:
    from .chat import Chat

SUGGESTED = 40
"""Models that are suggested at most."""


class Command(NamedTuple):
    purpose: str
    run: "Callable[[Chat, str], Awaitable[None]]"
    argument: str = ""


def find(line: str) -> Command | None:
    """The command that a line names; ``None`` if it is a message, which may well begin with a path."""
    word = line.split()[0]
    if not re.fullmatch(r"/[a-z]*", word):
        return None
    return COMMANDS.get(word) or Command("", _unknown)


# -- the model --------------------------------------------------------------------------------------------------------


async def _model(chat: "Chat", named: str) -> None:
    if not named:
        await _offers(chat)
        return
    model = offline.find(named)
    chat.talk.reach.check(model)
    session = chat.talk.session
    lines = []
    if session is not None and session.messages:
        lines = check_session(chat.talk.store, session.id, model).preview.summary().splitlines()
    chat.talk.switch(model)
    when = "with the next turn; this one keeps its model" if chat.busy else "from now on"
    chat.view.line((f"⇄ {model.ref} answers {when}", "bold yellow"))
    for line in lines:
        chat.note(line)


async def _offers(chat: "Chat") -> None:
    chat.note(f"{chat.talk.model.ref} answers; /model PROVIDER/MODEL changes that")
    keyed = offline.with_key()
    for choice in [*([keyed] if keyed is not None else []), *await offline.offline()]:
        chat.note(f"  {choice.model.ref}  {choice.why}")


# -- the history ------------------------------------------------------------------------------------------------------


async def _undo(chat: "Chat", _: str) -> None:
    if _is_idle(chat):
        before = chat.talk.session
        said = await chat.talk.undo()
        chat.note(f"the last turn is taken back; session {before.id if before else ''} still has it")
        chat.keyboard.put("".join(block.text for block in said.content if isinstance(block, TextContent)))


async def _fork(chat: "Chat", _: str) -> None:
    if _is_idle(chat):
        before = chat.talk.session
        forked = await chat.talk.fork()
        chat.note(f"from here on this is session {forked.id}; {before.id if before else ''} stays as it is")


async def _compact(chat: "Chat", _: str) -> None:
    if _is_idle(chat):
        chat.begin(_summarise(chat))


async def _summarise(chat: "Chat") -> None:
    session = chat.talk.session
    if session is None:
        chat.note("there is nothing to summarise yet")
        return
    await chat.talk.reach.ready(chat.talk.model)
    before = len(session.messages)
    summary = await session.compact()
    if summary is None:
        chat.note("there is nothing to summarise yet")
        return
    gone = before - len(session.messages) + 1
    chat.view.line((f"≡ {count_of(gone, 'message')} became a summary; the log keeps them", "magenta"))
    chat.note("".join(block.text for block in summary.content if isinstance(block, TextContent)))


async def _cost(chat: "Chat", _: str) -> None:
    session = chat.talk.session
    if session is None:
        chat.note("nothing has been asked yet")
        return
    for model, usage in _by_model(chat).items():
        chat.note(f"{model}: {_spent(usage)}")
    chat.note(f"this session: {_spent(session_usage(chat.talk.store, session.id))}")


def _by_model(chat: "Chat") -> dict[str, Usage]:
    used: dict[str, Usage] = {}
    for entry in (stored.entry for stored in chat.talk.log()):
        if isinstance(entry, MessageAdded) and isinstance(entry.message, AssistantMessage):
            model = f"{entry.message.provider}/{entry.message.model}"
            used[model] = added(used[model], entry.message.usage) if model in used else entry.message.usage
    return used


def _spent(usage: Usage) -> str:
    cost = "cost not known" if usage.cost is None else dollars(usage.cost.total)
    return f"{tokens_of(usage) or 'no tokens'} · {cost}"


# -- the rest ---------------------------------------------------------------------------------------------------------


async def _help(chat: "Chat", _: str) -> None:
    width = max(len(f"{name} {command.argument}") for name, command in COMMANDS.items())
    for name, command in COMMANDS.items():
        chat.note(f"{f'{name} {command.argument}':<{width}}  {command.purpose}")
    chat.note("A line that is typed while a turn runs is read with its next request. Esc Enter begins a new line.")


async def _quit(chat: "Chat", _: str) -> None:
    chat.leaving = True


async def _unknown(chat: "Chat", _: str) -> None:
    chat.complain(f"there is no such command; there are {', '.join(COMMANDS)}")


def _is_idle(chat: "Chat") -> bool:
    if chat.busy:
        chat.complain("a turn is running; wait for it, or cancel it with Ctrl-C")
    return not chat.busy


COMMANDS = {
    "/model": Command("another model, and what of the conversation it would lose", _model, "[PROVIDER/MODEL]"),
    "/undo": Command("take the last turn back", _undo),
    "/fork": Command("go on in a copy of this session", _fork),
    "/compact": Command("replace older turns by a summary", _compact),
    "/cost": Command("what this session has used", _cost),
    "/help": Command("this", _help),
    "/quit": Command("leave", _quit),
}


# -- completion -------------------------------------------------------------------------------------------------------


def completions(typed: str) -> Iterator[tuple[str, str]]:
    """The lines that what was typed may become: names of commands, and of models behind ``/model``."""
    if typed.startswith("/model "):
        wanted = typed.removeprefix("/model ").strip().lower()
        fitting = [ref for ref in _models() if wanted in ref.lower()]
        yield from ((f"/model {ref}", "") for ref in fitting[:SUGGESTED])
    elif typed.startswith("/"):
        yield from ((name, command.purpose) for name, command in COMMANDS.items() if name.startswith(typed))


@cache
def _models() -> list[str]:
    """All models of the catalog, those first that can be had with the keys that are set."""
    catalog = Catalog.default()
    rows = [*catalog.models.values()]
    reachable = {provider.id for provider in catalog.providers.values() if offline.has_key(provider)}
    ordered = sorted(rows, key=lambda row: row.provider not in reachable)
    return [offline.STAND_IN, *(row.ref for row in ordered)]
