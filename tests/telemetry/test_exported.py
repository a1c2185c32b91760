"""Telemetry through the real OTLP exporters to a receiver on loopback, by the conventions for generative AI."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace
from support.gateways import AnthropicTalk, Served
from support.providers import MODELS
from support.quirks import QUIRKS
from support.sessions import QUICK, Providers, run, weather
from telemetry.conftest import Receiver, values

import segue
from segue import Agent, Failover, Session
from segue.gateway.config import Member, RouteSetting
from segue.session import SQLiteStore
from segue.testing import Fault, Reply, StandIn
from segue.tools import tool
from segue.types import TextContent, ToolCall, Usage

CHIEF, SCOUT = "anthropic-messages", "mistral-chat"
CLAUDE, MISTRAL = MODELS[CHIEF], MODELS[SCOUT]
CONTENT = "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT"
LATEST = "gen_ai_latest_experimental"
QUESTION = "How is the weather in Timbuktu?"


@tool(name="weather")
def weather_tool(city: str) -> str:
    """Current weather."""
    return weather(city)


def work(providers: Providers) -> Agent:
    """A run with a sub-agent, a tool, and a failover from Claude to Mistral."""
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
        outcome = chief.run_sync(QUESTION)
        chief.close()
    assert outcome.text == "Done.", outcome
    return chief


def parents(spans: list[Any]) -> list[tuple[str, str]]:
    by_id = {span.span_id: span for span in spans}
    return [(span.name, by_id[span.parent_span_id].name if span.parent_span_id else "") for span in spans]


def test_a_switch_a_tool_and_a_sub_agent_are_spans_below_each_other(receiver: Receiver, providers: Providers) -> None:
    chief = work(providers)
    spans = receiver.spans()
    found = parents(spans)
    mistral, claude = f"chat {MISTRAL.id}", f"chat {CLAUDE.id}"
    assert sorted(found) == sorted(
        [
            ("invoke_agent", ""),
            (claude, "invoke_agent"),  # the call of the sub-agent
            ("execute_tool scout", "invoke_agent"),
            ("invoke_agent scout", "execute_tool scout"),
            (mistral, "invoke_agent scout"),
            ("execute_tool weather", "invoke_agent scout"),
            (mistral, "invoke_agent scout"),
            (claude, "invoke_agent"),  # fails
            (mistral, "invoke_agent"),
        ]
    )
    assert len({span.trace_id for span in spans}) == 1
    [switched] = [span for span in spans if "segue.switch.to" in values(span.attributes)]
    attributes = values(switched.attributes)
    assert switched.name == mistral
    assert (attributes["segue.switch.from"], attributes["segue.switch.to"]) == (CLAUDE.ref, MISTRAL.ref)
    assert (attributes["segue.switch.reason"], attributes["segue.route.policy"]) == ("failover", "failover")
    assert attributes["gen_ai.conversation.id"] == chief.session.id
    assert attributes["gen_ai.provider.name"] == "mistral_ai"
    assert attributes["segue.changes.codes"] == ["id-projected"]
    assert (attributes["segue.changes.lost"], attributes["segue.changes.adapted"]) == (0, 1)
    assert "segue.switched" in [event.name for event in switched.events]
    [failed] = [span for span in spans if values(span.attributes).get("error.type") == "overloaded"]
    assert failed.name == claude
    assert [event.name for event in failed.events] == ["segue.attempt.failed"]


@pytest.mark.parametrize("latest", [False, True])
def test_every_metric_of_the_conventions_is_exported(
    latest: bool, receiver: Receiver, providers: Providers, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OTEL_SEMCONV_STABILITY_OPT_IN", LATEST if latest else "")
    work(providers)
    metrics = receiver.metrics()
    own = {"segue.changes", "segue.switches"}
    if latest:
        usage = {f"usage.{name}_tokens" for name in ("input", "output", "cache_read.input", "cache_write.input")}
        client = {"duration", "time_to_first_chunk", "time_per_output_chunk", *usage}
        others = {"gen_ai.execute_tool.duration", "gen_ai.invoke_agent.duration"}
        assert metrics.keys() == {f"gen_ai.client.inference.{name}" for name in client} | others | own
        assert [values(point.attributes)["gen_ai.tool.name"] for point in metrics["gen_ai.execute_tool.duration"]]
    else:
        client = {"duration", "time_to_first_chunk", "time_per_output_chunk"}
        expected = {f"gen_ai.client.operation.{name}" for name in client} | {"gen_ai.client.token.usage"}
        assert metrics.keys() == expected | own
        kinds = {values(point.attributes)["gen_ai.token.type"] for point in metrics["gen_ai.client.token.usage"]}
        assert kinds == {"input", "output"}
        durations = [values(point.attributes) for point in metrics["gen_ai.client.operation.duration"]]
        assert {each.get("error.type") for each in durations} == {None, "overloaded"}
        assert all(each["gen_ai.provider.name"] in ("anthropic", "mistral_ai") for each in durations)
    [switch] = metrics["segue.switches"]
    assert values(switch.attributes) == {"reason": "failover"} and switch.as_int == 1
    [change] = metrics["segue.changes"]
    assert values(change.attributes) == {"code": "id-projected", "lossy": False, "provider": "mistral_ai"}
    assert change.as_int == 1


@pytest.mark.parametrize("place", ["", "NO_CONTENT", "SPAN_ONLY", "EVENT_ONLY", "SPAN_AND_EVENT"])
def test_content_is_exported_where_it_is_switched_on_and_nowhere_else(
    place: str, receiver: Receiver, providers: Providers, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(CONTENT, place)
    work(providers)
    assert (QUESTION.encode() in receiver.data()) is (place not in ("", "NO_CONTENT"))
    in_spans = [values(span.attributes) for span in receiver.spans() if span.name.startswith("chat")]
    in_events = [values(log.attributes) for log in receiver.logs()]
    shown = {"SPAN_ONLY": in_spans, "EVENT_ONLY": in_events, "SPAN_AND_EVENT": [*in_spans, *in_events]}.get(place, [])
    assert sum("gen_ai.input.messages" in each for each in [*in_spans, *in_events]) == len(shown)
    assert bool(in_events) is ("EVENT" in place)
    assert all(log.event_name == "gen_ai.client.inference.operation.details" for log in receiver.logs())
    for each in shown:
        for message in json.loads(each["gen_ai.input.messages"]):
            check_message(message)
        [answer] = json.loads(each["gen_ai.output.messages"])
        check_message(answer)
        assert answer["finish_reason"] in ("stop", "tool_call", "error")


PARTS = {
    "text": {"content": str},
    "tool_call": {"id": str, "name": str, "arguments": dict},
    "tool_call_response": {"id": str, "response": str},
}
"""Fields of the parts that occur, by the schemas of the conventions (`gen-ai-input-messages.json`, seen 2026-11)."""


def check_message(message: dict[str, Any]) -> None:
    assert message["role"] in ("system", "user", "assistant", "tool")
    for part in message["parts"]:
        fields = PARTS[part["type"]]
        assert {name: type(part[name]) for name in fields} == fields
        assert part.keys() == fields.keys() | {"type"}


def test_a_compaction_is_on_the_request_that_follows(receiver: Receiver, providers: Providers) -> None:
    small = replace(CLAUDE, context_window=2_000, max_tokens=500)
    providers[CHIEF].say(*[Reply([TextContent("So far: " + "and so on. " * 40)], usage=Usage())] * 30)

    async def talk() -> None:
        with SQLiteStore(":memory:") as store:
            session = Session.create(small, store=store, connection=providers.connection)
            for turn in range(8):
                await session.ask(f"Question {turn}: " + "and so on. " * 40)

    run(talk())
    noted = [span for span in receiver.spans() if values(span.attributes).get("gen_ai.conversation.compacted")]
    assert noted
    assert "segue.compacted" in [event.name for event in noted[0].events]


def test_a_cure_is_in_the_span_and_counted(receiver: Receiver) -> None:
    quirk = next(each for each in QUIRKS if each.model.startswith("anthropic/") and each.requests == (2, 1))
    with StandIn("anthropic", refuses=quirk.refuses) as server:
        model = segue.Catalog.default().resolve(quirk.model, quirk.protocol)
        connection = segue.Connection(base_url=server.url, api_key=server.key)
        segue.complete_sync(quirk.context, model, quirk.options, connection=connection, check=False)
    [span] = receiver.spans()
    attributes = values(span.attributes)
    assert attributes["segue.cure"] == quirk.cure and attributes["segue.attempts"] == 2
    assert [event.name for event in span.events] == ["segue.attempt.failed", "segue.cured"]
    [cured] = receiver.metrics()["segue.cures"]
    assert values(cured.attributes) == {"cure": quirk.cure, "provider": "anthropic"}


@pytest.fixture
def served(tmp_path: Path) -> Iterator[Served]:
    """A gateway with a route that fails over from Claude to Mistral."""
    route = RouteSetting(name="best", models=(Member(model=CLAUDE.ref), Member(model=MISTRAL.ref)))
    with Served(tmp_path, {CHIEF: CLAUDE, SCOUT: MISTRAL}, routes=(route,)) as found:
        yield found


def test_a_request_of_the_gateway_is_a_span_below_that_of_its_client(receiver: Receiver, served: Served) -> None:
    served[CHIEF].say(*[Fault("overloaded")] * 5)
    served[SCOUT].say(Reply([TextContent("Hello.")]))
    talk = AnthropicTalk(served.url)  # whose SDK has spans of its own, and sends their ids
    assert talk.say("best", QUESTION, stream=True) == "Hello."
    with pytest.raises(Exception, match="no-such-model"):
        talk.say("no-such-model", QUESTION)
    served.stop()  # a span ends after the last byte
    spans = receiver.spans()
    of_server = {span.name: span for span in spans if span.kind == 2}  # SPAN_KIND_SERVER
    assert of_server.keys() == {"chat best", "chat"}
    span = of_server["chat best"]
    assert ("chat best", "anthropic.messages.create") in parents(spans)
    attributes = values(span.attributes)
    assert attributes["gen_ai.request.model"] == "best"
    assert attributes["gen_ai.response.model"] == MISTRAL.ref
    assert attributes["segue.gateway.protocol"] == CHIEF and attributes["segue.gateway.lane"] == "rendered"
    assert attributes["http.response.status_code"] == 200
    assert attributes["segue.attempts"] >= 2
    below = [each for each in spans if each.parent_span_id == span.span_id]
    assert [each.name for each in below] == [f"chat {CLAUDE.id}", f"chat {MISTRAL.id}"]
    assert all(each.kind == 3 for each in below)  # SPAN_KIND_CLIENT
    refused = of_server["chat"]
    assert values(refused.attributes)["http.response.status_code"] == 404
    assert values(refused.attributes)["error.type"] == "model-not-found" and refused.status.code == 2
    metrics = receiver.metrics()
    assert len(metrics["gen_ai.server.request.duration"]) == 2
    [first] = metrics["gen_ai.server.time_to_first_token"]
    assert values(first.attributes)["gen_ai.request.model"] == "best"
    assert QUESTION.encode() not in receiver.data()
    assert b"no-such-model" not in refused.SerializeToString()
