"""What is open: conversations from files, stored sessions, pasted text, and a gateway. Each has an id that stays the
same as long as its place does, so that a URL means the same tomorrow."""

from collections.abc import Callable, Iterable, Iterator
from hashlib import blake2b
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Any, Protocol

from msgspec import Struct
from msgspec.structs import replace

from .. import transcripts
from ..agent import rebuilt
from ..errors import FormatError
from ..session import AnyEntry, Compacted, MessageAdded, Store
from ..types import AssistantMessage, Context, Message
from ..types.formatting import origin_of
from ..types.printable import one_line

MOST_IN_A_FILE = 500
"""Conversations of one file that can be opened."""


class Document(Protocol):
    """A conversation in a document, and the form that it had there."""

    @property
    def context(self) -> Context: ...
    @property
    def form(self) -> str: ...
    @property
    def protocol(self) -> str | None: ...
    @property
    def body(self) -> dict[str, Any] | None: ...


Read = Callable[[Iterable[bytes], str], Iterator[Document | FormatError]]
"""Reads all conversations in the lines of a document with this name, in any format that segue knows."""


class Event(Struct, frozen=True):
    """A place at which something happened to the conversation as a whole."""

    # The index of the message that follows it.
    message: int
    kind: str  # model, compaction, fork, failure
    text: str


class Opened(Struct, frozen=True, kw_only=True):
    """One conversation that can be shown."""

    id: str
    name: str
    # What it was taken for, in words.
    form: str
    context: Context
    events: list[Event]
    protocol: str | None = None
    body: dict[str, Any] | None = None
    # Python that reads it into `context`.
    python: str = ""
    # Which conversation has also the messages that compactions replaced.
    whole: str | None = None
    # The number of the last entry, for a session that may grow.
    entries: int | None = None
    faults: list[str] = []

    @property
    def version(self) -> int:
        """Grows with the conversation."""
        return len(self.context.messages) if self.entries is None else self.entries


def id_of(kind: str, place: str) -> str:
    """The id of a conversation, from where it is."""
    return blake2b(f"{kind}\0{place}".encode("utf-8", "surrogatepass"), digest_size=6).hexdigest()


def switches(messages: Iterable[Message]) -> Iterator[Event]:
    """Every place at which another model answers, and every failed answer."""
    last = ""
    for index, message in enumerate(messages):
        if isinstance(message, AssistantMessage):
            origin = origin_of(message)
            if origin != last:
                yield Event(index, "model", origin)
                last = origin
            if message.failed:
                word = "failed" if message.stop_reason == "error" else message.stop_reason
                yield Event(index, "failure", f"{word}: {message.error_message or 'no reason given'}")


# -- documents --------------------------------------------------------------------------------------------------------


def open_file(path: str, read: Read) -> list[Opened]:
    """The conversations in a file, or in the file, directory or database of another tool."""
    full = str(Path(path).resolve())
    source = transcripts.Source(path)
    if form := transcripts.recognised(source):
        return list(_transcripts(source, form, full))
    transcripts.refuse_side_file(source)
    with open(path, "rb") as file:
        found = list(_documents(file, "file", full, Path(path).name, read))
    return [replace(each, python=f"segue.ingest(Path({full!r}).read_bytes())") for each in found]


def _transcripts(source: transcripts.Source, form: transcripts.Format, full: str) -> Iterator[Opened]:
    """The conversations of another tool; one with compactions also with the messages that they replaced."""
    infos = list(form.list(source))[:MOST_IN_A_FILE]
    for number, info in enumerate(infos or [None], 1):
        name = info.id if info is not None and len(infos) > 1 else None
        found = form.read(source, name)
        argument = "" if name is None else f", {name!r}"
        opened = Opened(
            id=id_of("file", f"{full}\0{number}"),
            name=one_line(found.title or (info and info.title) or found.id or Path(full).name),
            form=" ".join(filter(None, (form.title, found.version))),
            context=found.context,
            events=list(switches(found.context.messages)),
            python=f"segue.transcripts.read({full!r}{argument}).context",
            faults=[str(remark) for remark in found.changes],
        )
        if len(found.messages) == len(found.context.messages):
            yield opened
            continue
        whole = id_of("whole file", f"{full}\0{number}")
        summary = Event(0, "compaction", f"compacted from {len(found.messages)} messages")
        yield replace(opened, whole=whole, events=[summary, *opened.events])
        context = Context(found.messages, system_prompt=found.system_prompt, tools=found.tools)
        yield replace(
            opened,
            id=whole,
            name=f"{opened.name} (the whole log)",
            context=context,
            events=sorted([*_compactions(found), *switches(context.messages)], key=lambda event: event.message),
            python=f"segue.Context(segue.transcripts.read({full!r}{argument}).messages)",
        )


