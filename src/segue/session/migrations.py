"""The tables of a store, as numbered steps that say why. A step that has been released is never changed: add one.

Both databases go through the same steps; ``WORDS`` has what they spell differently. All names begin with ``segue_``,
because a PostgreSQL database usually holds more than sessions.
"""

from collections.abc import Mapping
from typing import NamedTuple

from ..errors import SessionError

WORDS: Mapping[str, Mapping[str, str]] = {
    "sqlite": {"identity": "INTEGER PRIMARY KEY AUTOINCREMENT", "integer": "INTEGER", "bytes": "BLOB"},
    "postgresql": {
        "identity": "bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY",
        "integer": "bigint",
        "bytes": "bytea",
    },
}


class Migration(NamedTuple):
    """A step from one shape of the tables to the next."""

    number: int
    why: str
    statements: tuple[str, ...]


MIGRATIONS = (
    Migration(
        1,
        # `serial` is never used twice, so that a reader notices that its session was deleted and made anew. Keys and
        # bodies are bytes: the text of PostgreSQL refuses NUL, and what a database does not read it cannot change.
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
"""Which steps were taken; not a step itself."""

NEWEST = MIGRATIONS[-1].number


def missing(done: int, where: str) -> tuple[Migration, ...]:
    """The steps that a store at step ``done`` lacks; a ``SessionError`` for a store that a newer segue has made."""
    if done > NEWEST:
        raise SessionError(
            f"{where}: its tables are of step {done}, and this segue knows {NEWEST} of them; update segue to use them"
        )
    return tuple(step for step in MIGRATIONS if step.number > done)


def spelled(statement: str, database: str) -> str:
    """A statement in the words of ``database``."""
    return statement.format_map(WORDS[database])
