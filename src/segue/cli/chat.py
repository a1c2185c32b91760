"""`segue chat`: a conversation in the terminal. Draws what the agent tells, and passes on what is typed."""

import argparse
import asyncio
import os
import sys
from collections.abc import Coroutine, Iterator
from contextlib import contextmanager
from typing import IO, TYPE_CHECKING, Any, cast

from .. import __version__
from ..agent import TurnStart
from ..errors import SegueError, SettingError
from ..session.sqlite import MEMORY
from ..tools import Allow, Approval, Asked
from ..types import Context, TextContent, UserMessage
from . import commands, offline, talk
from .approvals import ask
from .keyboard import Keyboard
from .show import Picture
from .signals import handled
from .terminal import Screen, is_terminal, print_note
from .view import View

if TYPE_CHECKING:
    from ..agent import Agent, AgentStream


def configure(parser: argparse.ArgumentParser) -> None:
    talk.configure(parser)
    parser.add_argument("--yes", action="store_true", help="let every tool run without asking")


def run(args: argparse.Namespace) -> int:
    if not (sys.stdin.isatty() and is_terminal()):
        raise SettingError("segue chat needs a terminal; for scripts there is segue run")
    asyncio.run(_chat(args))
    return 0


async def _chat(args: argparse.Namespace) -> None:
    async with talk.talking(args, approve=_allow) as begun:
        chat = Chat(begun)
        if not args.yes:
            begun.approve = chat.approve
        with chat.keyboard.above.taking_all():
            chat.greet()
            await chat.hold()
        if begun.session is not None and args.store != MEMORY:
            print_note(f"session {begun.session.id}; segue chat --continue goes on with it")


def _allow(asked: Asked) -> Approval:
    return Allow()


