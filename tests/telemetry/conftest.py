"""Telemetry in memory, or through the real exporter to a receiver on loopback."""

import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import opentelemetry._logs._internal as logs_api
import opentelemetry.metrics._internal as metrics_api
import pytest
from opentelemetry import trace
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.sdk._logs import LoggerProvider
from opentelemetry.sdk._logs.export import InMemoryLogRecordExporter, SimpleLogRecordProcessor
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from support.sessions import Providers


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
    """Receives spans over OTLP/HTTP."""

    def __init__(self) -> None:
        self.bodies: list[bytes] = []
        super().__init__(("127.0.0.1", 0), _Handler)

    def spans(self) -> list[object]:
        return [
            span
            for body in self.bodies
            for resource in ExportTraceServiceRequest.FromString(body).resource_spans
            for scope in resource.scope_spans
            for span in scope.spans
        ]


class _Handler(BaseHTTPRequestHandler):
    server: Receiver

    def do_POST(self) -> None:
        self.server.bodies.append(self.rfile.read(int(self.headers["content-length"])))
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
        tracers = TracerProvider()
        address = f"http://127.0.0.1:{server.server_address[1]}/v1/traces"
        tracers.add_span_processor(SimpleSpanProcessor(OTLPSpanExporter(address)))
        monkeypatch.setattr(trace, "_TRACER_PROVIDER", tracers)
        yield server
        server.shutdown()
