"""Spans and metrics of requests, switches, compactions, tools and agents, by the conventions for generative AI."""

import json
import subprocess
import sys
from typing import Any

import pytest
from msgspec.structs import replace
from support.providers import CONTEXT, MODELS, OPTIONS
from support.sessions import Providers
from telemetry.conftest import Memory

import segue
from segue.telemetry import names
from segue.testing import Fault, Reply
from segue.types import TextContent, ToolCall

CHIEF, SCOUT = "anthropic-messages", "mistral-chat"
CLAUDE, MISTRAL = MODELS[CHIEF], MODELS[SCOUT]


def ask(providers: Providers, protocol: str = CHIEF, **options: Any) -> segue.AssistantMessage:
    model = MODELS[protocol]
    return segue.complete_sync(
        CONTEXT, model, replace(OPTIONS, **options), connection=providers.connection(model), check=False
    )


def test_a_request_is_one_span_with_all_its_retries(memory: Memory, providers: Providers) -> None:
    providers[CHIEF].say(Fault("overloaded"), Reply([TextContent("18 degrees.")]))
    message = ask(providers, temperature=0.5)
    [span] = memory.spans()
    assert (span.name, span.kind.name) == (f"chat {CLAUDE.id}", "CLIENT")
    found = dict(span.attributes or {})
    assert found["gen_ai.operation.name"] == "chat"
    assert found["gen_ai.provider.name"] == "anthropic"
    assert found["gen_ai.request.model"] == CLAUDE.id
    assert found["gen_ai.request.max_tokens"] == 1000
    assert found["gen_ai.request.temperature"] == 0.5
    assert found["gen_ai.response.finish_reasons"] == ("stop",)
    assert found["gen_ai.usage.input_tokens"] == message.usage.prompt
    assert found["gen_ai.usage.output_tokens"] == message.usage.output
    assert found["server.address"] == "127.0.0.1"
    assert found["segue.attempts"] == 2
    assert "error.type" not in found
    [failed] = [event for event in span.events if event.name == "segue.attempt.failed"]
    assert dict(failed.attributes or {})["error.type"] == "overloaded"
    assert not [name for name in found if "messages" in name]


def test_a_failed_request_has_the_kind_of_its_error(memory: Memory, providers: Providers) -> None:
    providers[CHIEF].say(Fault("wrong-key"))
    ask(providers)
    [span] = memory.spans()
    assert dict(span.attributes or {})["error.type"] == "authentication"
    assert span.status.status_code.name == "ERROR"


def test_gemini_has_its_own_operation_and_provider(memory: Memory, providers: Providers) -> None:
    ask(providers, "google-generative-ai")
    [span] = memory.spans()
    assert span.name == f"generate_content {MODELS['google-generative-ai'].id}"
    assert dict(span.attributes or {})["gen_ai.provider.name"] == "gcp.gemini"


def test_metrics_have_the_names_of_today(memory: Memory, providers: Providers) -> None:
    ask(providers)
    metrics = memory.metrics()
    assert {"gen_ai.client.operation.duration", "gen_ai.client.token.usage"} <= metrics.keys()
    assert "gen_ai.client.operation.time_to_first_chunk" not in metrics  # for streamed answers only
    types = [point["gen_ai.token.type"] for point in metrics["gen_ai.client.token.usage"]]
    assert sorted(map(str, types)) == ["input", "output"]


def test_metrics_have_the_new_names_on_request(
    memory: Memory, providers: Providers, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OTEL_SEMCONV_STABILITY_OPT_IN", "http,gen_ai_latest_experimental")
    ask(providers)
    metrics = memory.metrics()
    assert {"gen_ai.client.inference.duration", "gen_ai.client.inference.usage.input_tokens"} <= metrics.keys()
    assert not [name for name in metrics if "operation.duration" in name or "token.usage" in name]
    assert "gen_ai.usage.cache_write.input_tokens" in dict(memory.spans()[0].attributes or {})


def test_content_is_recorded_only_where_the_user_wants_it(
    memory: Memory, providers: Providers, monkeypatch: pytest.MonkeyPatch
) -> None:
    for place, in_span, in_event in (
        ("", False, False),
        ("NO_CONTENT", False, False),
        ("SPAN_ONLY", True, False),
        ("EVENT_ONLY", False, True),
        ("SPAN_AND_EVENT", True, True),
    ):
        monkeypatch.setenv("OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT", place)
        memory.logs.clear()
        providers[CHIEF].say(Reply([TextContent("Hm."), ToolCall("toolu_1", "weather", {"city": "Paris"})]))
        ask(providers)
        found = dict(memory.spans()[-1].attributes or {})
        assert ("gen_ai.input.messages" in found) is in_span
        events = [log.log_record for log in memory.logs.get_finished_logs()]
        assert bool(events) is in_event
        for record in [found] * in_span + [dict(event.attributes or {}) for event in events]:
            [asked] = json.loads(str(record["gen_ai.input.messages"]))
            assert asked == {"role": "user", "parts": [{"type": "text", "content": "Weather in Paris?"}]}
            [answer] = json.loads(str(record["gen_ai.output.messages"]))
            assert answer["finish_reason"] == "tool_call"
            assert [part["type"] for part in answer["parts"]] == ["text", "tool_call"]
            assert answer["parts"][1]["arguments"] == {"city": "Paris"}
            assert json.loads(str(record["gen_ai.system_instructions"])) == [{"type": "text", "content": "Be brief."}]


def test_without_a_provider_nothing_is_recorded_and_nothing_is_imported() -> None:
    script = (
        "import sys, segue\n"
        "from segue.testing import StandIn\n"
        "with StandIn('anthropic') as server:\n"
        "    connection = segue.Connection(base_url=server.url, api_key=server.key)\n"
        "    segue.complete_sync('Hello', 'anthropic/claude-sonnet-4-5', connection=connection)\n"
        "print([name for name in sys.modules if name.startswith('opentelemetry')])"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert (done.stdout, done.stderr) == ("[]\n", "")


def test_the_names_of_providers_are_those_of_the_catalog() -> None:
    assert names.PROVIDERS.keys() <= segue.Catalog.default().providers.keys()
