"""What `segue chat` and `segue run` share: their arguments, and the agent that both drive.

No tool is run, no result made and no history written here: that is the agent's.
"""

import argparse
import os
import re
import shlex
import time
import warnings
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from typing import TYPE_CHECKING, get_args

from msgspec.structs import replace

from ..agent import Agent, RunLimits, Session, Settings
from ..agent.meter import SEPARATOR
from ..catalog import UnknownModelWarning
from ..errors import ModelError, SessionError, SettingError
from ..session import MessageAdded, Store, Stored, TurnBegun, default_path, open_store
from ..session.where import VARIABLE
from ..tools import Approve, Tool
from ..types import Model, Options, UserMessage
from ..types.options import ReasoningLevel
from . import offline
from .sessions import free_names

if TYPE_CHECKING:
    from ..tools.mcp import McpServer

TITLE = 60
"""Characters of the first message that a list of sessions shows."""


def configure(parser: argparse.ArgumentParser) -> None:
    """The arguments of both commands."""
    parser.add_argument(
        "--model",
        metavar="PROVIDER/MODEL",
        help=f"who answers; ${offline.VARIABLE}, or a model whose key is set, or what works offline if not given",
    )
    goes_on = parser.add_mutually_exclusive_group()
    goes_on.add_argument("--continue", dest="goes_on", action="store_true", help="go on with the last session")
    goes_on.add_argument("--session", metavar="ID", help="go on with this session")
    where = f"where sessions are kept: a path, sqlite:///… or postgresql://…; ${VARIABLE} or {default_path()}"
    parser.add_argument("--store", metavar="WHERE", help=where.replace("%", "%%"))
    parser.add_argument("--system", metavar="TEXT", help="the system prompt of a new session")
    parser.add_argument("--thinking", choices=get_args(ReasoningLevel), help="how much the model thinks")
    parser.add_argument("--root", metavar="DIR", default=".", help="the folder that tools work in; the present one")
    parser.add_argument("--no-tools", action="store_true", help="offer no files and no shell")
    parser.add_argument(
        "--mcp",
        metavar="COMMAND|URL",
        action="append",
        default=[],
        help="offer the tools of this MCP server; may be given more than once",
    )


