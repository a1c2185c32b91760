"""The behaviour of every store: one set of tests for SQLite and PostgreSQL."""

import threading
from collections.abc import Callable

import pytest
from hypothesis import HealthCheck, given, settings, strategies as st
from support.entries import entries, message_entry, text_of

from segue.errors import ConflictError, FormatError, SessionError
from segue.session import AnyEntry, AttemptFailed, Compacted, MessageAdded, SessionInfo, Store, open_store
from segue.types import AssistantMessage, ImageContent, TextContent, ToolCall, UserMessage


def log(store: Store, session: str = "s", after: int = 0) -> list[AnyEntry]:
    return [stored.entry for stored in store.read(session, after)]


@pytest.fixture
def begun(store: Store) -> Store:
    store.create("s", time=10, title="first")
    assert store.append("s", [message_entry("a"), message_entry("b"), message_entry("c")], after=0) == 3
    return store


# -- appending --------------------------------------------------------------------------------------------------------


def test_entries_come_back_in_order_with_their_numbers(begun: Store) -> None:
    assert [(stored.number, stored.entry.key) for stored in begun.read("s")] == [(1, "a"), (2, "b"), (3, "c")]
    assert [stored.number for stored in begun.read("s", 2)] == [3]
    assert log(begun, after=3) == log(begun, after=99) == []
    assert begun.head("s") == 3


def test_appended_entries_are_visible_to_other_stores(begun: Store, where: str) -> None:
    with open_store(where) as other:
        assert log(other) == log(begun)
        assert other.append("s", [message_entry("d")], after=3) == 4
    assert begun.head("s") == 4


def test_many_entries_are_read_in_chunks_and_none_is_lost(store: Store) -> None:
    store.create("s", time=0)
    many = [message_entry(f"k{number}") for number in range(1000)]
    assert store.append("s", many, after=0) == 1000
    assert log(store) == many
    assert log(store, after=511) == many[511:]


def test_a_second_writer_gets_a_conflict_and_nothing_is_written(begun: Store, where: str) -> None:
    with open_store(where) as second:
        begun.append("s", [message_entry("d")], after=3)
        with pytest.raises(ConflictError, match="session s now has 4 entries, and this writer has seen 3"):
            second.append("s", [message_entry("x"), message_entry("y")], after=3)
        assert [entry.key for entry in log(second)] == ["a", "b", "c", "d"]


def test_appending_twice_has_no_effect(begun: Store) -> None:
    again = [message_entry("d"), message_entry("e")]
    assert begun.append("s", again, after=3) == 5
    assert begun.append("s", again, after=3) == 5
    assert begun.append("s", [message_entry("b")], after=1) == 2
    assert begun.head("s") == 5


def test_the_rest_of_a_partly_written_batch_is_added(begun: Store) -> None:
    assert begun.append("s", [message_entry("c"), message_entry("d")], after=2) == 4
    assert [entry.key for entry in log(begun)] == ["a", "b", "c", "d"]


def test_the_same_key_with_other_content_is_a_conflict(begun: Store) -> None:
    """Otherwise an entry would be lost silently."""
    with pytest.raises(ConflictError):
        begun.append("s", [message_entry("c", "something else")], after=2)


def test_a_key_that_is_elsewhere_in_the_log_is_a_conflict(begun: Store) -> None:
    with pytest.raises(ConflictError, match="already has an entry with the key 'a', as number 1"):
        begun.append("s", [message_entry("d"), message_entry("a")], after=3)
    assert begun.head("s") == 3


def test_another_session_may_use_the_same_keys(begun: Store) -> None:
    begun.create("t", time=0)
    assert begun.append("t", [message_entry("a")], after=0) == 1


def test_a_repeated_key_in_one_append_is_refused(begun: Store) -> None:
    with pytest.raises(SessionError, match="two of these entries have the same key"):
        begun.append("s", [message_entry("d"), message_entry("d")], after=3)
    assert begun.head("s") == 3


@pytest.mark.parametrize("after", [-1, 4, 99])
def test_a_number_outside_the_log_is_a_conflict(begun: Store, after: int) -> None:
    with pytest.raises(ConflictError, match="session s has 3 entries"):
        begun.append("s", [message_entry("d")], after=after)


def test_appending_nothing_changes_nothing(begun: Store) -> None:
    assert begun.append("s", [], after=3) == 3
    assert begun.info("s").entries == 3


# -- the content of entries -------------------------------------------------------------------------------------------


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(some_entries=st.lists(entries(), min_size=1, max_size=5, unique_by=lambda entry: entry.key))
def test_any_entry_is_read_back_unchanged(store: Store, some_entries: list[AnyEntry]) -> None:
    session = f"s{len(store.sessions())}"
    store.create(session, time=0)
    store.append(session, some_entries, after=0)
    assert log(store, session) == some_entries


