"""The requests of a running gateway, over HTTP: a list that grows, and one request with everything that was changed."""

import os
from collections import Counter
from datetime import datetime
from hashlib import blake2b
from typing import Any

import htpy as h
import httpx2
import msgspec

from ..errors import NetworkError, SegueError, SettingError
from ..types import dollars
from ..types.text import count_of
from .marked import one_line

KEY_VARIABLE = "SEGUE_GATEWAY_KEY"
TIMEOUT = 5.0
"""Seconds to wait for the gateway."""


class GatewayClient:
    """Asks one gateway for its requests."""

    def __init__(self, url: str) -> None:
        self.url = url.rstrip("/")
        if not self.url.startswith(("http://", "https://")):
            raise SettingError(f"--gateway {one_line(url)}: an address begins with http:// or https://")
        key = os.environ.get(KEY_VARIABLE, "").strip()
        headers = {"authorization": f"Bearer {key}"} if key else {}
        self._client = httpx2.Client(headers=headers, timeout=TIMEOUT)

    def close(self) -> None:
        """Close the connections."""
        self._client.close()

    def requests(self) -> list[dict[str, Any]]:
        """The last requests, the newest first, without their content."""
        found = self._get("/segue/requests")
        rows = found.get("requests") if isinstance(found, dict) else found
        return [row for row in rows if isinstance(row, dict)] if isinstance(rows, list) else []

    def request(self, id: str) -> dict[str, Any]:  # noqa: A002
        """One request, with its body and its answer if the gateway records them."""
        found = self._get(f"/segue/requests/{id}")
        return found if isinstance(found, dict) else {}

    def _get(self, path: str) -> Any:
        try:
            response = self._client.get(self.url + path)
        except httpx2.HTTPError as error:
            raise NetworkError(f"the gateway at {self.url} does not answer: {type(error).__name__}") from None
        if response.status_code in (401, 403):
            raise SettingError(f"the gateway at {self.url} needs its master key: set {KEY_VARIABLE}")
        if response.status_code != 200:
            raise SegueError(f"the gateway at {self.url} answers {response.status_code} for {path}")
        try:
            return msgspec.json.decode(response.content)
        except msgspec.DecodeError:
            raise SegueError(f"what answers at {self.url} is not a gateway of segue") from None


def mark_of(rows: list[dict[str, Any]]) -> str:
    """A digest of the list, which differs if a request was added or has changed. Requests end in any order."""
    return blake2b(msgspec.json.encode(rows), digest_size=8).hexdigest()


def draw_requests(url: str, rows: list[dict[str, Any]]) -> h.Renderable:
    """The list: which model was asked for, which one answered, what was changed, tokens and cost."""
    names = ("time", "asked for", "answered by", "status", "changes", "tokens", "cost", "seconds")
    head = h.thead[h.tr[[h.th(scope="col")[name] for name in names]]]
    return h.div("#home.wide", data_live=f"/gateway/live?after={mark_of(rows)}", data_refresh="/gateway")[
        h.h1[f"Requests of the gateway at {one_line(url)}"],
        h.p(".facts")[h.span("#live", role="status")],
        h.div("#list")[
            h.table[head, h.tbody[[_row(row) for row in rows]]] if rows else h.p["No requests in the last 24 hours."]
        ],
        h.p("#end"),
    ]


def _row(row: dict[str, Any]) -> h.Renderable:
    usage = row.get("usage") if isinstance(row.get("usage"), dict) else None
    return h.tr[
        h.td(".count")[h.a(href=f"/gateway/{row.get('id')}")[_time(row.get("time"))]],
        h.td[_text(row.get("asked"))],
        h.td[_text(row.get("model"))],
        h.td[_status(row)],
        h.td[_changes(row)],
        h.td(".count")[f"{usage.get('input') or 0:,} in, {usage.get('output') or 0:,} out" if usage else "–"],
        h.td[dollars(usage["cost"]) if usage and usage.get("cost") is not None else "–"],
        h.td[_text(row.get("seconds"))],
    ]


def draw_request(row: dict[str, Any], conversation: str | None) -> h.Renderable:
    """One request; ``conversation`` is the id of the one in its body."""
    shown = {name: value for name, value in row.items() if name not in ("body", "answer", "changes")}
    body = (
        h.p[h.a(href=f"/c/{conversation}")["see what each model gets of it"]]
        if conversation
        else h.p(".facts")["Its body was not recorded: set `record = true` in the gateway's configuration."]
    )
    changes = [each for each in row.get("changes") or [] if isinstance(each, dict)]
    return h.div("#home")[
        h.h1[f"Request {_text(row.get('id'))}"],
        body,
        h.dl(".facts-list")[[[h.dt[name], h.dd[_text(value)]] for name, value in shown.items()]],
        h.h2[count_of(len(changes), "change")],
        h.ul[
            [
                h.li[
                    h.b(".word")["lost" if each.get("lossy") else "adapted"],
                    f" {_text(each.get('code'))}, message {_text(each.get('message'))} {_text(each.get('detail'))}",
                ]
                for each in changes
            ]
        ],
    ]


def _time(value: Any) -> str:
    return datetime.fromtimestamp(value).strftime("%H:%M:%S") if isinstance(value, int | float) else "–"


def _text(value: Any) -> str:
    return "–" if value is None or value == "" else one_line(value if isinstance(value, str) else str(value))


def _status(row: dict[str, Any]) -> str:
    attempts = row.get("attempts")
    tries = f", {attempts} attempts" if isinstance(attempts, int) and attempts > 1 else ""
    return f"{_text(row.get('status'))}{tries}"


def _changes(row: dict[str, Any]) -> str:
    changes = [each for each in row.get("changes") or [] if isinstance(each, dict)]
    counts = Counter("lost" if each.get("lossy") else "adapted" for each in changes)
    return f"lost {counts['lost']} · adapted {counts['adapted']}"
