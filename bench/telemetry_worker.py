"""Requests in a process of its own, with or without telemetry.

``python -m bench.telemetry_worker MODE PROVIDER RECEIVER``: every line of input is a number of requests to send;
the answer is a line with the CPU seconds of one of them.
"""

import sys
import time
from importlib import import_module

MODES = ("absent", "installed", "imported", "traces", "metrics too")


def prepare(mode: str, receiver: str) -> None:
    if mode == "absent":
        sys.modules["opentelemetry"] = None  # type: ignore[assignment]  # importing it fails from now on
    elif mode == "imported":
        import_module("opentelemetry.trace")
        import_module("opentelemetry.metrics")
    elif mode != "installed":
        export_traces(f"{receiver}/v1/traces")
        if mode == "metrics too":
            export_metrics(f"{receiver}/v1/metrics")


def export_traces(address: str) -> None:
    trace, sdk = import_module("opentelemetry.trace"), import_module("opentelemetry.sdk.trace")
    export = import_module("opentelemetry.sdk.trace.export")
    otlp = import_module("opentelemetry.exporter.otlp.proto.http.trace_exporter")
    provider = sdk.TracerProvider()
    provider.add_span_processor(export.BatchSpanProcessor(otlp.OTLPSpanExporter(address)))
    trace.set_tracer_provider(provider)


def export_metrics(address: str) -> None:
    metrics, sdk = import_module("opentelemetry.metrics"), import_module("opentelemetry.sdk.metrics")
    export = import_module("opentelemetry.sdk.metrics.export")
    otlp = import_module("opentelemetry.exporter.otlp.proto.http.metric_exporter")
    reader = export.PeriodicExportingMetricReader(otlp.OTLPMetricExporter(address), export_interval_millis=1000)
    metrics.set_meter_provider(sdk.MeterProvider([reader]))


def serve(provider: str) -> None:
    import segue

    from .conversations import tool_history
    from .peers.encoders import ANTHROPIC, KEY, run

    context, model = tool_history(20), segue.get_model(ANTHROPIC.ref)
    connection = segue.Connection(base_url=provider, api_key=KEY)
    for line in sys.stdin:
        count, begun = int(line), time.process_time()
        for _ in range(count):
            answer = run(segue.complete(context, model, connection=connection))
            assert answer.stop_reason == "stop", answer.error_message
        print((time.process_time() - begun) / count, flush=True)


if __name__ == "__main__":
    prepare(sys.argv[1], sys.argv[3])
    serve(sys.argv[2])
