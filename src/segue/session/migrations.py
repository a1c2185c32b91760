"""The tables of a store, as numbered migrations with their reasons. Never change a released one: add another.

Both databases use the same migrations; ``TYPES`` has the names of types that differ. All table names begin with
``segue_``, because a PostgreSQL database usually holds more than sessions.
"""

from collections.abc import Mapping
from typing import NamedTuple

from ..errors import SessionError
from .statements import Transaction

TYPES: Mapping[str, Mapping[str, str]] = {
    "sqlite": {"identity": "INTEGER PRIMARY KEY AUTOINCREMENT", "integer": "INTEGER", "bytes": "BLOB"},
    "postgresql": {
        "identity": "bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY",
        "integer": "bigint",
        "bytes": "bytea",
    },
}


class Migration(NamedTuple):
    """A change of the tables."""

    number: int
    why: str
    statements: tuple[str, ...]


MIGRATIONS = (
    Migration(
        1,
        # `serial` is never reused, so that a reader notices when its session was deleted and created again. Keys and
        # bodies are bytes: text columns of PostgreSQL refuse NUL, and a database cannot change bytes.
        "sessions, and the log of each",
        (
            """
            CREATE TABLE segue_sessions (
                serial {identity},
                id text NOT NULL UNIQUE,
                created {integer} NOT NULL,
                changed {integer} NOT NULL,
                head {integer} NOT NULL,
                title text NOT NULL,
                parent text,
                parent_entry {integer}
            )
            """,
            """
            CREATE TABLE segue_entries (
                session {integer} NOT NULL,
                number {integer} NOT NULL,
                key {bytes} NOT NULL,
                kind text NOT NULL,
                body {bytes} NOT NULL,
                PRIMARY KEY (session, number),
                UNIQUE (session, key)
            )
            """,
        ),
    ),
)

TABLE = "CREATE TABLE IF NOT EXISTS segue_migrations (number {integer} PRIMARY KEY, why text NOT NULL)"
"""The table of the migrations that were applied; not a migration itself."""

NEWEST = MIGRATIONS[-1].number


def pending(applied: int, store: str) -> tuple[Migration, ...]:
    """The migrations after number ``applied``; ``SessionError`` for a store that was written by a newer segue."""
    if applied > NEWEST:
        raise SessionError(
            f"{store}: its tables have version {applied}, and this segue knows only {NEWEST}; update segue to use them"
        )
    return tuple(migration for migration in MIGRATIONS if migration.number > applied)


def apply_migration(transaction: Transaction, migration: Migration, database: str) -> None:
    """Run the statements of a migration, and record it."""
    for statement in migration.statements:
        transaction.run(with_types(statement, database))
    transaction.run("INSERT INTO segue_migrations (number, why) VALUES (?, ?)", migration.number, migration.why)


def with_types(statement: str, database: str) -> str:
    """Fill in the type names of ``database``."""
    return statement.format_map(TYPES[database])
