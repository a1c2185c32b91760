"""The log of a session: reading and writing its entries, and closing a turn that was interrupted."""

import uuid
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from threading import Lock
from typing import Any, TypeVar

from ..errors import ConflictError, SegueError, SettingError
from ..router import Fixed, Router
from ..session import MAX_TIME, AnyEntry, Entry, MessageAdded, ModelChosen, Store, TurnEnded, TurnRenewed
from ..types import Message
from ..waiting import in_thread
from .owner import RENEWAL, Owner, is_alive
from .recovery import Interruption, closing_results, interruption
from .state import State

E = TypeVar("E", bound=Entry)


class Log:
    """The log of one session, and the state that follows from it.

    Several processes may have the same session open, but only one runs a turn at a time.
    """

    def __init__(self, store: Store, id: str, clock: Callable[[], float]) -> None:  # noqa: A002
        self.store = store
        self.id = id
        self.clock = clock
        self.state = State()
        self.head = 0
        """The number of the last entry that was read or written here."""
        self.owner = Owner()
        self._lock = Lock()  # a thread may write while the event loop continues
        self._running = ""

    # -- entries -----------------------------------------------------------------------------------------------------

    def time(self) -> int:
        """The current time in milliseconds since 1970."""
        now = self.clock() * 1000
        if not abs(now) < MAX_TIME:  # also true for NaN
            raise SettingError(
                f"the clock of session {self.id} returned {now / 1000}; it must return seconds since 1970"
            )
        return int(now)

    def entry(self, kind: type[E], /, **fields: Any) -> E:
        """An entry with a new key and the current time."""
        return kind(key=uuid.uuid4().hex, time=self.time(), **fields)

    def message(self, message: Message, attempts: tuple[str, ...] = ()) -> MessageAdded:
        """The entry of a message."""
        return self.entry(MessageAdded, message=message, attempts=attempts)

    def model_chosen(self, router: Router) -> list[AnyEntry]:
        """The entry of a choice of model; empty for other routers, which cannot be stored."""
        if not isinstance(router, Fixed):
            return []
        [model] = router.members
        return [self.entry(ModelChosen, model=model.ref, protocol=model.protocol)]

    # -- reading and writing -----------------------------------------------------------------------------------------

    def reload(self) -> None:
        """Read the entries that others have added."""
        with self._lock:
            for stored in self.store.read(self.id, self.head):
                self.state.apply(stored.entry)
                self.head = stored.number

    def write(self, entries: Sequence[AnyEntry]) -> None:
        """Write entries, all or none, in the caller's thread. When this returns, they survive a crash."""
        with self._lock:
            self.head = self.store.append(self.id, list(entries), after=self.head)
            for entry in entries:
                self.state.apply(entry)

    async def append(self, *entries: AnyEntry) -> None:
        """Like ``write``, without blocking the event loop. A cancellation is raised after the entries are written."""
        await in_thread(self.store.blocks, self.write, entries)

    def insert(self, entries: Sequence[AnyEntry]) -> None:
        """Write entries that do not belong to a turn. They may be written while a turn runs here."""
        if not entries:
            return
        if not self._running:
            self._recover()
        self.write(entries)

    # -- turns -------------------------------------------------------------------------------------------------------

    @contextmanager
    def exclusive(self, action: str) -> Iterator[None]:
        """Let only one action of this session run at a time in this process."""
        if self._running:
            raise ConflictError(f"{self._running} of session {self.id} is running; wait for it, or cancel it")
        self._running = action
        self.owner.begin()
        try:
            yield
        finally:
            self._running = ""
            self.owner.end()

    @property
    def is_running(self) -> bool:
        """Whether an action of this session runs in this process."""
        return bool(self._running)

    @property
    def interrupted(self) -> Interruption | None:
        """The turn that was interrupted and not closed yet, if any."""
        found = None if self._running else interruption(self.state)
        return None if found is None or self._is_alive(found) else found

    async def recover(self, force: bool = False) -> Interruption | None:
        """Read what others have added, and close a turn that was interrupted. ``force``: even if its owner is alive."""
        return await in_thread(self.store.blocks, self._recover, force)

    def _recover(self, force: bool = False) -> Interruption | None:
        self.reload()
        found = interruption(self.state)
        if found is None:
            return None
        if not force and self._is_alive(found):
            raise ConflictError(f"a turn of session {self.id} is running elsewhere ({found.owner}); wait for it")
        results = [self.message(result) for result in closing_results(self.state.unanswered())]
        self.write([*results, self.entry(TurnEnded, how="recovered")])
        return found

    def _is_alive(self, found: Interruption) -> bool:
        return found.owner != self.owner.name and is_alive(found.owner, self.time() - self.state.changed)

    def renew(self) -> None:
        """Renew the lease of the turn that runs here, if nothing was written for a while."""
        with suppress(SegueError):  # the next entry of the turn meets the same error, and reports it
            if self.state.turn is not None and self.time() - self.state.changed >= RENEWAL:
                self.write([self.entry(TurnRenewed)])
