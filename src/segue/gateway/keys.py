"""Keys of clients: who may use which models, how fast, and for how much. Keys are known by their digests only."""

import time
from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime

from ..errors import AuthenticationError, InvalidRequestError, ModelNotFoundError, RateLimitError
from ..types import Model
from .config import KeySetting, digest_of
from .incoming import ANYONE, query_value
from .routes import is_allowed
from .store import Store

MINUTE = 60.0
RESERVED = 3600
"""Seconds after which the reservation of a request that never ended is released."""
OUTPUT = 4_096
"""Tokens of an answer that are reserved where the request has no limit."""


def presented(headers: Mapping[str, str], query: str) -> list[str]:
    """The keys that a client sends, in all places of the four protocols. One of them may be for another service."""
    scheme, _, token = headers.get("authorization", "").partition(" ")
    bearer = token.strip() if scheme.lower() == "bearer" else ""
    places = (
        headers.get("x-api-key"),
        headers.get("x-goog-api-key"),
        bearer,
        query_value(query, "key") if query else None,
    )
    return [key for key in places if key]


class Keys:
    """The keys of the file and of the store."""

    def __init__(self, file: Iterable[KeySetting], master: str | None = None, master_is_client: bool = False) -> None:
        self._file = {key.name: key for key in file}
        self._master = None if master is None else digest_of(master)
        if self._master is not None and master_is_client:
            self._file["master"] = KeySetting(name="master", digest=self._master)
        self._by_digest: dict[str, KeySetting] = {}
        self._windows: dict[str, deque[tuple[float, int, int]]] = {}
        self._revoked = False  # whether there was a key that is not valid any more
        self.apply((), set())

    def apply(self, added: Iterable[KeySetting], revoked: set[str]) -> None:
        """Use what the store has: keys that were added, and names that were revoked."""
        keys = {name: key for name, key in self._file.items() if name not in revoked}
        keys |= {key.name: key for key in added}
        self._revoked = bool(revoked)
        self._by_digest = {key.digest: key for key in keys.values()}

    @property
    def required(self) -> bool:
        """Whether clients need a key. They still do when the last one was revoked."""
        return bool(self._file) or bool(self._by_digest) or self._revoked

    @property
    def all(self) -> list[KeySetting]:
        """All keys that are valid."""
        return list(self._by_digest.values())

    def is_master(self, headers: Mapping[str, str], query: str) -> bool:
        """Whether a request has the master key."""
        return self._master is not None and self._master in map(digest_of, presented(headers, query))

    @property
    def has_master(self) -> bool:
        """Whether there is a master key."""
        return self._master is not None

    def find(self, headers: Mapping[str, str], query: str) -> KeySetting:
        """The key of a request. Without keys, anyone may use the gateway."""
        if not self.required:
            return ANYONE
        given = presented(headers, query)
        found = next((self._by_digest[each] for each in map(digest_of, given) if each in self._by_digest), None)
        if found is None:
            raise AuthenticationError("the key is not valid" if given else "the key is missing")
        if found.expires is not None and datetime.now(UTC).date() >= found.expires:
            raise AuthenticationError(f"the key {found.name} has expired")
        return found

    # -- limits ------------------------------------------------------------------------------------------------------

    def admit(self, key: KeySetting, model: str, tokens: int) -> None:
        """Count a request against the limits per minute of this process; ``RateLimitError`` if it is too much."""
        if not is_allowed(model, key.models):
            raise ModelNotFoundError(f"the key {key.name} may not use {model!r}; it may use {', '.join(key.models)}")
        limits = key.limits
        if limits.requests_per_minute is None and limits.tokens_per_minute is None:
            return
        now = time.monotonic()
        window = self._windows.setdefault(key.name, deque())
        while window and window[0][0] <= now - MINUTE:
            window.popleft()
        asked, used = sum(each for _, each, _ in window), sum(each for _, _, each in window)
        over_requests = limits.requests_per_minute is not None and asked >= limits.requests_per_minute
        over_tokens = limits.tokens_per_minute is not None and window and used + tokens > limits.tokens_per_minute
        if over_requests or over_tokens:
            wait = max(window[0][0] + MINUTE - now, 1.0)
            what = "requests" if over_requests else "tokens"
            raise RateLimitError(f"the key {key.name} has used its {what} per minute", retry_after=wait)
        window.append((now, 1, tokens))

    def answered(self, key: KeySetting, tokens: int) -> None:
        """Count the tokens of an answer."""
        if key.limits.tokens_per_minute is not None and key.name in self._windows:
            self._windows[key.name].append((time.monotonic(), 0, tokens))


async def reserve(
    store: Store, key: KeySetting, request_id: str, models: Sequence[Model], tokens: int, output: int | None
) -> None:
    """Reserve the most that a request may cost; ``RateLimitError`` if the budget of the key does not have it."""
    if key.budget is None:
        return
    unpriced = [model.ref for model in models if model.cost.input is None or model.cost.output is None]
    if unpriced:
        raise InvalidRequestError(f"the key {key.name} has a budget, and {unpriced[0]} has no known price")
    most = max(
        (tokens * (model.cost.input or 0) + min(output or OUTPUT, model.max_tokens) * (model.cost.output or 0)) / 1e6
        for model in models
    )
    if not await store.reserve(request_id, key.name, key.budget, most, RESERVED):
        wait = _until_next(key.budget.per)
        raise RateLimitError(
            f"the key {key.name} has spent its budget of ${key.budget.dollars:g} per {key.budget.per}", retry_after=wait
        )


def _until_next(period: str) -> float:
    """Seconds until the next day or month, by UTC."""
    now = datetime.now(UTC)
    start = now.replace(hour=0, minute=0, second=0, microsecond=0)
    if period == "day":
        return 86_400 - (now - start).total_seconds()
    following = start.replace(year=now.year + (now.month == 12), month=now.month % 12 + 1, day=1)
    return (following - now).total_seconds()
