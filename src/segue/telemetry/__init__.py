"""Spans and metrics of OpenTelemetry, by the conventions for generative AI. See docs/telemetry.md."""

from .operations import (
    RequestSpan as RequestSpan,
    Switched as Switched,
    ToolSpan as ToolSpan,
    agent_span as agent_span,
    gateway_span as gateway_span,
    request_span as request_span,
    tool_span as tool_span,
)
