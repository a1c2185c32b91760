"""What happened with a request, without any content: for headers, for the store, for the log."""

import time
from collections import Counter
from collections.abc import Sequence
from typing import Any

from ..types import Change, Usage

MOST_CODES = 12
MOST_CHANGES = 200


class RequestReport:
    """Everything that is reported about one request. It grows while the request is processed."""

    def __init__(self, request_id: str, protocol: str, asked: str, key: str) -> None:
        self.id, self.protocol, self.asked, self.key = request_id, protocol, asked, key
        self.began = time.time()
        self.model = ""
        self.attempts = 0
        self.failures: list[str] = []
        self.healed = ""
        self.changes: Sequence[Change] = ()
        self.turn = ""
        self.lane = ""
        self.status = 0
        self.usage: Usage | None = None
        self.error = ""
        self.remembered: bool | None = None
        self.first_byte: float | None = None

    def headers(self) -> dict[str, str]:
        """The headers of the answer."""
        found = {"x-segue-request": self.id, "x-segue-attempts": str(max(self.attempts, 1))}
        if self.model:
            found["x-segue-model"] = self.model
        if self.changes:
            found["x-segue-changes"] = summary(self.changes)
        if self.turn:
            found["x-segue-turn"] = self.turn
        return found

    def comment(self) -> bytes:
        """What is known only at the end of a stream, as a comment of it."""
        if self.usage is None:
            return b""
        cost = "" if self.usage.cost is None else f" dollars={self.usage.cost.total:.6f}"
        return f": segue model={self.model} input={self.usage.prompt} output={self.usage.output}{cost}\n\n".encode()

    def row(self) -> dict[str, Any]:
        """The same as JSON. Details of changes name fields and positions, not what is in them."""
        usage = self.usage
        cost = None if usage is None or usage.cost is None else usage.cost.total
        return {
            "id": self.id,
            "time": self.began,
            "seconds": round(time.time() - self.began, 4),
            "first_byte": self.first_byte and round(self.first_byte - self.began, 4),
            "protocol": self.protocol,
            "asked": self.asked,
            "model": self.model,
            "key": self.key,
            "status": self.status,
            "lane": self.lane,
            "turn": self.turn,
            "attempts": self.attempts,
            "failures": self.failures,
            "healed": self.healed,
            "changes": [
                {"code": each.code, "message": each.message, "lossy": each.lossy, "detail": _place(each)}
                for each in self.changes[:MOST_CHANGES]
            ],
            "usage": None if usage is None else {"input": usage.prompt, "output": usage.output, "cost": cost},
            "error": self.error,
            "remembered": self.remembered,
        }


def _place(change: Change) -> str:
    """The detail of a change of a field, which is its path and a reason; other details may quote content."""
    return change.detail[:200] if change.code in ("field-dropped", "option-dropped") else ""


def summary(changes: Sequence[Change]) -> str:
    """The changes in one line: how many lose something, how many do not, and their codes."""
    lost = sum(1 for change in changes if change.lossy)
    codes = Counter(change.code for change in changes)
    shown = ", ".join(f"{code}×{count}" if count > 1 else code for code, count in codes.most_common(MOST_CODES))
    return f"lost={lost} adapted={len(changes) - lost} ({shown})".replace("×", "x")
