"""Telemetry in memory, or through the real exporter to a receiver on loopback."""

import math
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import opentelemetry._logs._internal as logs_api
import opentelemetry.metrics._internal as metrics_api
import pytest
from opentelemetry import trace
from opentelemetry.exporter.otlp.proto.http._log_exporter import OTLPLogExporter
from opentelemetry.exporter.otlp.proto.http.metric_exporter import OTLPMetricExporter
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import ExportMetricsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.sdk._logs import LoggerProvider
from opentelemetry.sdk._logs.export import InMemoryLogRecordExporter, SimpleLogRecordProcessor
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader, PeriodicExportingMetricReader
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from support.sessions import Providers

TRACES, METRICS, LOGS = "/v1/traces", "/v1/metrics", "/v1/logs"


@pytest.fixture(scope="session")
def standins() -> Iterator[Providers]:
    with Providers() as started:
        yield started


@pytest.fixture
def providers(standins: Providers) -> Providers:
    standins.clear()
    return standins


class Memory:
    """Spans, metrics and events that were recorded."""

    def __init__(self) -> None:
        self.tracers, self._spans = TracerProvider(), InMemorySpanExporter()
        self.tracers.add_span_processor(SimpleSpanProcessor(self._spans))
        self._reader = InMemoryMetricReader()
        self.meters = MeterProvider([self._reader])
        self.loggers, self.logs = LoggerProvider(), InMemoryLogRecordExporter()
        self.loggers.add_log_record_processor(SimpleLogRecordProcessor(self.logs))

    def spans(self) -> list[ReadableSpan]:
        return list(self._spans.get_finished_spans())

    def span(self, name: str) -> ReadableSpan:
        [found] = [span for span in self.spans() if span.name == name]
        return found

    def metrics(self) -> dict[str, list[dict[str, object]]]:
        """The attributes of all points of every metric."""
        data = self._reader.get_metrics_data()
        return {
            metric.name: [dict(point.attributes or {}) for point in metric.data.data_points]
            for resource in (data.resource_metrics if data else [])
            for scope in resource.scope_metrics
            for metric in scope.metrics
        }


@pytest.fixture
def memory(monkeypatch: pytest.MonkeyPatch) -> Memory:
    recorded = Memory()
    monkeypatch.setattr(trace, "_TRACER_PROVIDER", recorded.tracers)
    monkeypatch.setattr(metrics_api, "_METER_PROVIDER", recorded.meters)
    monkeypatch.setattr(logs_api, "_LOGGER_PROVIDER", recorded.loggers)
    return recorded


class Receiver(ThreadingHTTPServer):
    """Receives spans, metrics and log records over OTLP/HTTP, from the real exporters."""

    daemon_threads = True

    def __init__(self) -> None:
        self.bodies: list[tuple[str, bytes]] = []
        super().__init__(("127.0.0.1", 0), _Handler)
        url = f"http://127.0.0.1:{self.server_address[1]}"
        self.tracers = TracerProvider()
        self.tracers.add_span_processor(SimpleSpanProcessor(OTLPSpanExporter(f"{url}{TRACES}")))
        self.reader = PeriodicExportingMetricReader(OTLPMetricExporter(f"{url}{METRICS}"), math.inf)
        self.meters = MeterProvider([self.reader])
        self.loggers = LoggerProvider()
        self.loggers.add_log_record_processor(SimpleLogRecordProcessor(OTLPLogExporter(f"{url}{LOGS}")))

    def data(self) -> bytes:
        """Everything that has been received."""
        return b"".join(body for _, body in self.bodies)

    def spans(self) -> list[Any]:
        return [
            span
            for body in self._received(TRACES)
            for resource in ExportTraceServiceRequest.FromString(body).resource_spans
            for scope in resource.scope_spans
            for span in scope.spans
        ]

    def metrics(self) -> dict[str, list[Any]]:
        """The points of every metric, in the last export."""
        self.reader.force_flush()
        [*_, body] = self._received(METRICS)
        return {
            metric.name: list(getattr(metric, metric.WhichOneof("data")).data_points)
            for resource in ExportMetricsServiceRequest.FromString(body).resource_metrics
            for scope in resource.scope_metrics
            for metric in scope.metrics
        }

    def logs(self) -> list[Any]:
        return [
            record
            for body in self._received(LOGS)
            for resource in ExportLogsServiceRequest.FromString(body).resource_logs
            for scope in resource.scope_logs
            for record in scope.log_records
        ]

    def _received(self, path: str) -> list[bytes]:
        return [body for at, body in self.bodies if at == path]


def values(attributes: Any) -> dict[str, Any]:
    """Attributes of OTLP as plain values."""
    return {each.key: _value(each.value) for each in attributes}


def _value(value: Any) -> Any:
    kind = value.WhichOneof("value")
    found = getattr(value, kind)
    return [_value(each) for each in found.values] if kind == "array_value" else found


class _Handler(BaseHTTPRequestHandler):
    server: Receiver

    def do_POST(self) -> None:
        self.server.bodies.append((self.path, self.rfile.read(int(self.headers["content-length"]))))
        self.send_response(200)
        self.send_header("content-type", "application/x-protobuf")
        self.send_header("content-length", "0")
        self.end_headers()

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        pass


@pytest.fixture
def receiver(monkeypatch: pytest.MonkeyPatch) -> Iterator[Receiver]:
    with Receiver() as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        monkeypatch.setattr(trace, "_TRACER_PROVIDER", server.tracers)
        monkeypatch.setattr(metrics_api, "_METER_PROVIDER", server.meters)
        monkeypatch.setattr(logs_api, "_LOGGER_PROVIDER", server.loggers)
        yield server
        for provider in (server.tracers, server.meters, server.loggers):
            provider.shutdown()
        server.shutdown()
