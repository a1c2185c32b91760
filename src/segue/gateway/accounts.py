"""What requests have used, and their reports: written to the store together, shortly after they have ended.

The usage of a key with a budget is written at once, in the transaction that releases what was reserved.
"""

import logging
from typing import Any

from ..errors import SegueError
from .config import KeySetting
from .report import RequestReport
from .store import Store

logger = logging.getLogger("segue.gateway")
MOST_WAITING = 10_000


class Accounts:
    """Collects what is written to the store."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._waiting: list[tuple[str, str, dict[str, Any]]] = []
        self._used: dict[tuple[str, str], list[float]] = {}

    async def add(self, report: RequestReport, row: dict[str, Any], key: KeySetting) -> None:
        """Add a request that has ended; ``row`` is its report as JSON."""
        if len(self._waiting) < MOST_WAITING:
            self._waiting.append((report.id, key.name, row))
        usage = report.usage
        if usage is not None and report.model:
            cost = 0.0 if usage.cost is None else usage.cost.total
            used = self._used.setdefault((key.name, report.model), [0, 0, 0, 0.0])
            for at, amount in enumerate((1, usage.prompt, usage.output, cost)):
                used[at] += amount
        if key.budget is not None:
            await self.flush(report.id)

    async def flush(self, settled: str | None = None) -> None:
        """Write everything that waits, and release what was reserved for the request ``settled``."""
        waiting, self._waiting = self._waiting, []
        used, self._used = self._used, {}
        if not waiting and not used and settled is None:
            return
        try:
            await self._store.add_reports(waiting, used, settled)
        except SegueError as error:
            logger.warning("usage of %d requests was not written: %s", len(waiting), error)
            for name, amounts in used.items():  # money is not forgotten
                kept = self._used.setdefault(name, [0, 0, 0, 0.0])
                self._used[name] = [one + other for one, other in zip(kept, amounts, strict=True)]
