"""What `segue chat` and `segue run` share: their arguments, and the session and agent that both drive.

The agent runs the tools, makes the results and writes the history; nothing of that happens here.
"""

import argparse
import re
import time
import warnings
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from typing import get_args

from msgspec.structs import replace

from ..agent import Agent, RunLimits, Session, Settings, rebuilt
from ..catalog import UnknownModelWarning
from ..errors import ModelError, SessionError, SettingError
from ..healing import persist_by_default
from ..session import SEPARATOR, STORE_VARIABLE, MessageAdded, Store, Stored, TurnBegun, default_path, open_store
from ..tools import Approve, Tool
from ..types import Model, Options, ReasoningLevel, UserMessage
from . import model_choice
from .demo import find_demo
from .formatting import title_of
from .local_servers import LocalServers
from .model_choice import Choice
from .offered_tools import OfferedTools, collect_tools
from .session_names import free_name, named_session


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of both commands."""
    parser.add_argument(
        "--model",
        metavar="PROVIDER/MODEL",
        help=f"the model (default: ${model_choice.VARIABLE}, a model whose key is set, or one that works offline)",
    )
    which = parser.add_mutually_exclusive_group()
    which.add_argument("--continue", dest="continues", action="store_true", help="continue the last session")
    which.add_argument("--session", metavar="SESSION", help="continue this session; the beginning of its id is enough")
    where = (
        f"the store of sessions: a path, sqlite:///… or postgresql://… (default: ${STORE_VARIABLE} or {default_path()})"
    )
    parser.add_argument("--store", metavar="WHERE", help=where.replace("%", "%%"))
    parser.add_argument("--system", metavar="TEXT", help="the system prompt of a new session")
    parser.add_argument("--thinking", choices=get_args(ReasoningLevel), help="how much the model thinks")
    parser.add_argument("--root", metavar="DIR", default=".", help="the directory that tools work in (default: .)")
    parser.add_argument("--no-tools", action="store_true", help="offer no tools for files and the shell")
    parser.add_argument(
        "--mcp",
        metavar="COMMAND|URL",
        action="append",
        default=[],
        help="offer the tools of this MCP server; may be repeated",
    )


class AgentHost:
    """Holds what a command needs for a conversation: store, tools, model, session and agent."""

    def __init__(
        self,
        store: Store,
        tools: OfferedTools,
        servers: LocalServers,
        *,
        system_prompt: str | None = None,
        settings: Settings | None = None,
    ) -> None:
        self.store = store
        self.tools = tools
        self.servers = servers
        self.session: Session | None = None
        self.choice: Choice
        """The model that answers, and why it was chosen."""
        self.approve: Approve | None = None
        """Decides which calls may run. Must be set before the first turn."""
        self._system_prompt, self._settings = system_prompt, settings
        self._agent: Agent | None = None
        self._agent_tools: list[Tool] = []

    @property
    def model(self) -> Model:
        """The model of the next turn."""
        return self.choice.model

    async def begin(self, model: str | None, session: str | None) -> None:
        """Choose the model and open the session. Without ``session``, the first turn creates one."""
        if session is None:
            self.choice = await model_choice.choose(model)
            return
        session = named_session(self.store, session)
        obstacle = "" if model else self._open_with_last_model(session)
        if model or obstacle:
            self.choice = await model_choice.choose(model)
            self.session = self._open(session, self.model)
        if obstacle:
            self.choice = replace(self.choice, why=f"{self.choice.why}; its last model cannot be used: {obstacle}")

    def _open_with_last_model(self, session: str) -> str:
        """Open a session with its last model. Returns why that is not possible, or an empty text."""
        try:
            self.session = self._open(session, self._last_demo(session))
            last = self.session.targets.likely(self.session.log.state.last)
            self.choice = Choice(last, "the last model of this session")
            model_choice.check_settings(self.model)
        except (SettingError, ModelError, SessionError) as error:
            return error.for_shell()
        return ""

    def _last_demo(self, session: str) -> Model | None:
        """The last model of a session, if it is a demo model, which the catalog does not have."""
        last = rebuilt(stored.entry for stored in self.store.read(session)).model
        return None if last is None else find_demo(last[0])

    async def agent(self, message: str) -> Agent:
        """The agent for the next turn. The first ``message`` is the title of a new session."""
        await self.servers.start(self.model)
        if self.session is None:
            self.session = Session.create(
                self.model,
                store=self.store,
                title=title_of(message),
                system_prompt=self._system_prompt,
                connection=self.servers.connection,
                settings=self._settings,
            )
        tools = self.tools.for_model(self.model)
        if self._agent is None or self._agent.session is not self.session or self._agent_tools != tools:
            await self.aclose()
            self._agent = Agent(None, tools, self.session, approve=self.approve)
            self._agent_tools = tools
        return self._agent

    def switch(self, model: Model) -> None:
        """Use this model from the next turn on."""
        if self.session is not None:
            self.session.switch(model)
        self.choice = Choice(model, "")

    async def fork(self, at: int | None = None) -> Session:
        """Continue in a new session that has the entries of this one, up to number ``at``."""
        if self.session is None:
            raise SessionError("there is no session yet; send a message first")
        at = self.session.log.head if at is None else at
        base = re.sub(r"(-at-\d+(-\d+)?)+$", "", self.session.id)
        name = free_name(self.store, f"{base}-at-{at}")
        self.store.fork(self.session.id, at, name, time=time.time_ns() // 1_000_000)
        await self.aclose()
        self.session = self._open(name, self.model)
        if self.session.log.state.model != (self.model.ref, self.model.protocol):
            self.session.switch(self.model)
        return self.session

    async def undo(self) -> UserMessage:
        """Continue in a fork that ends before the last turn. Returns the message that began that turn."""
        log = self.log()
        at = next((place for place in reversed(range(len(log))) if isinstance(log[place].entry, TurnBegun)), None)
        if at is None:
            raise SessionError("there is no turn to undo")
        message = next(
            entry.message for entry in (stored.entry for stored in log[at:]) if isinstance(entry, MessageAdded)
        )
        await self.fork(log[at].number - 1)
        assert isinstance(message, UserMessage)
        return message

    def log(self) -> list[Stored]:
        """All entries of the session."""
        return [] if self.session is None else list(self.store.read(self.session.id))

    async def aclose(self) -> None:
        """End everything that the agent still runs."""
        agent, self._agent = self._agent, None
        if agent is not None:
            await agent.aclose()

    def _open(self, name: str, model: Model | None) -> Session:
        """Open a stored session, with its last model if ``model`` is ``None``."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UnknownModelWarning)  # the user saw it when the model was chosen
            return Session.open(
                name, model, store=self.store, connection=self.servers.connection, settings=self._settings
            )


@asynccontextmanager
async def open_host(args: argparse.Namespace, limits: RunLimits | None = None) -> AsyncIterator[AgentHost]:
    """The host of the session that the arguments ask for."""
    stored = args.continues or args.session
    if args.system is not None and stored:
        raise SettingError("--system is for a new session; it cannot be changed with --continue or --session")
    persist_by_default()
    async with AsyncExitStack() as stack:
        store = stack.enter_context(open_store(args.store, create=not stored))
        servers = LocalServers()
        stack.push_async_callback(servers.aclose)
        host = AgentHost(
            store,
            await collect_tools(args, stack),
            servers,
            system_prompt=args.system,
            settings=Settings(options=Options(reasoning=args.thinking), limits=limits or RunLimits()),
        )
        stack.push_async_callback(host.aclose)
        await host.begin(args.model, _last_session(store) if args.continues else args.session)
        yield host


def _last_session(store: Store) -> str:
    """The session that was changed last, apart from those of sub-agents."""
    for info in store.sessions():
        if info.parent is None or SEPARATOR not in info.id:
            return info.id
    raise SessionError("there is no session to continue")
