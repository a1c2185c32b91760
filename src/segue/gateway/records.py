"""Bodies of requests and their answers, in memory and only if ``record`` is set: for the studio."""

from collections import OrderedDict
from typing import Any

import msgspec

from ..types import AssistantMessage

MOST_BYTES = 64 * 1024 * 1024


class Records:
    """The last bodies, up to a number of bytes."""

    def __init__(self) -> None:
        self._kept: OrderedDict[str, tuple[bytes, bytes]] = OrderedDict()
        self._bytes = 0

    def add(self, request_id: str, body: bytes, answer: AssistantMessage | None) -> None:
        """Keep a body and its answer."""
        written = msgspec.json.encode(answer)
        self._kept[request_id] = body, written
        self._bytes += len(body) + len(written)
        while self._bytes > MOST_BYTES:
            _, (dropped, other) = self._kept.popitem(last=False)
            self._bytes -= len(dropped) + len(other)

    def get(self, request_id: str) -> dict[str, Any] | None:
        """The body and the answer of a request, as JSON."""
        found = self._kept.get(request_id)
        return None if found is None else {"body": msgspec.Raw(found[0]), "answer": msgspec.Raw(found[1])}