@pytest.mark.parametrize("text", ["NUL \0 here", "\0", "🐘 日本語 \u202e", "\\u0000", "\ufeff", "'; DROP TABLE x; --"])
def test_characters_that_databases_refuse_are_stored(store: Store, text: str) -> None:
    store.create("s", time=0, title="t")
    store.append("s", [message_entry(f"key {text}", text)], after=0)
    (entry,) = log(store)
    assert entry == message_entry(f"key {text}", text)
    with pytest.raises(ConflictError, match=", as number 1"):
        store.append("s", [message_entry(f"key {text}", text)], after=1)


def test_lone_surrogates_are_replaced_when_they_are_written(store: Store) -> None:
    store.create("s", time=0, title="half \ud83d")
    half = MessageAdded(key="k\ud83d", time=1, message=UserMessage("cut \ud83d here"), attempts=("x\udc00",))
    assert store.append("s", [half], after=0) == 1
    assert log(store) == [
        MessageAdded(key="k\ufffd", time=1, message=UserMessage("cut \ufffd here"), attempts=("x\ufffd",))
    ]
    assert store.append("s", [half], after=0) == 1
    assert store.info("s").title == "half \ufffd"


def answer(**arguments: object) -> AssistantMessage:
    return AssistantMessage(
        content=[ToolCall("c1", "f", arguments)], protocol="p", provider="q", model="m", stop_reason="toolUse"
    )


ENDLESS: list[object] = []
ENDLESS.append(ENDLESS)

UNWRITABLE: dict[str, tuple[AnyEntry, str]] = {
    "NaN in arguments": (
        MessageAdded(key="x", time=1, message=answer(y=float("nan"))),
        r"arguments\.y: nan is a number",
    ),
    "infinity in details": (
        Compacted(key="x", time=1, summary=UserMessage("s"), first="a", model="m", details={"r": float("inf")}),
        "details.r: inf is a number",
    ),
    "an object that is not JSON": (
        MessageAdded(key="x", time=1, message=answer(y=object())),
        "cannot be written as JSON",
    ),
    "a number of the wrong type": (
        AttemptFailed(key="x", time=1, model="", protocol="", kind="", text="", then="", status="no"),  # type: ignore[arg-type]
        "status: Expected 'int | null', got 'str'",
    ),
    "an invalid message": (MessageAdded(key="x", time=1, message="hi"), "message: Expected 'object'"),  # type: ignore[arg-type]
    "endless nesting": (MessageAdded(key="x", time=1, message=answer(y=ENDLESS)), "nested too deeply"),
}


@pytest.mark.parametrize("name", UNWRITABLE)
def test_an_entry_that_could_not_be_read_again_is_refused_and_nothing_is_written(begun: Store, name: str) -> None:
    entry, message = UNWRITABLE[name]
    with pytest.raises(FormatError, match=message):
        begun.append("s", [message_entry("d"), entry, message_entry("e")], after=3)
    assert begun.head("s") == 3
    assert begun.append("s", [message_entry("d")], after=3) == 4


def test_big_entries_are_stored_unchanged(store: Store) -> None:
    image = ImageContent("QUJD" * 1_000_000, "image/png")
    big = MessageAdded(key="k", time=1, message=UserMessage([TextContent("look"), image, TextContent("x" * 2_000_000)]))
    store.create("s", time=0)
    store.append("s", [big], after=0)
    assert log(store) == [big]


def test_keys_of_any_length_are_distinguished(store: Store) -> None:
    store.create("s", time=0)
    long = ["k" * 100_000 + end for end in "ab"]
    store.append("s", [message_entry(key) for key in long], after=0)
    assert [entry.key for entry in log(store)] == long
    with pytest.raises(ConflictError):
        store.append("s", [message_entry(long[1])], after=2)


# -- sessions ---------------------------------------------------------------------------------------------------------


def test_a_session_is_created_once(begun: Store) -> None:
    with pytest.raises(SessionError, match="there is a session s already"):
        begun.create("s", time=0)
    assert begun.head("s") == 3


NEEDS_A_SESSION: dict[str, Callable[[Store], object]] = {
    "append": lambda store: store.append("none", [message_entry("a")], after=0),
    "read": lambda store: store.read("none"),
    "head": lambda store: store.head("none"),
    "info": lambda store: store.info("none"),
    "fork": lambda store: store.fork("none", 0, "new", time=0),
    "rename": lambda store: store.rename("none", "title"),
    "delete": lambda store: store.delete("none"),
}


@pytest.mark.parametrize("method", NEEDS_A_SESSION)
def test_a_missing_session_is_an_immediate_error(store: Store, method: str) -> None:
    with pytest.raises(SessionError, match=r"^there is no session none$"):
        NEEDS_A_SESSION[method](store)
    assert store.sessions() == []


@pytest.mark.parametrize("name", ["", "a\0b", "x" * 201, "a\nb", "\ud83d"])
def test_invalid_names_of_sessions_are_refused(store: Store, name: str) -> None:
    with pytest.raises(SessionError, match="cannot be the name of a session"):
        store.create(name, time=0)
    with pytest.raises(SessionError):
        store.info(name)


def test_names_may_have_any_language(store: Store) -> None:
    for name in ("Übersicht vom Montag", "日本語", "🐘", "../x", "a'b;--", "%s ?"):
        store.create(name, time=0)
        assert store.info(name).id == name