class Talk:
    """A conversation that a command holds: its store, its tools, its agent."""

    def __init__(
        self,
        store: Store,
        tools: list[Tool],
        reach: offline.Reach,
        *,
        asked_for: Sequence[Tool] = (),
        approve: Approve | None = None,
        settings: Settings | None = None,
        system_prompt: str | None = None,
        notes: Sequence[str] = (),
    ) -> None:
        self.store = store
        self.tools = [*tools, *asked_for]
        self.asked_for = [*asked_for]
        """The tools that somebody has named: those are offered even to a model that is too small for them."""
        self.reach = reach
        self.session: Session | None = None
        self.choice: offline.Choice
        """The model that answers, and why it was taken."""
        self.approve = approve
        self.notes = [*notes]
        """What the person should know of the tools."""
        self._settings, self._system_prompt = settings, system_prompt
        self._agent: Agent | None = None
        self._offered: list[Tool] = []

    @property
    def model(self) -> Model:
        """The model that answers the next turn."""
        return self.choice.model

    async def begin(self, named: str | None, session: str | None) -> None:
        """A new conversation, or a stored one; with the model of that name, or the one that it had last."""
        if session is None:
            self.choice = await offline.choose(named, self.reach)
            return
        self.store.info(session)  # which complains if there is none
        obstacle = "" if named else self._as_it_was(session)
        if named or obstacle:
            self.choice = await offline.choose(named, self.reach)
            self.session = self.reopened(session, self.model)
        if obstacle:
            self.choice = replace(self.choice, why=f"{self.choice.why}; the last one cannot go on: {obstacle}")

    def _as_it_was(self, session: str) -> str:
        """Open a session with the model that it had last; or say why that is not possible."""
        try:
            self.session = self.reopened(session, None)
            self.choice = offline.Choice(
                self.session.targets.likely(self.session.log.state.last), "it was the last one here"
            )
            self.reach.check(self.model)
        except (SettingError, ModelError, SessionError) as error:
            return str(error)
        return ""

    async def agent(self, said: str) -> Agent:
        """The agent for a turn that begins with ``said``. The session is stored from its first turn on."""
        await self.reach.ready(self.model)
        if self.session is None:
            self.session = Session.create(
                self.model,
                store=self.store,
                title=_title(said),
                system_prompt=self._system_prompt,
                connection=self.reach.connection,
                settings=self._settings,
            )
        offered = self.tools if offline.takes_tools(self.model) else self.asked_for
        if self._agent is None or self._agent.session is not self.session or self._offered is not offered:
            await self._let_go()
            self._agent = Agent(None, offered, self.session, approve=self.approve)
            self._offered = offered
        return self._agent

    def switch(self, model: Model) -> None:
        """From the next turn on, this model answers."""
        if self.session is not None:
            self.session.switch(model)
        self.choice = offline.Choice(model, "")

    async def fork(self, at: int | None = None) -> Session:
        """Go on in a new session that begins with the entries of this one, up to number ``at``."""
        session = self._begun()
        at = session.log.head if at is None else at
        base = re.sub(r"(-at-\d+(-\d+)?)+$", "", session.id)
        name = next(free_names(self.store, f"{base}-at-{at}"))
        self.store.fork(session.id, at, name, time=time.time_ns() // 1_000_000)
        await self._let_go()
        self.session = self.reopened(name, self.model)
        if self.session.log.state.model != (self.model.ref, self.model.protocol):
            self.session.switch(self.model)
        return self.session

    async def undo(self) -> UserMessage:
        """Take the last turn back: go on in a session that ends before it. What the turn began with is returned."""
        log = self.log()
        at = next((place for place in reversed(range(len(log))) if isinstance(log[place].entry, TurnBegun)), None)
        if at is None:
            raise SessionError("there is no turn to take back")
        said = next(entry.message for entry in (stored.entry for stored in log[at:]) if isinstance(entry, MessageAdded))
        await self.fork(log[at].number - 1)
        assert isinstance(said, UserMessage)
        return said

    def log(self) -> list[Stored]:
        """Everything that is stored of this session."""
        return [] if self.session is None else list(self.store.read(self.session.id))

    def reopened(self, name: str, model: Model | None) -> Session:
        """A stored session, with its last model if none is given."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UnknownModelWarning)  # told when it was chosen
            return Session.open(
                name, model, store=self.store, connection=self.reach.connection, settings=self._settings
            )

    async def aclose(self) -> None:
        """End what the agent still runs."""
        await self._let_go()

    def _begun(self) -> Session:
        if self.session is None:
            raise SessionError("the session has not begun: say something first")
        return self.session

    async def _let_go(self) -> None:
        agent, self._agent = self._agent, None
        if agent is not None:
            await agent.aclose()


@asynccontextmanager
async def talking(
    args: argparse.Namespace, approve: Approve | None, limits: RunLimits | None = None
) -> AsyncIterator[Talk]:
    """The conversation that the arguments ask for."""
    if args.system is not None and (args.goes_on or args.session):
        raise SettingError("--system is for a new session; this one has begun")
    async with AsyncExitStack() as stack:
        store = stack.enter_context(open_store(args.store, create=not (args.goes_on or args.session)))
        reach = offline.Reach()
        stack.push_async_callback(reach.aclose)
        built_in, notes = _built_in(args)
        asked_for, left_out = await _from_servers(args.mcp, stack, {tool.name for tool in built_in})
        talk = Talk(
            store,
            built_in,
            reach,
            asked_for=asked_for,
            approve=approve,
            settings=Settings(options=Options(reasoning=args.thinking), limits=limits or RunLimits()),
            system_prompt=args.system,
            notes=[*notes, *left_out],
        )
        stack.push_async_callback(talk.aclose)
        await talk.begin(args.model, _last(store) if args.goes_on else args.session)
        yield talk


def _last(store: Store) -> str:
    """The session that was changed last, sub-agents' apart."""
    for info in store.sessions():
        if info.parent is None or SEPARATOR not in info.id:
            return info.id
    raise SessionError("there is no session to go on with")


def _built_in(args: argparse.Namespace) -> tuple[list[Tool], list[str]]:
    """The built-in tools; and why some are missing, where the system lacks what they need."""
    if args.no_tools:
        return [], []
    from ..tools.files import file_tools
    from ..tools.shell import shell_tool

    if not os.path.isdir(args.root):
        raise SettingError(f"the root of the tools is no directory: {args.root}")
    tools: list[Tool] = []
    notes = []
    for made in (file_tools, lambda root: [shell_tool(root)]):
        try:
            tools += made(args.root)
        except SettingError as error:
            notes.append(str(error))
    return tools, notes


async def _from_servers(named: list[str], stack: AsyncExitStack, taken: set[str]) -> tuple[list[Tool], list[str]]:
    """The tools of the MCP servers; and which of them no model can be given. Names that are ``taken`` stay so."""
    tools: list[Tool] = []
    notes: list[str] = []
    for each in named:
        server = await stack.enter_async_context(_server(each))
        faults = [*server.left_out.values()]
        for tool in server.tools:
            if tool.name in taken:
                faults.append(f"tool {tool.name!r}: another tool has the same name, and came first")
            else:
                taken.add(tool.name)
                tools.append(tool)
        notes += [f"a tool of {server.name} is left out: {why}" for why in faults]
    return tools, notes


def _server(named: str) -> "McpServer":
    from ..tools.mcp import McpServer

    if named.startswith(("http://", "https://")):
        return McpServer.http(named, approval=True)
    try:
        command = shlex.split(named)
    except ValueError as error:
        raise SettingError(f"--mcp {named}: {error}") from None
    if not command:
        raise SettingError("--mcp names no command")
    return McpServer.stdio(*command, approval=True)


def _title(said: str) -> str:
    words = " ".join(said.split())
    return words if len(words) <= TITLE else f"{words[: TITLE - 1]}…"