class Chat:
    """A conversation with the person at the terminal."""

    def __init__(self, begun: talk.Talk) -> None:
        self.talk = begun
        self.keyboard = Keyboard(commands.completions, self._status, self.interrupt, _said_before(begun))
        self.view = View(Screen(cast(IO[str], self.keyboard.above)), self.keyboard.grow)
        self.leaving = False
        self._agent: Agent | None = None
        self._stream: AgentStream | None = None
        self._task: asyncio.Task[None] | None = None
        self._early: list[str] = []
        self._answering = ""

    # -- the conversation ---------------------------------------------------------------------------------------------

    async def hold(self) -> None:
        """Read lines until the person leaves. What is served by this process is started meanwhile."""
        starting = asyncio.create_task(self._start_serving())
        # Ctrl-C may come as a signal, too; a terminal that is closed, or a polite kill, is like Ctrl-D.
        with handled({"SIGINT": self.interrupt, "SIGTERM": self.hang_up, "SIGHUP": self.hang_up}):
            try:
                while not self.leaving:
                    await self._take((await self.keyboard.line()).strip())
            except EOFError:
                pass
            except OSError:
                if not self.leaving:  # else the terminal is gone
                    raise
            finally:
                await self._leave()
                await starting

    async def _take(self, line: str) -> None:
        if not line:
            return
        self.view.line(("\n› ", "bold cyan"), (line, "bold"))
        command = commands.find(line)
        if command is not None:
            with self._told():
                await command.run(self, line.partition(" ")[2].strip())
        elif not self.busy:
            self.begin(self._turn(line))
        elif self._agent is not None:
            self._agent.steer(line)
            self.note("it is read with the next request of this turn")
        else:
            self._early.append(line)
            self.note("it waits until this is done")

    def begin(self, work: Coroutine[Any, Any, None]) -> None:
        """Do something that takes long; Ctrl-C ends it."""

        async def guarded() -> None:
            try:
                with self._told():
                    await work
            finally:
                self._give_back()

        self._answering = self.talk.model.ref  # which may be changed meanwhile
        self._task = asyncio.create_task(guarded())
        self._task.add_done_callback(lambda _: self.keyboard.refresh())

    async def _turn(self, said: str) -> None:
        agent = await self.talk.agent(said)
        try:
            async with agent.stream(said) as self._stream:
                async for event in self._stream:
                    if isinstance(event, TurnStart):  # before, it would stand before the message of the turn
                        self._agent = agent
                        while self._early:
                            agent.steer(self._early.pop(0))
                    self.view.show(event)
                    self.keyboard.refresh()
            if self._stream.outcome is not None:
                self.view.outcome(self._stream.outcome)
        finally:
            self.view.settle()
            self._agent = self._stream = None
            self._early += [_text(message) for message in agent.clear_queue()]

    def _give_back(self) -> None:
        """What nobody has read is put back into the input line."""
        unread, self._early = self._early, []
        if unread:
            self.keyboard.put("\n".join(unread))

    async def approve(self, asked: Asked) -> Approval:
        """Ask the person whether a call may run."""
        return await ask(asked, self.keyboard, self.view)

    def interrupt(self) -> None:
        """End what is running; else throw away what was typed."""
        if self.busy and self._stream is not None:
            self._stream.cancel()
        elif self.busy and self._task is not None:
            self._task.cancel()
        elif self.keyboard.typed:
            self.keyboard.put("")
        else:
            self.note("Ctrl-D or /quit leaves")

    def hang_up(self) -> None:
        """End what is running, and leave."""
        self.leaving = True
        self.keyboard.close()

    # -- what commands use --------------------------------------------------------------------------------------------

    @property
    def busy(self) -> bool:
        """Whether a turn, or something else that takes long, is running."""
        return self._task is not None and not self._task.done()

    def note(self, text: str) -> None:
        """Tell something beside the conversation."""
        if text:
            self.view.line((text, "dim"))

    def complain(self, text: str) -> None:
        """Tell that something did not work."""
        self.view.line((f"✗ {' '.join(text.split())}", "red"))

    def greet(self) -> None:
        """Tell who answers and why, and where the conversation stands."""
        choice, session = self.talk.choice, self.talk.session
        about = f"  {choice.why}" if choice.why else ""
        self.view.line((f"segue {__version__}  ", "dim"), (choice.model.ref, "bold green"), (about, "dim"))
        if choice.offline:
            self.note(offline.way_out())
        if choice.also:
            self.note(f"what else works offline: {', '.join(f'/model {ref}' for ref in choice.also)}")
        for each in self.talk.notes:
            self.note(each)
        if session is not None:
            self.note(f"session {session.id}, {len(session.messages)} messages")
            self._draw_last_turn(session.context)
            if session.interrupted is not None:
                self.note("its last turn was broken off, which the model will be told")
        self.note("/help tells what there is; Ctrl-C cancels a turn, Ctrl-D leaves")

    def _draw_last_turn(self, context: Context) -> None:
        users = [at for at, message in enumerate(context.messages) if isinstance(message, UserMessage)]
        picture = Picture(self.view.screen, context, thinking=False, full=False)
        for at in range(users[-1] if users else 0, len(context.messages)):
            picture.draw_message(at, context.messages[at])

    # -- parts of these -----------------------------------------------------------------------------------------------

    def _status(self) -> str:
        parts = [self._answering if self.busy else self.talk.model.ref]
        if self.busy:
            parts += [self.view.doing or "answering", "Ctrl-C cancels, a line is read at the next step"]
        elif self.talk.session is not None:
            parts.append(self.talk.session.id)
        return " · ".join(parts)[: self.view.screen.width - 1]

    async def _start_serving(self) -> None:
        with self._told():
            await self.talk.reach.ready(self.talk.model)

    async def _leave(self) -> None:
        if self.busy and self._task is not None:
            self.interrupt()
            await asyncio.wait([self._task])

    @contextmanager
    def _told(self) -> Iterator[None]:
        """A failure is told, and the conversation goes on."""
        try:
            yield
        except asyncio.CancelledError:
            self.note("cancelled")
        except SegueError as error:
            self.complain(str(error))
        except Exception as error:
            if os.environ.get("SEGUE_DEBUG"):
                raise
            self.complain(f"a fault of segue's own ({type(error).__name__}: {error}); SEGUE_DEBUG=1 shows where")


def _said_before(begun: talk.Talk) -> list[str]:
    """What the person has said in this session, for the arrow keys."""
    messages = [] if begun.session is None else begun.session.messages
    return [text for message in messages if isinstance(message, UserMessage) and (text := _text(message))]


def _text(message: UserMessage) -> str:
    return "".join(block.text for block in message.content if isinstance(block, TextContent))
