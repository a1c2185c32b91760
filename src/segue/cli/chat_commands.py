"""The commands of a chat: one function each, listed in ``COMMANDS``."""

import re
from collections.abc import Awaitable, Callable, Iterator
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

from ..agent import add_usage, check_session, session_usage
from ..catalog import Catalog
from ..compaction import text_of_summary
from ..errors import SettingError
from ..session import MessageAdded
from ..types import AssistantMessage, Usage, dollars
from ..types.text import count_of
from . import model_choice
from .demo import demo_models
from .formatting import text_of, tokens_of
from .keys import has_key

if TYPE_CHECKING:
    from .chat import Chat

MAX_SUGGESTIONS = 40
"""Models that completion suggests at most."""


class Command(NamedTuple):
    purpose: str
    run: "Callable[[Chat, str], Awaitable[None]]"
    argument: str = ""


def find(line: str) -> Command | None:
    """The command that a line names; ``None`` if the line is a message. A message may begin with a path."""
    word = line.split()[0]
    if not re.fullmatch(r"/[a-z]*", word):
        return None
    return COMMANDS.get(word) or Command("", _unknown)


# -- the model --------------------------------------------------------------------------------------------------------


async def _model(chat: "Chat", name: str) -> None:
    if not name:
        await _list_models(chat)
        return
    model = model_choice.find(name)
    session = chat.host.session
    summary = []
    if session is not None and session.messages:
        tools = [tool.definition for tool in chat.host.tools.for_model(model)]
        summary = check_session(chat.host.store, session.id, model, tools=tools).preview.summary().splitlines()
    try:
        model_choice.check_settings(model)
    except SettingError as error:
        chat.view.error(f"{chat.host.model.ref} still answers: {error.for_shell()}")
        _draw_preview(chat, f"what {model.ref} would get:", summary)
        return
    chat.host.switch(model)
    when = "from the next turn on; this turn keeps its model" if chat.work.is_running else "from now on"
    chat.view.line((f"⇄ {model.ref} answers {when}", "bold yellow"))
    _draw_preview(chat, "", summary)


def _draw_preview(chat: "Chat", title: str, summary: list[str]) -> None:
    for line in [*([title] if title and summary else []), *summary]:
        chat.view.note(line)


async def _list_models(chat: "Chat") -> None:
    chat.view.note(f"{chat.host.model.ref} answers; /model PROVIDER/MODEL changes that")
    keyed = model_choice.with_key()
    for choice in [*([keyed] if keyed is not None else []), *await model_choice.offline()]:
        chat.view.note(f"  {choice.model.ref}  {choice.why}")


# -- the history ------------------------------------------------------------------------------------------------------


async def _undo(chat: "Chat", _: str) -> None:
    if _is_idle(chat):
        before = chat.host.session
        message = await chat.host.undo()
        chat.view.note(f"the last turn is undone; session {before.id if before else ''} still has it")
        chat.keyboard.put(text_of(message))


async def _fork(chat: "Chat", _: str) -> None:
    if _is_idle(chat):
        before = chat.host.session
        forked = await chat.host.fork()
        chat.view.note(f"this is now session {forked.id}; {before.id if before else ''} is unchanged")


async def _compact(chat: "Chat", _: str) -> None:
    if _is_idle(chat):
        chat.work.start(_summarise(chat), "summarising")


async def _summarise(chat: "Chat") -> None:
    session = chat.host.session
    if session is None:
        chat.view.note("there is nothing to summarise yet")
        return
    await chat.host.servers.start(chat.host.model)
    before = len(session.messages)
    summary = await session.compact()
    if summary is None:
        chat.view.note("there is nothing to summarise yet")
        return
    replaced = before - len(session.messages) + 1
    chat.view.line((f"≡ {count_of(replaced, 'message')} became a summary; the log keeps them", "magenta"))
    chat.view.note(text_of_summary(summary))


async def _cost(chat: "Chat", _: str) -> None:
    session = chat.host.session
    if session is None:
        chat.view.note("nothing has been sent yet")
        return
    for model, usage in _usage_by_model(chat).items():
        chat.view.note(f"{model}: {_spent(usage)}")
    chat.view.note(f"this session: {_spent(session_usage(chat.host.store, session.id))}")


def _usage_by_model(chat: "Chat") -> dict[str, Usage]:
    used: dict[str, Usage] = {}
    for entry in (stored.entry for stored in chat.host.log()):
        if isinstance(entry, MessageAdded) and isinstance(entry.message, AssistantMessage):
            model = f"{entry.message.provider}/{entry.message.model}"
            used[model] = add_usage(used[model], entry.message.usage) if model in used else entry.message.usage
    return used


def _spent(usage: Usage) -> str:
    cost = "cost not known" if usage.cost is None else dollars(usage.cost.total)
    return f"{tokens_of(usage) or 'no tokens'} · {cost}"


# -- the rest ---------------------------------------------------------------------------------------------------------


async def _help(chat: "Chat", _: str) -> None:
    width = max(len(f"{name} {command.argument}") for name, command in COMMANDS.items())
    for name, command in COMMANDS.items():
        chat.view.note(f"{f'{name} {command.argument}':<{width}}  {command.purpose}")
    chat.view.note("A line that you type during a turn is sent with its next request. Esc Enter starts a new line.")


async def _quit(chat: "Chat", _: str) -> None:
    chat.leaving = True


async def _unknown(chat: "Chat", _: str) -> None:
    chat.view.error(f"unknown command; the commands are {', '.join(COMMANDS)}")


def _is_idle(chat: "Chat") -> bool:
    if chat.work.is_running:
        chat.view.error("a turn is running; wait for it, or cancel it with Ctrl-C")
    return not chat.work.is_running


COMMANDS = {
    "/model": Command("switch the model, and show what of the conversation it loses", _model, "[PROVIDER/MODEL]"),
    "/undo": Command("undo the last turn", _undo),
    "/fork": Command("continue in a copy of this session", _fork),
    "/compact": Command("replace older turns with a summary", _compact),
    "/cost": Command("show the tokens and the cost of this session", _cost),
    "/help": Command("list the commands", _help),
    "/quit": Command("leave", _quit),
}


# -- completion -------------------------------------------------------------------------------------------------------


def completions(typed: str) -> Iterator[tuple[str, str]]:
    """The lines that a typed text may become: commands, and models after ``/model``."""
    if typed.startswith("/model "):
        wanted = typed.removeprefix("/model ").strip().lower()
        matching = [ref for ref in _models() if wanted in ref.lower()]
        yield from ((f"/model {ref}", "") for ref in matching[:MAX_SUGGESTIONS])
    elif typed.startswith("/"):
        yield from ((name, command.purpose) for name, command in COMMANDS.items() if name.startswith(typed))


@cache
def _models() -> list[str]:
    """All models of the catalog, those of providers whose keys are set first."""
    catalog = Catalog.default()
    rows = [*catalog.models.values()]
    reachable = {provider.id for provider in catalog.providers.values() if has_key(provider)}
    ordered = sorted(rows, key=lambda row: row.provider not in reachable)
    return [*(model.ref for model in demo_models()), *(row.ref for row in ordered)]