def test_the_info_of_a_session(begun: Store) -> None:
    assert begun.info("s") == SessionInfo(id="s", created=10, changed=1_700_000_000_000, entries=3, title="first")
    begun.rename("s", "better\0")
    assert begun.info("s").title == "better\ufffd"


def test_the_last_changed_session_is_first(store: Store) -> None:
    for number, name in enumerate("abc"):
        store.create(name, time=number)
    assert [info.id for info in store.sessions()] == ["c", "b", "a"]
    store.append("a", [message_entry("k", time=50)], after=0)
    store.append("c", [message_entry("k", time=40)], after=0)
    assert [info.id for info in store.sessions()] == ["a", "c", "b"]


def test_times_may_be_any_number(store: Store) -> None:
    store.create("s", time=2**70)
    store.append("s", [message_entry("a", time=2**64 - 1), message_entry("b", time=-5)], after=0)
    assert [entry.time for entry in log(store)] == [2**64 - 1, -5]


def test_a_fork_begins_with_the_same_entries_and_then_differs(begun: Store) -> None:
    begun.fork("s", 2, "f", time=77)
    assert begun.info("f") == SessionInfo(
        id="f", created=77, changed=77, entries=2, title="first", parent="s", parent_entry=2
    )
    begun.append("f", [message_entry("c", "another c")], after=2)
    begun.append("s", [message_entry("d")], after=3)
    assert [text_of(entry) for entry in log(begun, "f")] == ["hello", "hello", "another c"]
    assert [entry.key for entry in log(begun)] == ["a", "b", "c", "d"]
    begun.delete("s")
    assert [entry.key for entry in log(begun, "f")] == ["a", "b", "c"]
    assert begun.info("f").parent == "s"


@pytest.mark.parametrize("at", [0, 3])
def test_a_fork_at_either_end(begun: Store, at: int) -> None:
    begun.fork("s", at, "f", time=0)
    assert log(begun, "f") == log(begun)[:at]


@pytest.mark.parametrize("at", [-1, 4])
def test_a_fork_outside_the_log_is_refused(begun: Store, at: int) -> None:
    with pytest.raises(SessionError, match=f"session s cannot be forked at {at}: it has 3 entries"):
        begun.fork("s", at, "f", time=0)
    assert len(begun.sessions()) == 1


def test_a_fork_needs_an_unused_name(begun: Store) -> None:
    with pytest.raises(SessionError, match="there is a session s already"):
        begun.fork("s", 1, "s", time=0)
    assert begun.head("s") == 3


def test_a_deleted_session_is_removed_and_its_name_can_be_reused(begun: Store) -> None:
    begun.delete("s")
    assert begun.sessions() == []
    begun.create("s", time=0)
    assert log(begun) == []


# -- at the same time -------------------------------------------------------------------------------------------------


def test_a_reader_sees_the_entries_from_when_it_began(begun: Store) -> None:
    reading = begun.read("s")
    begun.append("s", [message_entry("d")], after=3)
    assert [stored.entry.key for stored in reading] == ["a", "b", "c"]


def test_a_reader_notices_that_its_session_was_deleted(store: Store) -> None:
    store.create("s", time=0)
    store.append("s", [message_entry(f"k{number}") for number in range(400)], after=0)
    reading = store.read("s")
    next(reading)
    store.delete("s")
    store.create("s", time=0)
    store.append("s", [message_entry(f"other {number}") for number in range(400)], after=0)
    with pytest.raises(SessionError, match="session s was deleted while it was being read"):
        list(reading)


def test_readers_in_other_threads_see_whole_batches_in_order(store: Store, where: str) -> None:
    store.create("s", time=0)
    ended = threading.Event()
    wrong: list[object] = []

    def look(reader: Store) -> None:
        while not ended.is_set():
            numbers = [stored.number for stored in reader.read("s")]
            if numbers != list(range(1, len(numbers) + 1)) or len(numbers) % 3:
                wrong.append(numbers)

    with open_store(where) as other:
        readers = [threading.Thread(target=look, args=(each,)) for each in (store, store, other)]
        for reader in readers:
            reader.start()
        for number in range(0, 90, 3):
            store.append("s", [message_entry(f"{number}.{at}") for at in range(3)], after=number)
        ended.set()
        for reader in readers:
            reader.join()
    assert not wrong


def test_threads_that_share_a_store_lose_nothing(store: Store) -> None:
    store.create("s", time=0)
    conflicts = []

    def write(name: str) -> None:
        head = done = 0
        while done < 20:
            try:
                head = store.append("s", [message_entry(f"{name}{done}")], after=head)
                done += 1
            except ConflictError:
                conflicts.append(name)
                head = store.head("s")

    writers = [threading.Thread(target=write, args=(name,)) for name in "abcdefghij"]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
    written = sorted(f"{name}{at}" for name in "abcdefghij" for at in range(20))
    assert sorted(entry.key for entry in log(store)) == written
    assert conflicts


def test_a_closed_store_raises_an_error(where: str) -> None:
    store = open_store(where)
    store.close()
    store.close()
    with pytest.raises(SessionError, match="the store is closed"):
        store.sessions()
