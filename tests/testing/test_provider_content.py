"""What the tools of a provider leave in an answer: the stand-ins send it as the provider does, whole and streamed, and
accept it back. The official SDKs read the answers, independently of segue."""

import json
from typing import Any

import anthropic
import openai
import pytest
from google import genai
from google.genai import types
from support.provided import CITATIONS, RUNS

import segue
from segue.testing import Reply, StandIn
from segue.types import AssistantContent, Context, Options, ProviderContent, TextContent, UserMessage
from segue.wire.openai_responses.shapes import ITEMS

MODELS = {
    "anthropic-messages": "anthropic/claude-opus-4-8",
    "openai-responses": "openai/gpt-5.6-terra",
    "google-generative-ai": "google/gemini-3-pro-preview",
}


def unsigned(raw: dict[str, Any]) -> dict[str, Any]:
    """A block without a made-up signature: the stand-in of Google refuses those that it has not issued."""
    return {name: value for name, value in raw.items() if name != "thoughtSignature"}


def cited(protocol: str, text: str) -> TextContent:
    signatures = CITATIONS.get(protocol)
    return TextContent(text, signatures[-1] if signatures else None)


OF_CLIENTS = ("call_output", "_response")
"""The ends of the kinds of items that answers never have."""
SCRIPTS: dict[str, tuple[str, list[AssistantContent]]] = {
    f"{protocol} {run(1)[0].kind} {number}": (
        protocol,
        [*(ProviderContent(unsigned(block.value), block.kind) for block in run(1)), cited(protocol, "It is 42.")],
    )
    for protocol, runs in RUNS.items()
    for number, run in enumerate(runs)
    if not any(block.kind.endswith(OF_CLIENTS) for block in run(1))
}


def raws(content: list[AssistantContent]) -> list[Any]:
    """The blocks as they came. The stand-in of OpenAI gives its own ids to items, and accepts no others back."""
    blocks = [block.value for block in content if isinstance(block, ProviderContent)]
    return [without_id(block) if block.get("type") in ITEMS else block for block in blocks]


def without_id(item: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in item.items() if name != "id"}


@pytest.mark.parametrize("streams", [False, True])
@pytest.mark.parametrize("name", SCRIPTS)
def test_blocks_arrive_as_they_were_scripted_and_are_accepted_back(name: str, streams: bool) -> None:
    protocol, content = SCRIPTS[name]
    model = segue.get_model(MODELS[protocol])
    with StandIn(model.provider, protocol=protocol, script=[Reply(content), Reply(content), "Fine."]) as server:
        reached, connection = model.replace(base_url=server.url), segue.Connection(api_key=server.key)
        context = Context([UserMessage("What is it?")])
        answer = segue.complete_sync(context, reached, Options(stream=streams), connection=connection)
        assert raws(answer.content) == raws(content) and answer.text == "It is 42."
        later = Context([*context.messages, answer, UserMessage("And now?")])
        request = segue.encode(later, reached)
        assert not [change for change in request.changes if change.lossy]
        assert segue.complete_sync(later, reached, Options(stream=streams), connection=connection).stop_reason == "stop"
        assert server.refused == []


@pytest.mark.parametrize("streams", [False, True])
@pytest.mark.parametrize("name", SCRIPTS)
def test_the_official_sdk_reads_the_same_blocks(name: str, streams: bool) -> None:
    protocol, content = SCRIPTS[name]
    provider = segue.get_model(MODELS[protocol]).provider
    with StandIn(provider, protocol=protocol, script=[Reply(content)]) as server:
        found = READERS[protocol](server, streams)
    wanted = raws(content)
    assert len(found) == len(wanted)
    for block, raw in zip(found, wanted, strict=True):
        assert contains(block, raw), (block, raw)


def contains(found: Any, wanted: Any) -> bool:
    """Whether everything in ``wanted`` is in ``found``: the types of the SDKs add fields that are null."""
    if isinstance(wanted, dict):
        return isinstance(found, dict) and all(contains(found.get(name), value) for name, value in wanted.items())
    if isinstance(wanted, list):
        return isinstance(found, list) and len(found) == len(wanted) and all(map(contains, found, wanted))
    return bool(found == wanted)


def read_by_anthropic(server: StandIn, streams: bool) -> list[Any]:
    client = anthropic.Anthropic(api_key=server.key, base_url=server.url, max_retries=0)
    asked: Any = {"model": "claude-opus-4-8", "max_tokens": 100, "messages": [{"role": "user", "content": "Go."}]}
    if streams:
        with client.messages.stream(**asked) as stream:
            message = stream.get_final_message()
    else:
        message = client.messages.create(**asked)
    assert message.content[-1].type == "text" and message.content[-1].citations
    return [block.to_dict(mode="json") for block in message.content[:-1]]


def read_by_openai(server: StandIn, streams: bool) -> list[Any]:
    client = openai.OpenAI(api_key=server.key, base_url=server.url, max_retries=0)
    if streams:
        with client.responses.stream(model="gpt-5.6-terra", input="Go.", store=False) as stream:
            response: Any = stream.get_final_response()
    else:
        response = client.responses.create(model="gpt-5.6-terra", input="Go.", store=False)
    *items, message = response.output
    assert message.content[0].text == "It is 42." and message.content[0].annotations
    return [item.to_dict(mode="json") for item in items]


def read_by_google(server: StandIn, streams: bool) -> list[Any]:
    client = genai.Client(api_key=server.key, http_options=types.HttpOptions(base_url=server.url))
    asked: Any = {"model": "gemini-3-pro-preview", "contents": "Go."}
    models = client.models
    answers = list(models.generate_content_stream(**asked)) if streams else [models.generate_content(**asked)]
    parts = [part for answer in answers for part in answer.candidates[0].content.parts or ()]  # type: ignore[index, union-attr]
    assert "".join(part.text or "" for part in parts) == "It is 42."
    found = [part for part in parts if part.text is None]
    return [json.loads(part.model_dump_json(by_alias=True, exclude_none=True)) for part in found]


READERS = {
    "anthropic-messages": read_by_anthropic,
    "openai-responses": read_by_openai,
    "google-generative-ai": read_by_google,
}
