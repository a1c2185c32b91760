"""`segue chat`: a conversation in the terminal. Draws the agent's events, and passes on what the user types."""

import argparse
import asyncio
import sys
from typing import IO, cast

from .. import __version__
from ..errors import SettingError
from ..session import MEMORY
from ..tools import Allow, Approval, ApprovalRequest
from ..types import Context, Model, UserMessage
from ..types.text import count_of
from . import agent_host, approvals, chat_commands, model_choice
from .agent_host import AgentHost
from .chat_work import ChatWork, show_failures
from .conversation_view import ConversationView
from .demo import demo_models, is_demo
from .formatting import text_of
from .keyboard import Keyboard
from .signals import handle_signals
from .terminal import Screen, is_terminal, print_note
from .turn_view import TurnView


def configure(parser: argparse.ArgumentParser) -> None:
    agent_host.configure(parser)
    parser.add_argument("--yes", action="store_true", help="run every tool without asking")


def run(args: argparse.Namespace) -> int:
    if not (sys.stdin.isatty() and is_terminal()):
        raise SettingError("segue chat needs a terminal; in a script, use segue run")
    asyncio.run(_chat(args))
    return 0


async def _chat(args: argparse.Namespace) -> None:
    async with agent_host.open_host(args) as host:
        chat = Chat(host)
        host.approve = _allow if args.yes else chat.approve
        with chat.keyboard.output.redirected():
            greet(host, chat.view)
            await chat.hold()
        if host.session is not None and args.store != MEMORY:
            print_note(f"session {host.session.id}; segue chat --continue continues it")


def _allow(request: ApprovalRequest) -> Approval:
    return Allow()


class Chat:
    """A conversation with the user at the terminal."""

    def __init__(self, host: AgentHost) -> None:
        self.host = host
        self.keyboard = Keyboard(chat_commands.completions, self._status, self.interrupt, _typed_before(host))
        self.view = TurnView(Screen(cast(IO[str], self.keyboard.output)), self.keyboard.grow)
        self.work = ChatWork(host, self.view, self.keyboard.refresh, self._give_back)
        self.leaving = False

    async def hold(self) -> None:
        """Read lines until the user leaves. A server that this process needs is started in the meantime."""
        starting = asyncio.create_task(self._start_server())
        # Ctrl-C may also arrive as a signal. A closed terminal, or SIGTERM, has the same effect as Ctrl-D.
        with handle_signals({"SIGINT": self.interrupt, "SIGTERM": self.hang_up, "SIGHUP": self.hang_up}):
            try:
                with self.keyboard.held():
                    while not self.leaving:
                        await self._handle((await self.keyboard.line()).strip())
            except EOFError:
                pass
            except OSError:
                if not self.leaving:  # otherwise the terminal is gone
                    raise
            finally:
                await self.work.aclose()
                await starting

    async def approve(self, request: ApprovalRequest) -> Approval:
        """Ask the user whether a call may run."""
        return await approvals.ask(request, self.keyboard, self.view)

    def interrupt(self) -> None:
        """Cancel what is running. If nothing is, clear the input line."""
        if self.work.is_running:
            self.work.cancel()
        elif self.keyboard.typed:
            self.keyboard.put("")
        else:
            self.view.note("Ctrl-D or /quit leaves")

    def hang_up(self) -> None:
        """Cancel what is running, and leave."""
        self.leaving = True
        self.keyboard.close()

    async def _handle(self, line: str) -> None:
        if not line:
            return
        self.view.line(("\n› ", "bold cyan"), (line, "bold"))
        command = chat_commands.find(line)
        if command is not None:
            with show_failures(self.view):
                await command.run(self, line.partition(" ")[2].strip())
        elif self.work.is_running:
            self.work.add_line(line)
        else:
            self.work.start_turn(line)

    def _give_back(self, unread: list[str]) -> None:
        self.keyboard.put("\n".join(unread))

    def _status(self) -> str:
        if self.work.is_running:
            hint = "Ctrl-C cancels; a line you type is sent with the next request"
            passed = f" {self.work.seconds} s" if self.work.seconds else ""
            parts = [self.work.model, f"{self.view.activity or self.work.doing}{passed}", hint]
        else:
            parts = [self.host.model.ref, *([self.host.session.id] if self.host.session is not None else [])]
        return " · ".join(parts)[: self.view.screen.width - 1]

    async def _start_server(self) -> None:
        with show_failures(self.view):
            await self.host.servers.start(self.host.model)


def greet(host: AgentHost, view: TurnView) -> None:
    """Print which model answers and why, and the last turn of a session that continues."""
    choice, session = host.choice, host.session
    why = f"  {choice.why}" if choice.why else ""
    view.line((f"segue {__version__}  ", "dim"), (choice.model.ref, "bold green"), (why, "dim"))
    if choice.offline:
        view.note(model_choice.provider_hint())
    if choice.alternatives:
        view.note(f"also available offline, with /model: {', '.join(choice.alternatives)}")
    if is_demo(choice.model) and session is None:
        view.note(f"ask something, then try {_another_demo(choice.model)}: it shows what is changed for the new model")
    for note in host.tools.notes:
        view.note(note)
    if session is not None:
        view.note(f"session {session.id}, {count_of(len(session.messages), 'message')}")
        _draw_last_turn(session.context, view.screen)
        if session.interrupted is not None:
            view.note("the last turn was interrupted; the next request says so to the model")
    view.note("/help lists the commands; Ctrl-C cancels a turn, Ctrl-D leaves")


def _another_demo(model: Model) -> str:
    return next(f"/model {each.ref}" for each in demo_models() if each != model)


def _draw_last_turn(context: Context, screen: Screen) -> None:
    users = [at for at, message in enumerate(context.messages) if isinstance(message, UserMessage)]
    conversation = ConversationView(screen, context, thinking=False, full=False)
    for at in range(users[-1] if users else 0, len(context.messages)):
        conversation.draw_message(at, context.messages[at])


def _typed_before(host: AgentHost) -> list[str]:
    """The user's messages in this session, for the arrow keys."""
    messages = [] if host.session is None else host.session.messages
    return [text for message in messages if isinstance(message, UserMessage) and (text := text_of(message))]