def _compactions(transcript: transcripts.Transcript) -> Iterator[Event]:
    count = 0
    for each in transcript.log:
        if isinstance(each, transcripts.Compaction):
            yield Event(count, "compaction", "compacted")
        else:
            count += 1


def open_text(data: bytes, name: str, read: Read) -> list[Opened]:
    """The conversations in text that was pasted or dropped."""
    place = blake2b(data, digest_size=16).hexdigest()
    with NamedTemporaryFile() as file:  # transcripts are recognised in files, some of which are databases
        file.write(data)
        file.flush()
        source = transcripts.Source(file.name)
        if form := transcripts.recognised(source):
            found = list(_transcripts(source, form, place))
            return [replace(each, python=each.python.replace(place, "transcript")) for each in found]
        try:
            transcripts.refuse_side_file(source)
        except FormatError as error:
            raise error.at(one_line(name)) from None
    found = list(_documents(data.splitlines(keepends=True), "text", place, name, read))
    return [replace(each, python="segue.ingest(text)") for each in found]


def _documents(lines: Iterable[bytes], kind: str, place: str, name: str, read: Read) -> Iterator[Opened]:
    """A ``FormatError`` if there is none."""
    name = one_line(name)
    faults: list[str] = []
    count = 0
    for item in read(lines, name):
        if isinstance(item, FormatError):
            faults.append(str(item))
            continue
        count += 1
        yield Opened(
            id=id_of(kind, f"{place}\0{count}"),
            name=name if count == 1 else f"{name} ({count})",
            form=item.form,
            context=item.context,
            events=list(switches(item.context.messages)),
            protocol=item.protocol,
            body=item.body,
            faults=faults,  # also those that are read after it
        )
        if count == MOST_IN_A_FILE:
            return
    if not count:
        raise FormatError(faults[0] if faults else f"{name}: there is no conversation in it")


# -- sessions ---------------------------------------------------------------------------------------------------------


class SessionReader:
    """Reads one session of a store, and what is added to it later: as the next request renders it, or the whole log
    with the messages that compactions replaced."""

    def __init__(self, store: Store, session: str, whole: bool = False) -> None:
        self.store = store
        self.session = session
        self.whole = whole
        self.id = id_of("log" if whole else "session", session)
        self._entries: list[AnyEntry] = []
        self._last = 0
        self._opened: Opened | None = None

    def head(self) -> int:
        """The number of the last entry in the store."""
        return self.store.head(self.session)

    def opened(self) -> Opened:
        """The session as it is now. Entries that were read before are not read again."""
        for stored in self.store.read(self.session, self._last):
            self._entries.append(stored.entry)
            self._last = stored.number
        if self._opened is None or self._opened.entries != self._last:
            self._opened = self._build()
        return self._opened

    def _build(self) -> Opened:
        info = self.store.info(self.session)
        state = rebuilt(entry for entry in self._entries if not (self.whole and isinstance(entry, Compacted)))
        count = sum(isinstance(entry, MessageAdded) for entry in self._entries)
        compacted = len(state.messages) < count
        marks = list(self._marks(info.parent, info.parent_entry))
        if compacted:
            marks = [Event(0, "compaction", f"compacted from {count} messages")]
        events = sorted([*marks, *switches(state.messages)], key=lambda event: event.message)
        name = one_line(info.title or info.id)
        return Opened(
            id=self.id,
            name=f"{name} (the whole log)" if self.whole else name,
            form=f"a stored session, {info.id}",
            context=Context(system_prompt=state.system_prompt, messages=list(state.messages)),
            events=events,
            python=f"segue.Session.open({info.id!r}).context",
            whole=id_of("log", self.session) if compacted else None,
            entries=self._last,
        )

    def _marks(self, parent: str | None, parent_entry: int | None) -> Iterator[Event]:
        """Compactions, and the place where the session was forked."""
        count = 0
        for number, entry in enumerate(self._entries, 1):
            if isinstance(entry, MessageAdded):
                count += 1
            elif isinstance(entry, Compacted):
                yield Event(count, "compaction", f"compacted by {entry.model}")
            if parent is not None and number == parent_entry:
                yield Event(count, "fork", f"forked from {parent}")
