"""Metrics for Prometheus, of all workers together. Labels are names of routes' models, protocols and kinds of failure;
never what a client sent."""

import os
from functools import lru_cache
from typing import Any

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from prometheus_client.multiprocess import MultiProcessCollector

from .report import RequestReport
from .workers import DIRECTORY

_BUCKETS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300)


@lru_cache(maxsize=4096)
def _child(metric: Any, *labels: str) -> Any:
    """The metric with these labels. (To find it, the library converts and compares them each time.)"""
    return metric.labels(*labels)


class Metrics:
    """The metrics of a process."""

    def __init__(self) -> None:
        self._registry = CollectorRegistry()
        labels = ["protocol", "model"]
        self._requests = Counter(
            "segue_gateway_requests", "Requests that have ended", [*labels, "status"], registry=self._registry
        )
        self._seconds = Histogram(
            "segue_gateway_seconds", "Seconds per request", labels, registry=self._registry, buckets=_BUCKETS
        )
        self._first = Histogram(
            "segue_gateway_first_byte_seconds",
            "Seconds to the first byte of a streamed answer",
            labels,
            registry=self._registry,
            buckets=_BUCKETS,
        )
        self._tokens = Counter(
            "segue_gateway_tokens", "Tokens, as providers report them", ["model", "direction"], registry=self._registry
        )
        self._dollars = Counter(
            "segue_gateway_dollars", "Cost, by the prices of the catalog", ["model"], registry=self._registry
        )
        self._lanes = Counter(
            "segue_gateway_lanes", "Requests that were forwarded, or rendered", ["lane"], registry=self._registry
        )
        self._changes = Counter(
            "segue_gateway_changes", "Changes that rendering made", ["code"], registry=self._registry
        )
        self._failures = Counter("segue_gateway_failures", "Attempts that failed", ["failure"], registry=self._registry)
        self._unremembered = Counter(
            "segue_gateway_not_remembered", "Answers that the store did not take in time", registry=self._registry
        )
        self.running = Gauge(
            "segue_gateway_running", "Requests that are running", registry=self._registry, multiprocess_mode="livesum"
        )

    def count(self, report: RequestReport, seconds: float) -> None:
        """Count a request that has ended."""
        labels = report.protocol, report.model or "none"
        _child(self._requests, *labels, str(report.status)).inc()
        _child(self._seconds, *labels).observe(seconds)
        if report.first_byte is not None:
            _child(self._first, *labels).observe(report.first_byte - report.began)
        if report.lane:
            _child(self._lanes, report.lane).inc()
        for code in [change.code for change in report.changes]:
            _child(self._changes, code).inc()
        for failure in report.failures:
            _child(self._failures, failure.partition(": ")[2]).inc()
        if report.remembered is False:
            self._unremembered.inc()
        usage = report.usage
        if usage is not None:
            _child(self._tokens, report.model, "input").inc(usage.prompt)
            _child(self._tokens, report.model, "output").inc(usage.output)
            if usage.cost is not None:
                _child(self._dollars, report.model).inc(usage.cost.total)

    def text(self) -> bytes:
        """All metrics in the text format."""
        if os.environ.get(DIRECTORY):
            registry = CollectorRegistry()
            MultiProcessCollector(registry)  # type: ignore[no-untyped-call]  # the library has no types here
            return generate_latest(registry)
        return generate_latest(self._registry)
