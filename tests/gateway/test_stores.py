"""The tables of the gateway in both databases: what each method writes is what it reads, also beside others."""

import asyncio
import sqlite3
import threading
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from contextlib import asynccontextmanager, closing, contextmanager, suppress
from functools import wraps
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace
from support.postgres import Postgres
from support.waiting import HANGS

from segue.errors import SessionError
from segue.gateway import database
from segue.gateway.config import Budget, KeySetting, Member, RouteSetting, digest_of
from segue.gateway.database import open_database
from segue.gateway.store import AnswerRow, Store, StoredResponse
from segue.types import AssistantMessage, TextContent

LATER = 4_000_000_000
MESSAGE = AssistantMessage([TextContent("NUL \0 and ☃")], provider="p", protocol="c", model="m")


@pytest.fixture(params=["sqlite", "postgresql"])
def where(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    if request.param == "sqlite":
        return str(tmp_path / "gateway.db")
    address: str = request.getfixturevalue("postgres").fresh()
    return address


@pytest.fixture
def address(postgres: Postgres) -> str:
    return postgres.fresh()


def in_a_loop(test: Callable[..., Coroutine[Any, Any, None]]) -> Callable[..., None]:
    @wraps(test)
    def run(**fixtures: Any) -> None:
        asyncio.run(test(**fixtures))

    return run


@asynccontextmanager
async def opened(where: str) -> AsyncIterator[Store]:
    store = Store(open_database(where))
    try:
        yield store
    finally:
        store.close()


@contextmanager
def locked(path: str) -> Iterator[None]:
    """Another connection is writing to the file."""
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        yield
        other.execute("COMMIT")


def row(key: str, history: str = "h", conversation: str = "c") -> AnswerRow:
    return AnswerRow(key, history, conversation, "b", f"answer {key}", MESSAGE, LATER)


@in_a_loop
async def test_answers_are_found_by_history_or_conversation_and_tenant(where: str) -> None:
    async with opened(where) as store:
        await store.add_answers("t", [row("k"), row("l")])
        await store.add_answers("t", [row("k")])  # a second time does no harm
        assert await store.answers("t", "k", "h", "other") == [row("k")]
        assert await store.answers("t", "k", "other", "c") == [row("k")]
        assert await store.answers("t", "k", "other", "other") == []
        assert await store.answers("someone", "k", "h", "c") == []
        assert await store.answer("t", "answer l") == MESSAGE
        assert await store.forget("t") == 2
        assert await store.answer("t", "answer l") is None


@in_a_loop
async def test_everything_else_is_read_as_it_was_written(where: str) -> None:
    response = StoredResponse("resp_1", "", "model", b'["\\u0000"]', b"{}")
    key = KeySetting(name="k", digest=digest_of("secret"))
    route = RouteSetting(name="r", models=(Member(model="a/b", weight=2),))
    async with opened(where) as store:
        await store.add_response("t", response, LATER)
        await store.add_cut("t", "c", "member")
        await store.add_key(key)
        await store.revoke_key("old")
        await store.set_route(route)
        await store.add_reports([("id", "k", {"id": "id"})], {("k", "a/b"): [1, 20, 5, 0.5]}, None)
        await store.add_reports([], {("k", "a/b"): [1, 1, 1, 0.25]}, None)
        secret = await store.secret()
    async with opened(where) as store:  # the tables exist already
        assert await store.response("t", "resp_1") == response
        assert await store.response("u", "resp_1") is None
        assert await store.cuts("t", "c") == {"member"}
        assert await store.keys() == ([key], {"old"})
        assert await store.routes() == [route]
        [used] = await store.usage()
        assert (used.requests, used.input, used.output, used.dollars) == (2, 21, 6, 0.75)
        assert await store.requests(5) == [b'{"id":"id"}'] == [await store.request("id")]
        assert await store.secret() == secret
        await store.expire()
        await store.delete_response("t", "resp_1")
        await store.reset_routes()
        assert await store.response("t", "resp_1") is None and await store.routes() == []


@in_a_loop
async def test_replicas_together_do_not_exceed_a_budget(where: str) -> None:
    """Twenty requests reserve a dollar each, of ten; a request that asks again keeps its own."""
    budget = Budget(dollars=10.0, per="day")
    async with opened(where) as one, opened(where) as other:
        granted = await asyncio.gather(
            *[(one, other)[at % 2].reserve(f"r{at}", "k", budget, 1.0, 600) for at in range(20)]
        )
        assert sum(granted) == 10
        first = granted.index(True)
        assert await one.reserve(f"r{first}", "k", budget, 1.0, 600)
        await one.add_reports([], {}, f"r{first}")
        assert await other.reserve("next", "k", budget, 1.0, 600)


@in_a_loop
async def test_a_write_waits_for_a_file_that_is_locked_and_nothing_else_does(tmp_path: Path) -> None:
    """Another process is writing. Writes are in their order afterwards, and the event loop went on."""
    path = str(tmp_path / "gateway.db")
    async with opened(path) as store:
        await store.add_answers("t", [row("before")])
        with locked(path):
            calls = [
                asyncio.ensure_future(store.add_answers("t", [row("k")])),
                asyncio.ensure_future(store.refuse_answer("t", "answer k")),
            ]
            assert await store.answer("t", "answer before") == MESSAGE
            done, _ = await asyncio.wait(calls, timeout=0.1)
            assert not done and await store.answer("t", "answer k") is None
        await asyncio.gather(*calls)
        assert await store.database.read("SELECT refused FROM segue_gateway_answers WHERE key = ?", "k") == [(1,)]


@in_a_loop
async def test_a_write_that_fails_is_an_error_of_its_caller_alone(where: str) -> None:
    async with opened(where) as store:
        calls = [store.add_answers("t", [row(key)]) for key in ("one", "\ud800", "two")]
        one, other, two = await asyncio.gather(*calls, return_exceptions=True)
        assert one is None and two is None and isinstance(other, Exception)
        assert await store.answer("t", "answer one") == await store.answer("t", "answer two") == MESSAGE


@in_a_loop
async def test_a_write_that_has_begun_is_kept_if_its_caller_is_cancelled(tmp_path: Path) -> None:
    path = str(tmp_path / "gateway.db")
    async with opened(path) as store:
        with locked(path):
            call = asyncio.ensure_future(store.add_answers("t", [row("k")]))
            await asyncio.sleep(0)
            call.cancel()
            with suppress(asyncio.CancelledError):
                await call
        await store.add_answers("t", [row("after")])
        assert await store.answer("t", "answer k") == MESSAGE


def test_several_event_loops_write_at_once(tmp_path: Path) -> None:
    """And a loop that ended before leaves nothing that others wait for."""
    store = Store(open_database(str(tmp_path / "gateway.db")))

    async def write(name: int) -> None:
        for at in range(50):
            await store.add_answers("t", [row(f"{name}-{at}")])

    threads = [threading.Thread(target=asyncio.run, args=(write(each),)) for each in range(4)]
    for each in threads:
        each.start()
    for each in threads:
        each.join(HANGS)
    assert not any(each.is_alive() for each in threads)
    found = asyncio.run(store.database.read("SELECT count(*) FROM segue_gateway_answers"))
    store.close()
    assert found == [(200,)]


@in_a_loop
async def test_a_write_to_a_closed_store_is_an_error(tmp_path: Path) -> None:
    store = Store(open_database(str(tmp_path / "gateway.db")))
    store.close()
    with pytest.raises(SessionError, match="closed"):
        await store.add_answers("t", [row("k")])


@pytest.mark.parametrize("size", [10, 200_000])
@in_a_loop
async def test_the_log_of_sqlite_does_not_grow_with_the_number_of_writes(tmp_path: Path, size: int) -> None:
    path = tmp_path / "gateway.db"
    answer = AssistantMessage([TextContent("x" * size)], provider="p", protocol="c", model="m")
    async with opened(str(path)) as store:
        for at in range(3000 if size < 1000 else 100):
            await store.add_answers("t", [replace(row(f"k{at}"), message=answer)])
        assert Path(f"{path}-wal").stat().st_size < 10_000_000


@in_a_loop
async def test_calls_wait_for_a_server_that_is_restarted(
    postgres: Postgres, address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(database, "AWAY_TIMEOUT", HANGS)  # a busy machine needs long for the start
    async with opened(address) as store:
        await store.add_answers("t", [row("before")])
        with postgres.away():
            calls: list[Any] = [
                asyncio.ensure_future(store.add_answers("t", [row("during")])),
                asyncio.ensure_future(store.answer("t", "answer before")),
            ]
            done, _ = await asyncio.wait(calls, timeout=0.2)
            assert not done
        assert await asyncio.gather(*calls) == [None, MESSAGE]
        assert await store.answer("t", "answer during") == MESSAGE


@in_a_loop
async def test_a_server_that_stays_away_is_an_error(
    postgres: Postgres, address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with opened(address) as store:
        monkeypatch.setattr(database, "AWAY_TIMEOUT", 0.1)
        with postgres.away(), pytest.raises(SessionError, match=r"^PostgreSQL: "):
            await store.routes()
        monkeypatch.setattr(database, "AWAY_TIMEOUT", HANGS)  # its connections are broken, and new ones take their time
        assert await store.routes() == []


def test_a_server_that_is_away_at_the_start_is_an_error_without_the_password() -> None:
    with pytest.raises(SessionError, match="PostgreSQL: connection failed") as raised:
        open_database("postgresql://me:hunter2@127.0.0.1:1/db")
    assert "hunter2" not in str(raised.value)
