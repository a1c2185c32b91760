"""What the gateway keeps, as methods over its tables. A tenant is a part of every key of its rows."""

import secrets
import time
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, TypeVar

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from ..errors import SessionError
from ..types import AssistantMessage, ThinkingContent
from .config import Budget, KeySetting, RouteSetting
from .database import Database, Row, Statement, Statements
from .envelope import signed

CUT = 60.0
"""Seconds that a member is down for a conversation after it cut a stream."""
KEEP_REQUESTS = 86_400.0
T = TypeVar("T")
_encode = msgspec.json.encode
_answer = msgspec.json.Decoder(AssistantMessage).decode


class AnswerRow(Struct, frozen=True):
    """An answer under one of its keys."""

    key: str
    history: str
    conversation: str
    before: str
    answer: str
    message: AssistantMessage
    expires: int


class StoredResponse(Struct, frozen=True):
    """A response of OpenAI's protocol: its input items beyond those of its parent, and its body."""

    id: str
    parent: str
    model: str
    input: bytes
    body: bytes


class UsageRow(Struct, frozen=True):
    """What a key has used of a model on a day."""

    key: str
    day: str
    model: str
    requests: int
    input: int
    output: int
    dollars: float


class Store:
    """The tables of one gateway, shared by its workers and replicas."""

    def __init__(self, database: Database) -> None:
        self.database = database

    def close(self) -> None:
        """Close the database."""
        self.database.close()

    # -- answers -----------------------------------------------------------------------------------------------------

    async def add_answers(self, tenant: str, rows: Sequence[AnswerRow]) -> None:
        """Write an answer under its keys."""
        blob = _encode(rows[0].message)
        sql = (
            "INSERT INTO segue_gateway_answers "
            "(tenant, key, history, conversation, before, answer, model, blob, expires) "
            "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (tenant, key, history, conversation) "
            "DO UPDATE SET before = excluded.before, answer = excluded.answer, model = excluded.model, "
            "blob = excluded.blob, expires = excluded.expires"
        )
        await self.database.write(
            *[
                (sql, (tenant, row.key, row.history, row.conversation, row.before, row.answer,
                       f"{row.message.provider}/{row.message.model}", blob, row.expires))
                for row in rows
            ]
        )  # fmt: skip

    async def answers(self, tenant: str, key: str, history: str, conversation: str) -> list[AnswerRow]:
        """The rows with this key that have this history, or belong to this conversation; the newest first."""
        columns = "key, history, conversation, before, answer, blob, refused, expires"
        rows = await self.database.read(
            f"SELECT {columns} FROM segue_gateway_answers WHERE tenant = ? AND key = ? AND history = ? "
            "ORDER BY expires DESC LIMIT 50",
            tenant, key, history,
        )  # fmt: skip
        if not rows:
            rows = await self.database.read(
                f"SELECT {columns} FROM segue_gateway_answers WHERE tenant = ? AND key = ? AND conversation = ? "
                "ORDER BY expires DESC LIMIT 50",
                tenant, key, conversation,
            )  # fmt: skip
        return [
            AnswerRow(key, history, conversation, before, answer, _message(blob, refused), expires)
            for key, history, conversation, before, answer, blob, refused, expires in rows
        ]

    async def answer(self, tenant: str, answer: str) -> AssistantMessage | None:
        """The answer with this id."""
        rows = await self.database.read(
            "SELECT blob, refused FROM segue_gateway_answers WHERE tenant = ? AND answer = ? LIMIT 1", tenant, answer
        )
        return _message(*rows[0]) if rows else None

    async def refuse_answer(self, tenant: str, answer: str) -> None:
        """Mark an answer whose maker has refused its signatures: from now on it is read without them."""
        await self.database.write(
            ("UPDATE segue_gateway_answers SET refused = 1 WHERE tenant = ? AND answer = ?", (tenant, answer))
        )

    async def forget(self, tenant: str) -> int:
        """Delete everything that was remembered for a tenant, and return the number of rows."""

        def act(transaction: Statements) -> int:
            count = 0
            for table in ("answers", "responses", "cuts"):
                count += transaction.rows(f"SELECT count(*) FROM segue_gateway_{table} WHERE tenant = ?", tenant)[0][0]
                transaction.run(f"DELETE FROM segue_gateway_{table} WHERE tenant = ?", tenant)
            return count

        count: int = await self.database.change(act)
        return count

    async def expire(self) -> None:
        """Delete what is older than it is kept."""
        now = time.time()
        await self.database.write(
            ("DELETE FROM segue_gateway_answers WHERE expires < ?", (int(now),)),
            ("DELETE FROM segue_gateway_responses WHERE expires < ?", (int(now),)),
            ("DELETE FROM segue_gateway_requests WHERE time < ?", (now - KEEP_REQUESTS,)),
            ("DELETE FROM segue_gateway_cuts WHERE until < ?", (now,)),
            ("DELETE FROM segue_gateway_reserved WHERE expires < ?", (int(now),)),
        )

    # -- members that cut a stream -----------------------------------------------------------------------------------

    async def add_cut(self, tenant: str, conversation: str, member: str) -> None:
        """Note that a member cut a stream of this conversation."""
        await self.database.write(
            (
                "INSERT INTO segue_gateway_cuts (tenant, conversation, member, until) VALUES (?, ?, ?, ?) "
                "ON CONFLICT (tenant, conversation, member) DO UPDATE SET until = excluded.until",
                (tenant, conversation, member, time.time() + CUT),
            )
        )

    async def cuts(self, tenant: str, conversation: str) -> set[str]:
        """The members that are down for this conversation."""
        rows = await self.database.read(
            "SELECT member FROM segue_gateway_cuts WHERE tenant = ? AND conversation = ? AND until > ?",
            tenant, conversation, time.time(),
        )  # fmt: skip
        return {row[0] for row in rows}

    # -- stored responses --------------------------------------------------------------------------------------------

    async def add_response(self, tenant: str, response: StoredResponse, expires: int) -> None:
        """Keep a response."""
        await self.database.write(
            (
                "INSERT INTO segue_gateway_responses (tenant, id, parent, model, input, body, expires) "
                "VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT (tenant, id) DO NOTHING",
                (tenant, response.id, response.parent, response.model, response.input, response.body, expires),
            )
        )

    async def response(self, tenant: str, response_id: str) -> StoredResponse | None:
        """The response of this id."""
        rows = await self.database.read(
            "SELECT id, parent, model, input, body FROM segue_gateway_responses WHERE tenant = ? AND id = ?",
            tenant, response_id,
        )  # fmt: skip
        if not rows:
            return None
        found_id, parent, model, items, body = rows[0]
        return StoredResponse(found_id, parent, model, bytes(items), bytes(body))

    async def delete_response(self, tenant: str, response_id: str) -> None:
        """Delete a response."""
        await self.database.write(
            ("DELETE FROM segue_gateway_responses WHERE tenant = ? AND id = ?", (tenant, response_id))
        )

    # -- requests ----------------------------------------------------------------------------------------------------

    async def add_reports(
        self,
        reports: Sequence[tuple[str, str, Any]],
        used: Mapping[tuple[str, str], Sequence[float]],
        settled: str | None,
    ) -> None:
        """Keep the reports of requests, which have no content, add what keys have used of models, and release what was
        reserved for the request ``settled``."""
        statements: list[Statement] = [
            (
                "INSERT INTO segue_gateway_requests (id, time, key, report) VALUES (?, ?, ?, ?) "
                "ON CONFLICT (id) DO UPDATE SET report = excluded.report",
                (request_id, time.time(), key, _encode(report)),
            )
            for request_id, key, report in reports
        ]
        for (key, model), (requests, tokens_in, tokens_out, dollars) in sorted(
            used.items()
        ):  # in one order, so that replicas do not block each other
            statements.append(
                (
                    "INSERT INTO segue_gateway_usage (key, day, model, requests, input, output, dollars) "
                    "VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT (key, day, model) DO UPDATE SET "
                    "requests = segue_gateway_usage.requests + excluded.requests, "
                    "input = segue_gateway_usage.input + excluded.input, "
                    "output = segue_gateway_usage.output + excluded.output, "
                    "dollars = segue_gateway_usage.dollars + excluded.dollars",
                    (key, today(), model, int(requests), int(tokens_in), int(tokens_out), dollars),
                )
            )
        if settled is not None:
            statements.append(("DELETE FROM segue_gateway_reserved WHERE id = ?", (settled,)))
        await self.database.write(*statements)

    async def request(self, request_id: str) -> bytes | None:
        """The report of a request, as JSON."""
        rows = await self.database.read("SELECT report FROM segue_gateway_requests WHERE id = ?", request_id)
        return bytes(rows[0][0]) if rows else None

    async def requests(self, count: int) -> list[bytes]:
        """The reports of the last requests, the newest first."""
        rows = await self.database.read("SELECT report FROM segue_gateway_requests ORDER BY time DESC LIMIT ?", count)
        return [bytes(row[0]) for row in rows]

    # -- keys and usage ----------------------------------------------------------------------------------------------

    async def add_key(self, key: KeySetting) -> None:
        """Add a key, or replace the one of that name."""
        await self.database.write(
            (
                "INSERT INTO segue_gateway_keys (name, setting, revoked) VALUES (?, ?, 0) "
                "ON CONFLICT (name) DO UPDATE SET setting = excluded.setting, revoked = 0",
                (key.name, _encode(key)),
            )
        )

    async def revoke_key(self, name: str) -> None:
        """Revoke a key, whether it was added at run time or is in the file."""
        await self.database.write(
            (
                "INSERT INTO segue_gateway_keys (name, setting, revoked) VALUES (?, ?, 1) "
                "ON CONFLICT (name) DO UPDATE SET revoked = 1",
                (name, b""),
            )
        )

    async def keys(self) -> tuple[list[KeySetting], set[str]]:
        """The keys that were added at run time, and the names of those that were revoked."""
        rows = await self.database.read("SELECT name, setting, revoked FROM segue_gateway_keys ORDER BY name")
        added = [_setting(KeySetting, f"the key {name!r}", setting) for name, setting, revoked in rows if not revoked]
        return added, {name for name, _, revoked in rows if revoked}

    async def usage(self) -> list[UsageRow]:
        """What was used, per key, day and model."""
        rows = await self.database.read(
            "SELECT key, day, model, requests, input, output, dollars FROM segue_gateway_usage ORDER BY day, key, model"
        )
        return [UsageRow(*row) for row in rows]

    async def reserve(self, request_id: str, key: str, budget: Budget, dollars: float, seconds: int) -> bool:
        """Reserve an estimate. Return ``False`` if the budget does not have it."""
        since = today() if budget.per == "day" else today()[:7]

        def act(transaction: Statements) -> bool:
            transaction.lock(f"budget {key}")
            spent = transaction.rows(
                "SELECT coalesce(sum(dollars), 0) FROM segue_gateway_usage WHERE key = ? AND day >= ?", key, since
            )[0][0]
            held = transaction.rows(
                "SELECT coalesce(sum(dollars), 0) FROM segue_gateway_reserved "
                "WHERE key = ? AND expires > ? AND id <> ?",
                key, int(time.time()), request_id,
            )[0][0]  # fmt: skip
            if spent + held + dollars > budget.dollars:
                return False
            transaction.run(
                "INSERT INTO segue_gateway_reserved (id, key, dollars, expires) VALUES (?, ?, ?, ?) "
                "ON CONFLICT (id) DO NOTHING",
                request_id, key, dollars, int(time.time()) + seconds,
            )  # fmt: skip
            return True

        granted: bool = await self.database.change(act)
        return granted

    # -- routes ------------------------------------------------------------------------------------------------------

    async def set_route(self, route: RouteSetting) -> None:
        """Change a route at run time."""
        await self.database.write(
            (
                "INSERT INTO segue_gateway_routes (name, setting) VALUES (?, ?) "
                "ON CONFLICT (name) DO UPDATE SET setting = excluded.setting",
                (route.name, _encode(route)),
            )
        )

    async def reset_routes(self, names: Iterable[str] = ()) -> None:
        """Return to the routes of the file: those with these names, or all."""
        chosen = list(names)
        if not chosen:
            await self.database.write(("DELETE FROM segue_gateway_routes", ()))
        for name in chosen:
            await self.database.write(("DELETE FROM segue_gateway_routes WHERE name = ?", (name,)))

    async def routes(self) -> list[RouteSetting]:
        """The routes that were changed at run time."""
        rows = await self.database.read("SELECT name, setting FROM segue_gateway_routes ORDER BY name")
        return [_setting(RouteSetting, f"the route {name!r}", setting) for name, setting in rows]

    # -- the secret --------------------------------------------------------------------------------------------------

    async def secret(self) -> bytes:
        """The secret for envelopes, created once."""
        fresh = secrets.token_bytes(32)
        await self.database.write(
            (
                "INSERT INTO segue_gateway_meta (name, value) VALUES ('secret', ?) ON CONFLICT (name) DO NOTHING",
                (fresh,),
            )
        )
        rows: list[Row] = await self.database.read("SELECT value FROM segue_gateway_meta WHERE name = 'secret'")
        return bytes(rows[0][0])


def _setting(kind: type[T], what: str, data: bytes) -> T:
    try:
        return msgspec.json.decode(bytes(data), type=kind)
    except msgspec.MsgspecError as error:
        raise SessionError(f"{what} of the store cannot be used: {error}; remove it and add it again") from None


def _message(blob: bytes, refused: int) -> AssistantMessage:
    """The answer of a row; without thinking and signatures, if its maker has refused them."""
    message = _answer(bytes(blob))
    if not refused:
        return message
    blocks = [signed(block, None) for block in message.content if not isinstance(block, ThinkingContent)]
    return replace(message, content=blocks)


def today() -> str:
    """The day by UTC, as it is written in the store."""
    return datetime.now(UTC).strftime("%Y-%m-%d")
