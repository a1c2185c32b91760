"""The access log: one line of JSON per request, without content, keys or anything else that a client sent."""

import json
import logging

from .report import RequestReport

logger = logging.getLogger("segue.gateway.access")
_FIELDS = ("id", "protocol", "model", "key", "status", "lane", "turn", "attempts", "failures", "seconds", "usage")


def log_request(report: RequestReport) -> None:
    """Log a request that has ended."""
    if logger.isEnabledFor(logging.INFO):
        row = report.row()
        line = {name: row[name] for name in _FIELDS} | {"changes": len(report.changes), "error": report.error}
        logger.info("%s", json.dumps(line))
