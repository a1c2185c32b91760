"""The work that a chat does in the background while the input line stays open: a turn, or a compaction."""

import asyncio
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from ..errors import SegueError
from ..events import TurnStart
from . import internal_error, is_debugging
from .formatting import text_of

if TYPE_CHECKING:
    from ..agent import Agent, AgentStream
    from .agent_host import AgentHost
    from .turn_view import TurnView


class ChatWork:
    """Runs one piece of work at a time. Lines that are typed during a turn are passed to its agent.

    ``refresh`` redraws the input line; ``give_back`` gets the lines that no request has included.
    """

    def __init__(
        self, host: "AgentHost", view: "TurnView", refresh: Callable[[], None], give_back: Callable[[list[str]], None]
    ) -> None:
        self.doing = ""
        """What the present work is, in a word."""
        self.model = ""
        """The model of the present work. The host may have switched to another one since it started."""
        self._host = host
        self._view = view
        self._refresh = refresh
        self._give_back = give_back
        self._task: asyncio.Task[None] | None = None
        self._agent: Agent | None = None
        self._stream: AgentStream | None = None
        self._begun = 0.0
        self._early: list[str] = []
        """Lines that were typed before the turn started."""

    @property
    def is_running(self) -> bool:
        return self._task is not None and not self._task.done()

    @property
    def seconds(self) -> int:
        """How long the present work has taken so far."""
        return int(asyncio.get_running_loop().time() - self._begun)

    def start(self, work: Coroutine[Any, Any, None], doing: str = "answering") -> None:
        """Start some work; ``cancel`` ends it."""
        self.model, self.doing = self._host.model.ref, doing
        self._begun = asyncio.get_running_loop().time()
        self._task = asyncio.create_task(self._run(work))
        self._task.add_done_callback(lambda _: self._refresh())

    def start_turn(self, message: str) -> None:
        """Start a turn."""
        self.start(self._turn(message))

    def add_line(self, line: str) -> None:
        """Pass a line to the turn that is running."""
        if self._agent is not None:
            self._agent.steer(line)
            self._view.note("the next request of this turn includes it")
        else:
            self._early.append(line)
            self._view.note("it waits until this is done")

    def cancel(self) -> None:
        """Cancel the work, if there is any."""
        if not self.is_running:
            return
        if self._stream is not None:
            self._stream.cancel()
        elif self._task is not None:
            self._task.cancel()

    async def aclose(self) -> None:
        """Cancel the work and wait for its end."""
        if self.is_running and self._task is not None:
            self.cancel()
            await asyncio.wait([self._task])

    async def _run(self, work: Coroutine[Any, Any, None]) -> None:
        ticking = asyncio.create_task(self._tick())
        try:
            with show_failures(self._view):
                await work
        finally:
            ticking.cancel()
            unread, self._early = self._early, []
            if unread:
                self._give_back(unread)

    async def _tick(self) -> None:
        """Redraw the input line every second, with the time that has passed."""
        while True:
            await asyncio.sleep(1)
            self._refresh()

    async def _turn(self, message: str) -> None:
        agent = await self._host.agent(message)
        try:
            async with agent.stream(message) as self._stream:
                async for event in self._stream:
                    if isinstance(event, TurnStart):  # a line that is passed earlier would precede the turn's message
                        self._agent = agent
                        while self._early:
                            agent.steer(self._early.pop(0))
                    self._view.show(event)
                    self._refresh()
            if self._stream.outcome is not None:
                self._view.outcome(self._stream.outcome)
        finally:
            self._view.end_line()
            self._agent = self._stream = None
            self._early += [text_of(unread) for unread in agent.clear_queue()]


@contextmanager
def show_failures(view: "TurnView") -> Iterator[None]:
    """Print errors instead of raising them, so that the chat continues."""
    try:
        yield
    except asyncio.CancelledError:
        view.note("cancelled")
    except SegueError as error:
        view.error(error.for_shell())
    except Exception as error:
        if is_debugging():
            raise
        view.error(internal_error(error))
