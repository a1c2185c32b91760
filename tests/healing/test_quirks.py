"""An endpoint with a quirk that the catalog does not know: the refused request is changed, sent once more, and the fact
is used from then on."""

import json
from typing import Any

import pytest
from msgspec.structs import replace
from support.providers import reach
from support.quirks import QUESTION, QUIRKS, Quirk, walk

import segue
from segue import AssistantMessage, Connection, Context, Facts, TextContent, ThinkingContent, UserMessage
from segue.healing import REPORT
from segue.testing import Reply, StandIn


def ask(quirk: Quirk, server: StandIn, connection: Connection) -> AssistantMessage:
    model = segue.Catalog.default().resolve(quirk.model, quirk.protocol)
    return segue.complete_sync(quirk.context, model, quirk.options, connection=connection, check=False)


@pytest.mark.parametrize("quirk", QUIRKS, ids=repr)
def test_an_unknown_quirk_costs_one_more_request_the_first_time_and_none_afterwards(quirk: Quirk) -> None:
    provider = quirk.model.partition("/")[0]
    with StandIn(provider, protocol=quirk.protocol, refuses=quirk.refuses) as server:
        connection = reach(server, facts=Facts())
        first = ask(quirk, server, connection)
        assert first.stop_reason == "stop", first.error_message
        assert len(server.requests) == quirk.requests[0], server.refused
        second = ask(quirk, server, connection)
        assert second.stop_reason == "stop"
        assert len(server.requests) - quirk.requests[0] == quirk.requests[1], server.refused
        assert quirk.shows(server.requests[-1]), server.requests[-1]
    for message, requests in ((first, quirk.requests[0]), (second, quirk.requests[1])):
        reports = [each for each in message.diagnostics if each.type == REPORT]
        assert len(reports) == requests - 1  # a resend is always reported
        for report in reports:
            assert report.details is not None and quirk.cure in report.details["cures"]


def test_thinking_that_the_endpoint_refuses_for_this_request_is_left_out_each_time() -> None:
    """Row 3: an empty thinking block that the endpoint itself has signed."""

    def refuses(body: dict[str, Any]) -> str | None:
        found = any(each.get("type") == "thinking" and not each["thinking"] for each in walk(body))
        return "messages.1.content.0.thinking: each thinking block must contain thinking" if found else None

    script = [Reply([ThinkingContent(""), TextContent("Nothing.")]), "Yes.", "Sure."]
    with StandIn("anthropic", script=script, refuses=refuses) as server:
        connection = reach(server, facts=Facts())
        model = "anthropic/claude-sonnet-4-5"
        first = segue.complete_sync(Context(messages=[QUESTION]), model, connection=connection)
        context = Context(messages=[QUESTION, first, UserMessage("Really?")])
        assert segue.complete_sync(context, model, connection=connection).text == "Yes."
        assert len(server.requests) == 3
        assert segue.complete_sync(context, model, connection=connection).text == "Sure."
        assert len(server.requests) == 5


def test_thinking_that_is_bound_to_another_conversation_is_left_out_from_then_on() -> None:
    """Row 22: the catalog does not know that this model binds its thinking."""

    def refuses(body: dict[str, Any]) -> str | None:
        bound = any(each.get("type") == "thinking" and "signature" in each for each in walk(body))
        where = "messages.1.content.0: Invalid `signature` in `thinking` block."
        return f"{where} The block is bound to a different conversation." if bound else None

    script = [Reply([ThinkingContent("Hm."), TextContent("Nothing.")]), "Yes.", "Sure."]
    facts = Facts()
    with StandIn("anthropic", script=script, refuses=refuses) as server:
        connection = reach(server, facts=facts)
        model = "anthropic/claude-opus-4-7"
        first = segue.complete_sync(Context(messages=[QUESTION]), model, connection=connection)
        context = Context(messages=[QUESTION, first, UserMessage("Really?")])
        assert segue.complete_sync(context, model, connection=connection).text == "Yes."
        assert segue.complete_sync(context, model, connection=connection).text == "Sure."
        assert len(server.requests) == 4
    assert {fact.field for fact in facts} == {"prefix_bound"}


def test_an_item_that_lost_its_summary_is_sent_with_an_empty_one() -> None:
    """Row 23 is never needed here: whatever was stored, segue writes a summary. SDKs do not (tests/transport)."""

    def refuses(body: dict[str, Any]) -> str | None:
        lacks = any(each.get("type") == "reasoning" and "summary" not in each for each in walk(body))
        return "`input[1]` missing required field `summary`" if lacks else None

    script = [Reply([ThinkingContent("Hm."), TextContent("Nothing.")]), "Yes."]
    with StandIn("openai", script=script, refuses=refuses) as server:
        connection, model = reach(server, facts=Facts()), "openai/gpt-5.1"
        first = segue.complete_sync(Context(messages=[QUESTION]), model, connection=connection)
        thinking = first.content[0]
        assert isinstance(thinking, ThinkingContent) and thinking.thinking_signature is not None
        item = json.loads(thinking.thinking_signature)
        del item["summary"]
        lost = replace(first, content=[ThinkingContent("", json.dumps(item)), *first.content[1:]])
        context = Context(messages=[QUESTION, lost, UserMessage("Really?")])
        assert segue.complete_sync(context, model, connection=connection).text == "Yes."
        assert len(server.requests) == 2 and server.refused == []
        [sent] = [each for each in walk(server.requests[-1]) if each.get("type") == "reasoning"]
    assert sent == {**item, "summary": []}
