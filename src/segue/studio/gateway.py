"""The requests of a running gateway, over HTTP: a list that grows, and one request with everything that was changed."""

import os
from collections import Counter
from datetime import datetime
from hashlib import blake2b
from typing import Any, TypeGuard, get_args
from urllib.parse import urlencode

import htpy as h
import httpx2
import msgspec

from ..client import checked_headers, parse_endpoint
from ..environment import make_http
from ..errors import SegueError, SettingError
from ..projection import phrase
from ..types import ChangeCode, dollars
from ..types.codec import UNREADABLE
from ..types.text import count_of
from .marked import one_line

KEY_VARIABLE = "SEGUE_GATEWAY_KEY"
TIMEOUT = 5.0
"""Seconds to wait for the gateway."""


class AwayError(SegueError):
    """The gateway does not answer."""


class GatewayClient:
    """Asks one gateway for its requests."""

    def __init__(self, url: str) -> None:
        self.url, user = parse_endpoint(url.rstrip("/"))
        key = os.environ.get(KEY_VARIABLE, "").strip()
        headers = checked_headers({**user, **({"authorization": f"Bearer {key}"} if key else {})}, KEY_VARIABLE)
        self._client = make_http(lambda: httpx2.Client(headers=headers, timeout=TIMEOUT))

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
        except httpx2.HTTPError:
            raise AwayError(f"the gateway at {self.url} does not answer: is it running?") from None
        if response.status_code in (401, 403):
            raise SettingError(f"the gateway at {self.url} needs its master key: set {KEY_VARIABLE}")
        if response.status_code != 200:
            raise SegueError(f"the gateway at {self.url} answers {response.status_code} for {path}")
        try:
            return msgspec.json.decode(response.content)
        except UNREADABLE:
            raise SegueError(f"what answers at {self.url} is not a gateway of segue") from None


def mark_of(rows: list[dict[str, Any]]) -> str:
    """A digest of the list, which differs if a request was added or has changed. Requests end in any order."""
    return blake2b(msgspec.json.encode(rows), digest_size=8).hexdigest()


def draw_requests(url: str, rows: list[dict[str, Any]]) -> h.Renderable:
    """The list: which model was asked for, which one answered, what was changed, tokens and cost."""
    names = ("time", "asked for", "answered by", "status", "changes", "tokens", "cost", "seconds")
    head = h.thead[h.tr[[h.th(".count", scope="col")[name] for name in names]]]
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
        h.td(".count")[h.a(href=f"/gateway/{row.get('id')}")[_time(row.get("time"), "%H:%M:%S")]],
        h.td[_text(row.get("asked"))],
        h.td[_text(row.get("model"))],
        h.td[_status(row)],
        h.td(".count")[_counts(row)],
        h.td(".count")[f"{_number(usage.get('input')):,} in, {_number(usage.get('output')):,} out" if usage else "–"],
        h.td(".count")[dollars(_number(usage["cost"])) if usage and _is_number(usage.get("cost")) else "–"],
        h.td(".count")[_text(row.get("seconds"))],
    ]


_LABELS = {
    "asked": "asked for",
    "model": "answered by",
    "first_byte": "seconds to the first byte",
    "remembered": "answer remembered",
    "input": "tokens in",
    "output": "tokens out",
}
"""Fields of a request whose name needs more words."""
_ELSEWHERE = frozenset({"id", "body", "answer", "changes"})
"""Fields that the page shows in another place."""


def draw_request(row: dict[str, Any], conversation: str | None) -> h.Renderable:
    """One request; ``conversation`` is the id of the one in its body."""
    shown = {name: value for name, value in row.items() if name not in _ELSEWHERE and value not in (None, "", [], {})}
    shown |= {"time": _time(row.get("time"), "%Y-%m-%d %H:%M:%S")}
    if isinstance(shown.get("usage"), dict):
        shown |= shown.pop("usage")
    if _is_number(shown.get("cost")):
        shown["cost"] = dollars(shown["cost"])
    changes = _changes(row)
    return h.div("#home")[
        h.p[h.a(href="/gateway")["‹ all requests"]],
        h.h1[f"Request {_text(row.get('id'))}"],
        h.p[h.a(href=_address(conversation, row))["see what each model gets of it"]]
        if conversation
        else h.p(".facts")[
            "Its body was not recorded: set ", h.code["record = true"], " in the gateway's configuration."
        ],
        h.dl(".facts-list")[
            [[h.dt[_LABELS.get(name, name.replace("_", " "))], h.dd[_text(value)]] for name, value in shown.items()]
        ],
        h.h2[count_of(len(changes), "change")],
        h.ul[[_change(each, _address(conversation, row) if conversation else "") for each in changes]]
        if changes
        else None,
    ]


def _address(conversation: str | None, row: dict[str, Any]) -> str:
    """The conversation of a request, for the model that answered it."""
    model = row.get("model")
    return f"/c/{conversation}" + (
        f"?{urlencode({'to': model}, safe='/:')}" if isinstance(model, str) and model else ""
    )


def _change(change: dict[str, Any], conversation: str) -> h.Renderable:
    word = "lost" if change.get("lossy") else "adapted"
    code: Any = change.get("code")
    at, detail = change.get("message"), change.get("detail")
    place: h.Node = f"message {at}" if isinstance(at, int) else "the request"
    if conversation and isinstance(at, int):
        place = h.a(href=f"{conversation}#m{at}")[place]
    text = phrase(code) if code in get_args(ChangeCode) else _text(code)
    return h.li(f".{word}")[h.b(".word")[word], f" {text}, ", place, f": {_text(detail)}" if detail else None]


def _time(value: Any, form: str) -> str:
    return datetime.fromtimestamp(value).strftime(form) if _is_number(value) else "–"


_LARGEST = 1e11
"""Larger numbers cannot be a time, an amount or a cost: what answers need not be a gateway."""


def _is_number(value: Any) -> TypeGuard[int | float]:
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < _LARGEST


def _number(value: Any) -> int | float:
    return value if _is_number(value) else 0


_DEEPEST = 4


def _text(value: Any, depth: int = 0) -> str:
    """A value of a request, in words."""
    if value is None or value == "":
        return "–"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:.2f}" if value >= 0.01 else f"{value:.1g}"
    if isinstance(value, dict | list) and depth == _DEEPEST:
        return "…"
    if isinstance(value, dict):
        return one_line(", ".join(f"{name} {_text(each, depth + 1)}" for name, each in value.items()))
    if isinstance(value, list):
        return one_line("; ".join(_text(each, depth + 1) for each in value))
    return one_line(str(value))


def _status(row: dict[str, Any]) -> str:
    attempts = row.get("attempts")
    tries = f", {attempts} attempts" if isinstance(attempts, int) and attempts > 1 else ""
    return f"{_text(row.get('status'))}{tries}"


def _changes(row: dict[str, Any]) -> list[dict[str, Any]]:
    changes = row.get("changes")
    return [each for each in changes if isinstance(each, dict)] if isinstance(changes, list) else []


def _counts(row: dict[str, Any]) -> str:
    counts = Counter("lost" if each.get("lossy") else "adapted" for each in _changes(row))
    return " · ".join(f"{word} {counts[word]}" for word in ("lost", "adapted") if counts[word]) or "none"
