"""Spans and metrics of requests, switches, compactions, tools and agents, by the conventions for generative AI."""

import json
import subprocess
import sys
from typing import Any

import pytest
from msgspec.structs import replace
from support.providers import CONTEXT, MODELS, OPTIONS
from support.sessions import QUICK, Providers, run, weather
from telemetry.conftest import Memory, Receiver

import segue
from segue import Agent, Failover, Session
from segue.session import SQLiteStore
from segue.testing import Fault, Reply
from segue.tools import tool
from segue.types import TextContent, ToolCall, Usage

CHIEF, SCOUT = "anthropic-messages", "mistral-chat"
CLAUDE, MISTRAL = MODELS[CHIEF], MODELS[SCOUT]


@tool(name="weather")
def weather_tool(city: str) -> str:
    """Current weather."""
    return weather(city)


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
    assert "gen_ai.client.operation.time_to_first_chunk" in metrics
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


def test_a_switch_a_tool_and_a_sub_agent_through_the_exporter(receiver: Receiver, providers: Providers) -> None:
    providers[CHIEF].say(
        Reply([ToolCall("toolu_1", "scout", {"task": "look"})]), Fault("overloaded"), Fault("overloaded")
    )
    providers[SCOUT].say(
        Reply([ToolCall("abcdefgh1", "weather", {"city": "Paris"})]),
        Reply([TextContent("18 C")]),
        Reply([TextContent("Done.")]),
    )
    scout = Agent(MISTRAL, [weather_tool], connection=providers.connection)
    router = Failover([CLAUDE, MISTRAL], patience=replace(QUICK, retries=replace(QUICK.retries, count=0)))
    with SQLiteStore(":memory:") as store:
        chief = Agent(router, [scout.as_tool("scout", "looks")], store=store, connection=providers.connection)
        outcome = chief.run_sync("How is the weather?")
        chief.close()
    assert outcome.text == "Done.", outcome
    spans: list[Any] = receiver.spans()
    by_id = {span.span_id: span for span in spans}
    parents = [(span.name, by_id[span.parent_span_id].name if span.parent_span_id else "") for span in spans]
    mistral, claude = f"chat {MISTRAL.id}", f"chat {CLAUDE.id}"
    assert ("invoke_agent", "") in parents
    assert ("execute_tool scout", "invoke_agent") in parents
    assert ("invoke_agent scout", "execute_tool scout") in parents
    assert ("execute_tool weather", "invoke_agent scout") in parents
    assert (claude, "invoke_agent") in parents and (mistral, "invoke_agent") in parents
    assert parents.count((mistral, "invoke_agent scout")) == 2

    def attributes(span: Any) -> dict[str, Any]:
        return {each.key: each.value.string_value or each.value.int_value for each in span.attributes}

    [switched] = [span for span in spans if "segue.switch.to" in attributes(span) and span.name == mistral]
    found = attributes(switched)
    assert (found["segue.switch.from"], found["segue.switch.to"]) == (CLAUDE.ref, MISTRAL.ref)
    assert found["segue.switch.reason"] == "failover"
    assert found["segue.route.policy"] == "failover"
    assert found["gen_ai.conversation.id"] == chief.session.id
    assert "segue.switched" in [event.name for event in switched.events]
    failed = [span for span in spans if span.name == claude and attributes(span).get("error.type") == "overloaded"]
    assert failed
    assert b"How is the weather?" not in b"".join(receiver.bodies)


def test_a_compaction_is_noted_on_the_request_that_follows(memory: Memory, providers: Providers) -> None:
    small = replace(CLAUDE, context_window=2_000, max_tokens=500)

    providers[CHIEF].say(*[Reply([TextContent("So far: " + "and so on. " * 40)], usage=Usage())] * 30)

    async def talk() -> None:
        with SQLiteStore(":memory:") as store:
            session = Session.create(small, store=store, connection=providers.connection)
            for turn in range(8):
                await session.ask(f"Question {turn}: " + "and so on. " * 40)

    run(talk())
    noted = [span for span in memory.spans() if (span.attributes or {}).get("gen_ai.conversation.compacted")]
    assert noted
    assert "segue.compacted" in [event.name for event in noted[0].events]


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
