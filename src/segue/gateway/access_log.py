"""The access log: one line of JSON per request, without content, keys or anything else that a client sent."""

import logging
from collections.abc import Mapping
from typing import Any

import msgspec

logger = logging.getLogger("segue.gateway.access")
_FIELDS = ("id", "protocol", "model", "key", "status", "lane", "turn", "attempts", "failures", "seconds", "usage")


def log_request(row: Mapping[str, Any], changes: int) -> None:
    """Log a request that has ended, from its report as JSON and the number of changes."""
    if logger.isEnabledFor(logging.INFO):
        line = {name: row[name] for name in _FIELDS} | {"changes": changes, "error": row["error"]}
        logger.info("%s", msgspec.json.encode(line).decode())
