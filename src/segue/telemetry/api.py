"""The API of OpenTelemetry, if a program has configured it.

segue never imports it: a program that wants spans has imported it, to set a provider. Without one, ``tracing()`` is a
lookup in a dict.
"""

import os
import sys
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from .names import COUNTERS, HISTOGRAMS

NAME = "segue"
LATEST = "gen_ai_latest_experimental"


def tracing() -> "Api | None":
    """The configured API; ``None`` if OpenTelemetry is not installed, not imported, or has no provider."""
    trace = sys.modules.get("opentelemetry.trace")
    if trace is None:
        return None
    tracers, meters = trace.get_tracer_provider(), _meter_provider()
    if meters is None and isinstance(tracers, trace.ProxyTracerProvider):
        return None
    return _api(tracers, meters, LATEST in os.environ.get("OTEL_SEMCONV_STABILITY_OPT_IN", "").split(","))


def _meter_provider() -> Any:
    metrics = sys.modules.get("opentelemetry.metrics")
    if metrics is None:
        return None
    provider = metrics.get_meter_provider()
    return None if "Proxy" in type(provider).__name__ else provider


@lru_cache(4)
def _api(tracers: Any, meters: Any, latest: bool) -> "Api":
    return Api(tracers, meters, latest)


class Api:
    """Tracer, meter and instruments of a provider."""

    def __init__(self, tracers: Any, meters: Any, latest: bool) -> None:
        from opentelemetry import context, trace

        self.trace, self.context = trace, context
        self.latest = latest
        self.tracer = tracers.get_tracer(NAME)
        meter = None if meters is None else meters.get_meter(NAME)
        self._record: dict[str, Any] = {}
        if meter is None:
            return
        for name, (today, new, unit, buckets) in HISTOGRAMS.items():
            if chosen := new if latest else today:
                made = meter.create_histogram(chosen, unit=unit, explicit_bucket_boundaries_advisory=buckets)
                self._record[name] = made.record
        for name, (today, new, unit) in COUNTERS.items():
            if chosen := new if latest else today:
                self._record[name] = meter.create_counter(chosen, unit=unit).add

    def measure(self, name: str, value: float, attributes: dict[str, Any]) -> None:
        """Record a value of a metric; nothing if there is no such metric."""
        record = self._record.get(name)
        if record is not None:
            record(value, attributes)

    def caller(self, headers: Mapping[str, str]) -> Any:
        """The context of the span of a caller in another process, from the headers of its request."""
        from opentelemetry.propagate import extract

        return extract(headers)

    def emit(self, name: str, attributes: dict[str, Any], span: Any) -> None:
        """Emit an event, as a log record that belongs to a span."""
        from opentelemetry._logs import LogRecord, SeverityNumber, get_logger

        place = self.trace.set_span_in_context(span)
        get_logger(NAME).emit(
            LogRecord(event_name=name, attributes=attributes, context=place, severity_number=SeverityNumber.INFO)
        )
