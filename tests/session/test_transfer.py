"""Export and import: the same bytes again, all or nothing, and no effect the second time."""

import json
from pathlib import Path

import pytest
from hypothesis import given, strategies as st
from support.entries import entries, message_entry

from segue.errors import ConflictError, SessionError, TransferError
from segue.session import AnyEntry, SQLiteStore, Store, export_session, import_session, open_store


@pytest.fixture
def exported(store: Store) -> list[bytes]:
    store.create("s", time=5, title="a title")
    store.append(
        "s", [message_entry("a", "one"), message_entry("b", "two \0 🐘"), message_entry("c", "three")], after=0
    )
    store.fork("s", 2, "f", time=9)
    return list(export_session(store, "f"))


def test_the_format_of_an_export(exported: list[bytes]) -> None:
    assert exported[0] == (
        b'{"entry":"session","version":1,"id":"f","created":9,"changed":9,"entries":2,"title":"a title",'
        b'"parent":"s","parentEntry":2}\n'
    )
    assert [json.loads(line)["key"] for line in exported[1:]] == ["a", "b"]


def test_a_session_is_transferred_byte_for_byte(store: Store, exported: list[bytes], tmp_path: Path) -> None:
    with SQLiteStore(tmp_path / "other.db") as other:
        assert import_session(other, exported) == ("f", 2)
        assert list(export_session(other, "f")) == exported
        assert other.info("f") == store.info("f")
        for name in ("f", "s"):
            store.delete(name)
        import_session(store, export_session(other, "f"))
    assert list(export_session(store, "f")) == exported


@given(some_entries=st.lists(entries(), max_size=4, unique_by=lambda entry: entry.key), title=st.text(max_size=5))
def test_any_session_survives_export_and_import(some_entries: list[AnyEntry], title: str) -> None:
    with SQLiteStore(":memory:") as here, SQLiteStore(":memory:") as there:
        here.create("s", time=1, title=title)
        here.append("s", some_entries, after=0)
        lines = list(export_session(here, "s"))
        assert import_session(there, b"".join(lines).splitlines(keepends=True)).added == len(some_entries)
        assert list(export_session(there, "s")) == lines


def test_importing_an_existing_session_has_no_effect(store: Store, exported: list[bytes]) -> None:
    before = store.sessions()
    assert import_session(store, exported).added == 0
    assert store.sessions() == before
    store.append("f", [message_entry("more")], after=2)
    assert import_session(store, exported).added == 0
    assert store.head("f") == 3


def test_a_session_with_the_same_beginning_gets_the_rest(store: Store, exported: list[bytes]) -> None:
    store.append("f", [message_entry("more", time=20)], after=2)
    longer = list(export_session(store, "f"))
    store.delete("f")
    import_session(store, exported)
    assert import_session(store, longer).added == 1
    assert list(export_session(store, "f")) == longer


def test_a_session_with_other_entries_is_a_conflict(store: Store, exported: list[bytes]) -> None:
    store.delete("f")
    store.create("f", time=1)
    store.append("f", [message_entry("x")], after=0)
    with pytest.raises(ConflictError, match="there is a session f already, with other entries; nothing was written"):
        import_session(store, exported)
    assert store.head("f") == 1
    assert import_session(store, exported, session="g") == ("g", 2)
    assert store.info("g").parent == "s"


def test_every_bad_line_is_reported_and_nothing_is_written(store: Store, exported: list[bytes]) -> None:
    bad = [
        exported[0].replace(b'"f"', b'"new"'),
        b'{"entry":"message","key":"a","time":1}\n',
        exported[1],
        b"\n",
        b"{oops\n",
        b'{"entry":"whatever","key":"b","time":1}\n',
        exported[1],
        b'{"entry":"message","key":"z","time":1,"message":{"role":"user","content":[{"type":"thinking","thinking":""}]}}',
    ]
    with pytest.raises(TransferError) as raised:
        import_session(store, bad, source="x.jsonl")
    assert [str(fault) for fault in raised.value.faults] == [
        "x.jsonl:2: Object missing required field 'message'",
        "x.jsonl:5: not JSON: object keys must be strings (byte 1)",
        "x.jsonl:6: entry: Invalid value 'whatever'",
        "x.jsonl:7: key: the key 'a' is on line 3 already",
        "x.jsonl:8: message.content[0]: a thinking block is not allowed in a user message",
    ]
    assert str(raised.value).endswith("; and 2 more")
    with pytest.raises(SessionError):
        store.info("new")


NOT_EXPORTS: dict[str, tuple[list[bytes], str]] = {
    "an empty file": ([], "x: the file is empty"),
    "blank lines": ([b"\n", b" \n"], "x: the file is empty"),
    "something else": ([b'{"messages":[]}\n'] * 3, "x:1: this is not the first line of an exported session"),
    "an entry first": (
        [b'{"entry":"model","key":"k","time":1,"model":"","protocol":""}\n'],
        "x:1: this is not the first line",
    ),
    "a newer version": (
        [b'{"entry":"session","version":2,"id":"n","created":1,"changed":1,"entries":0}\n'],
        "x:1: version 2 is not supported: this segue reads version 1; update segue",
    ),
    "a file that was cut": (
        [b'{"entry":"session","version":1,"id":"n","created":1,"changed":1,"entries":4}\n'],
        "x:1: the first line announces 4 entries, but there are 0",
    ),
}


@pytest.mark.parametrize("name", NOT_EXPORTS)
def test_other_files_are_refused(name: str) -> None:
    lines, message = NOT_EXPORTS[name]
    with SQLiteStore(":memory:") as store:
        with pytest.raises(TransferError) as raised:
            import_session(store, lines, source="x")
        assert str(raised.value).startswith(message)
        assert store.sessions() == []


def test_a_byte_order_mark_and_odd_line_ends_are_accepted(store: Store, exported: list[bytes]) -> None:
    store.delete("f")
    odd = [b"\xef\xbb\xbf" + exported[0], b"\r\n", *(line.replace(b"\n", b"\r\n") for line in exported[1:])]
    import_session(store, odd)
    assert list(export_session(store, "f")) == exported


def test_exporting_a_missing_session_is_an_immediate_error(store: Store) -> None:
    with pytest.raises(SessionError, match="there is no session none"):
        export_session(store, "none")


def test_the_stores_write_the_same_bytes(exported: list[bytes], tmp_path: Path) -> None:
    with open_store(tmp_path / "another.db") as other:
        import_session(other, exported)
        assert b"".join(export_session(other, "f")) == b"".join(exported)
