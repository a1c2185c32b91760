"""``export`` is the inverse of ``ingest``: it keeps everything that a protocol can hold, and reports the rest."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from conftest import SOAK
from hypothesis import given, settings, strategies as st
from support import cases
from support.exports import FORMS, expected, plain_tools, read, same
from support.journeys import CONVERSATIONS, IMAGE
from support.targets import built_in
from support.torn import torn_contexts
from support.type_judges import JUDGES
from wire.mistral_chat.judge import sdk_faults
from wire.openai_completions.judge import _without_extensions

import segue
from segue.errors import FormatError, ModelError
from segue.render import Export, export, ingest
from segue.types import (
    AssistantMessage,
    Context,
    Message,
    TextContent,
    ThinkingContent,
    ToolCall,
    ToolDefinition,
    ToolResultMessage,
    UserMessage,
)
from segue.types.texts import BETWEEN, CLOSING, EMPTY_RESULT, IMAGES_BELOW, MOVED_IMAGES, OPENING
from segue.wire.registry import PROTOCOLS

FILLERS = (OPENING, CLOSING, BETWEEN, EMPTY_RESULT, IMAGES_BELOW, MOVED_IMAGES)
FRAMES = {
    "anthropic-messages": {"system", "messages", "tools"},
    "openai-completions": {"messages", "tools"},
    "openai-responses": {"instructions", "input", "tools"},
    "google-generative-ai": {"systemInstruction", "contents", "tools"},
    "bedrock-converse": {"system", "messages", "toolConfig"},
    "mistral-chat": {"messages", "tools"},
}
OWN = {
    "anthropic-messages": "anthropic/claude-sonnet-4-5",
    "openai-completions": "moonshot/kimi-k2.5",
    "openai-responses": "openai/gpt-5.4",
    "google-generative-ai": "google/gemini-3-pro-preview",
    "bedrock-converse": "amazon-bedrock/anthropic.claude-sonnet-4-5-20250929-v1:0",
    "mistral-chat": "mistral/magistral-medium-latest",
}
EVERYTHING = {
    **CONVERSATIONS,
    **{f"{folder}/{name}": cases.context(case) for folder in ("corpus", "scenarios")
       for name, case in cases.load(folder).items() if "messages" in case},
}  # fmt: skip


def checked(context: Context, protocol: str) -> Export:
    """The export, after it was read again and compared."""
    exported = export(context, protocol)
    again = ingest(exported.body, protocol, now=0)
    assert ingest(exported.json(), protocol, now=0) == again
    assert exported.body.keys() <= FRAMES[protocol]
    wanted, found = expected(context, protocol, exported.changes), read(again, protocol)
    assert same(wanted, found, protocol, exported.changes), (wanted, found)
    stored = Context.from_json(context.to_json())
    assert again.system_prompt == stored.system_prompt
    assert plain_tools(again.tools) == plain_tools(stored.tools)
    return exported


# -- the types of the SDKs ---------------------------------------------------------------------------------------------


def _anthropic(body: Any) -> list[str]:
    return JUDGES["anthropic_messages/shape.json"](body | {"model": "m", "max_tokens": 1})


def _completions(body: Any) -> list[str]:
    """OpenAI's types, without what only others of the family have: reasoning, names of results, and images in them."""
    fields = {"reasoning_content", "reasoning", "reasoning_details"}
    body = _without_extensions(body | {"model": "m"}, fields, set(), True)
    for message in body["messages"]:
        if message["role"] == "tool" and isinstance(message["content"], list):
            message["content"] = [part for part in message["content"] if part["type"] != "image_url"]
    return JUDGES["openai_completions/shape.json"](body)


def _mistral(body: Any) -> list[str]:
    return sdk_faults(body | {"model": "m"})


def _bedrock(body: Any) -> list[str]:
    """The types, without limits of length and patterns: names and ids are exported unchanged."""
    found = JUDGES["bedrock_converse/shape.json"](body)
    return [
        fault for fault in found if not fault.startswith(("Parameter val", "Invalid length")) and "match" not in fault
    ]


FAULTS: dict[str, Callable[[Any], list[str]]] = {
    "anthropic-messages": _anthropic,
    "openai-completions": _completions,
    "openai-responses": lambda body: JUDGES["openai_responses/shape.json"](body | {"model": "m"}),
    "google-generative-ai": JUDGES["google_generative_ai/shape.json"],
    "bedrock-converse": _bedrock,
    "mistral-chat": _mistral,
}


# -- any conversation --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize("name", EVERYTHING)
def test_conversations_of_every_origin_are_read_back(name: str, protocol: str) -> None:
    exported = checked(EVERYTHING[name], protocol)
    assert FAULTS[protocol](exported.body) == []
    assert not [text for text in FILLERS if text in exported.json().decode() and text not in _texts(EVERYTHING[name])]


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_torn_conversations_are_read_back(protocol: str) -> None:
    model = built_in().resolve(OWN[protocol])

    @settings(max_examples=2000 if SOAK else 150)
    @given(torn_contexts(model))
    def holds(context: Context) -> None:
        exported = checked(context, protocol)
        assert FAULTS[protocol](exported.body) == []
        assert export(context, protocol).json() == exported.json()

    holds()


def _texts(context: Context) -> str:
    return context.to_json().decode()
