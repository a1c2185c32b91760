"""The tables of the gateway's store, as numbered migrations with their reasons. Never change a released one.

Both databases use the same statements; ``TYPES`` has the names of types that differ. Times are Unix seconds. No key and
no content of a request is in any table except ``answers`` and ``responses``, whose rows belong to one tenant.
"""

from collections.abc import Mapping
from typing import NamedTuple

TYPES: Mapping[str, Mapping[str, str]] = {
    "sqlite": {"integer": "INTEGER", "bytes": "BLOB", "real": "REAL"},
    "postgresql": {"integer": "bigint", "bytes": "bytea", "real": "double precision"},
}


class Migration(NamedTuple):
    """A change of the tables."""

    number: int
    why: str
    statements: tuple[str, ...]


TABLE = "CREATE TABLE IF NOT EXISTS segue_gateway_migrations (number {integer} PRIMARY KEY, why text NOT NULL)"

MIGRATIONS = (
    Migration(
        1,
        "answers for recall, stored responses, requests, keys, usage, routes, members that cut a stream, the secret",
        (
            # One row per call of an answer, or one for its text. `before` is a digest of the message before the answer,
            # `history` one of everything visible before it, `answer` identifies the answer in envelopes.
            """
            CREATE TABLE segue_gateway_answers (
                tenant text NOT NULL,
                key text NOT NULL,
                history text NOT NULL,
                conversation text NOT NULL,
                before text NOT NULL,
                answer text NOT NULL,
                model text NOT NULL,
                blob {bytes} NOT NULL,
                refused {integer} NOT NULL DEFAULT 0,
                expires {integer} NOT NULL,
                PRIMARY KEY (tenant, key, history, conversation)
            )
            """,
            "CREATE INDEX segue_gateway_answers_place ON segue_gateway_answers (tenant, key, conversation)",
            "CREATE INDEX segue_gateway_answers_id ON segue_gateway_answers (tenant, answer)",
            "CREATE INDEX segue_gateway_answers_age ON segue_gateway_answers (expires)",
            """
            CREATE TABLE segue_gateway_responses (
                tenant text NOT NULL,
                id text NOT NULL,
                parent text NOT NULL,
                model text NOT NULL,
                input {bytes} NOT NULL,
                body {bytes} NOT NULL,
                expires {integer} NOT NULL,
                PRIMARY KEY (tenant, id)
            )
            """,
            "CREATE INDEX segue_gateway_responses_age ON segue_gateway_responses (expires)",
            """
            CREATE TABLE segue_gateway_requests (
                id text PRIMARY KEY,
                time {real} NOT NULL,
                key text NOT NULL,
                report {bytes} NOT NULL
            )
            """,
            "CREATE INDEX segue_gateway_requests_age ON segue_gateway_requests (time)",
            """
            CREATE TABLE segue_gateway_keys (
                name text PRIMARY KEY,
                setting {bytes} NOT NULL,
                revoked {integer} NOT NULL DEFAULT 0
            )
            """,
            # Reserved dollars are those of requests that run.
            """
            CREATE TABLE segue_gateway_usage (
                key text NOT NULL,
                day text NOT NULL,
                model text NOT NULL,
                requests {integer} NOT NULL,
                input {integer} NOT NULL,
                output {integer} NOT NULL,
                dollars {real} NOT NULL,
                PRIMARY KEY (key, day, model)
            )
            """,
            "CREATE TABLE segue_gateway_reserved "
            "(id text PRIMARY KEY, key text NOT NULL, dollars {real} NOT NULL, expires {integer} NOT NULL)",
            "CREATE TABLE segue_gateway_routes (name text PRIMARY KEY, setting {bytes} NOT NULL)",
            """
            CREATE TABLE segue_gateway_cuts (
                tenant text NOT NULL,
                conversation text NOT NULL,
                member text NOT NULL,
                until {real} NOT NULL,
                PRIMARY KEY (tenant, conversation, member)
            )
            """,
            "CREATE TABLE segue_gateway_meta (name text PRIMARY KEY, value {bytes} NOT NULL)",
        ),
    ),
)
