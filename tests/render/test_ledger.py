"""A ledger finds the maker of an answer that a client sends back, and never guesses between two."""

import json
from typing import Any

import pytest
from msgspec.structs import replace
from support.streams import CASES, StreamCase, decoded

import segue
from segue import AssistantMessage, Ledger, Origin, TextContent, ThinkingContent, ToolCall

CLAUDE = Origin("anthropic", "anthropic-messages", "claude-opus-4-5", "a1")
GPT = Origin("openai", "openai-responses", "gpt-5.1", "b2")
ANSWERS = [case for case in CASES if case.events is not None and not case.message.get("errorMessage")]

UNSENT = {"openai-responses/long-id-of-an-item", "openai-responses/reasoning-that-comes-last"}
"""Answers whose signatures a request cannot contain."""


def answer(origin: Origin, *content: Any) -> AssistantMessage:
    made = AssistantMessage(content=[*content], protocol="", provider="", model="", stop_reason="stop")
    return origin.mark(made)


def as_read(message: AssistantMessage) -> AssistantMessage:
    """The same answer in a body, which does not name its maker."""
    return replace(message, provider="", model="", endpoint=None)


def test_an_answer_is_found_by_its_signature_whatever_else_the_client_changed() -> None:
    ledger = Ledger()
    ledger.remember(answer(CLAUDE, ThinkingContent("Hm.", "c2ln"), TextContent("Done.")))
    assert ledger.origin_of(as_read(answer(CLAUDE, ThinkingContent("", "c2ln"), TextContent("Other.")))) == CLAUDE


def test_encrypted_content_is_found_without_the_id_of_its_item() -> None:
    item = {"id": "rs_1", "type": "reasoning", "summary": [], "encrypted_content": "gAAAA", "status": None}
    ledger = Ledger()
    ledger.remember(answer(GPT, ThinkingContent("", json.dumps(item))))
    bare = {"summary": [], "type": "reasoning", "encrypted_content": "gAAAA"}
    assert ledger.origin_of(as_read(answer(GPT, ThinkingContent("", json.dumps(bare))))) == GPT


def test_a_signature_in_the_alphabet_for_urls_is_the_same_signature() -> None:
    gemini = Origin("google", "google-generative-ai", "gemini-3-pro")
    ledger = Ledger()
    ledger.remember(answer(gemini, ToolCall("1", "f", {}, "a+b/")))
    assert ledger.origin_of(as_read(answer(gemini, ToolCall("2", "f", {}, "a-b_")))) == gemini


def test_a_call_is_found_by_id_name_and_arguments_in_any_order() -> None:
    ledger = Ledger()
    ledger.remember(answer(GPT, ToolCall("call_1", "f", {"a": 1, "b": 2})))
    assert ledger.origin_of(as_read(answer(GPT, ToolCall("call_1", "f", {"b": 2, "a": 1})))) == GPT
    assert ledger.origin_of(as_read(answer(GPT, ToolCall("call_1", "f", {"a": 1})))) is None


def test_a_text_or_a_call_that_two_origins_used_identifies_neither() -> None:
    ledger = Ledger()
    for origin in (CLAUDE, GPT):
        ledger.remember(answer(origin, TextContent("Done.")))
        ledger.remember(answer(origin, ToolCall("call_0", "f", {})))
    assert ledger.origin_of(as_read(answer(GPT, TextContent("Done.")))) is None
    assert ledger.origin_of(as_read(answer(GPT, ToolCall("call_0", "f", {})))) is None


def test_an_answer_with_signatures_of_two_makers_has_no_known_origin() -> None:
    ledger = Ledger()
    ledger.remember(answer(CLAUDE, ThinkingContent("", "one")))
    ledger.remember(answer(replace(CLAUDE, endpoint="other"), ThinkingContent("", "two")))
    assert ledger.origin_of(as_read(answer(CLAUDE, ThinkingContent("", "one"), ThinkingContent("", "two")))) is None


def test_the_name_of_a_reasoning_field_is_not_a_signature() -> None:
    kimi = Origin("moonshot", "openai-completions", "kimi-k2")
    ledger = Ledger()
    ledger.remember(answer(kimi, ThinkingContent("Hm.", "reasoning_content")))
    other = answer(replace(kimi, model="glm"), ThinkingContent("Well.", "reasoning_content"))
    assert ledger.origin_of(as_read(other)) is None


def test_the_oldest_traces_are_forgotten_first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("segue.render.ledger.MOST", 20)
    ledger = Ledger()
    for number in range(50):
        ledger.remember(answer(GPT, TextContent(f"text {number}")))
        assert len(ledger) <= 20
    assert ledger.origin_of(answer(GPT, TextContent("text 0"))) is None
    assert ledger.origin_of(answer(GPT, TextContent("text 49"))) == GPT


def test_entries_may_be_kept_elsewhere() -> None:
    kept: dict[str, Origin] = {}
    Ledger(kept).remember(answer(GPT, TextContent("Hello.")))
    assert Ledger(kept).origin_of(answer(GPT, TextContent("Hello."))) == GPT


@pytest.mark.parametrize("case", ANSWERS, ids=repr)
def test_every_recorded_signature_is_found_in_the_body_that_contains_it(case: StreamCase) -> None:
    _, message = decoded(case.request(), case.pieces())
    kept: dict[str, Origin] = {}
    Ledger(kept).remember(message)
    signed = Ledger({trace: origin for trace, origin in kept.items() if trace.startswith("s")})
    history = segue.Context(messages=[segue.UserMessage("Go on."), message], tools=case.context().tools)
    body = segue.export(history, case.protocol).body
    back = [each for each in segue.ingest(body, case.protocol).messages if isinstance(each, AssistantMessage)]
    found = {signed.origin_of(each) for each in back} - {None}
    sent = len(signed) and back and case.name not in UNSENT
    assert found == ({Origin.of(message)} if sent else set())
