"""Files, sounds and searches go from vendor to vendor, and go back unchanged to the one that made them."""

import json

import msgspec
import pytest
from support.targets import distinct
from support.type_judges import JUDGES

import segue
from segue.types import (
    AssistantMessage,
    ChangeCode,
    Context,
    FileContent,
    Message,
    Model,
    ProviderContent,
    TextContent,
    UserMessage,
)

PDF = FileContent(b"%PDF-1.4 numbers", "application/pdf", name="report.pdf")
CLIP = FileContent(b"RIFF\0\0\0\0WAVE", "audio/wav", name="clip.wav")
SEARCH = {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {"query": "numbers"}}
HIT = {"type": "web_search_result", "url": "https://example.org/n", "title": "Numbers", "encrypted_content": "EqgfCioI"}
FOUND = {"type": "web_search_tool_result", "tool_use_id": "srvtoolu_1", "content": [HIT]}
CITATION = {
    "type": "web_search_result_location",
    "url": "https://example.org/n",
    "title": "Numbers",
    "encrypted_index": "Eo8B",
    "cited_text": "42",
}
CLAUDE = segue.get_model("anthropic/claude-opus-4-8")
SEARCHED: list[tuple[ChangeCode, int, int | None]] = [
    # What every other model gets of the search: two texts in place of the blocks, and a text without its citation.
    ("provider-content-as-text", 1, 0),
    ("provider-content-as-text", 1, 1),
    ("citations-dropped", 1, 2),
]
DEAF: list[tuple[ChangeCode, int, int | None]] = [("file-omitted", 0, 2)]
JOURNEY: dict[str, list[tuple[ChangeCode, int, int | None]]] = {
    # The whole report of each model: what it does not get as it is, by code, message and block.
    "openai/gpt-5.6-terra": DEAF + SEARCHED,
    "google/gemini-3-pro-preview": [*SEARCHED, ("file-renamed", 0, None), ("file-renamed", 0, None)],
    "mistral/mistral-large-latest": DEAF + SEARCHED,
    "amazon-bedrock/us.anthropic.claude-sonnet-4-5-20250929-v1:0": DEAF + SEARCHED,
}
HELD = {
    # How the PDF looks in a body of each protocol.
    "openai-responses": '"type":"input_file"',
    "google-generative-ai": '"inlineData":{"mimeType":"application/pdf"',
    "mistral-chat": '"type":"document_url"',
    "bedrock-converse": '"document":{"format":"pdf","name":"report"',
    "anthropic-messages": '"type":"document"',
}


def answer(model: Model, *content: TextContent | ProviderContent) -> AssistantMessage:
    return AssistantMessage([*content], protocol=model.protocol, provider=model.provider, model=model.id)


def judged(context: Context, model: Model) -> segue.Request:
    """The request, which breaks no rule and is valid for the types of the provider's SDK."""
    request = segue.encode(context, model)
    assert segue.lint(request.body, model.protocol, model=model) == []
    assert JUDGES[f"{model.protocol.replace('-', '_')}/shape.json"](json.loads(request.json())) == []
    return request


def test_a_file_a_sound_and_a_search_go_round_and_claude_gets_its_own_blocks_back() -> None:
    searched = answer(
        CLAUDE,
        ProviderContent(SEARCH, "server_tool_use", "web_search: numbers"),
        ProviderContent(FOUND, "web_search_tool_result", "Numbers (https://example.org/n)"),
        TextContent("It is 42.", json.dumps([CITATION])),
    )
    messages: list[Message] = [UserMessage([TextContent("What is in these?"), PDF, CLIP]), searched]
    first = judged(Context(messages=[*messages, UserMessage("And you?")]), CLAUDE)
    for ref, report in JOURNEY.items():
        model = segue.get_model(ref)
        messages.append(UserMessage("And you?"))
        request = judged(Context(messages=messages), model)
        assert [(change.code, change.message, change.block) for change in request.changes] == report, ref
        body = request.json().decode()
        assert HELD[model.protocol] in body and PDF.data in body and "It is 42." in body
        assert ("audio" in model.input) == (CLIP.data in body) and ("clip.wav" in body) == (report[:1] == DEAF)
        assert "[server_tool_use] web_search: numbers" in body
        assert "[web_search_tool_result] Numbers (https://example.org/n)" in body
        assert HIT["encrypted_content"] not in body and CITATION["encrypted_index"] not in body
        messages.append(answer(model, TextContent(f"{model.id} agrees.")))
    messages.append(UserMessage("And back?"))
    request = judged(Context(messages=messages), CLAUDE)
    sent = json.loads(request.json())["messages"]
    assert sent[1]["content"] == [SEARCH, FOUND, {"type": "text", "text": "It is 42.", "citations": [CITATION]}]
    asked, answered = (msgspec.json.encode(turn) for turn in first.body["messages"][:2])
    assert b'"messages":[' + asked + b"," + answered in first.json()
    assert b'"messages":[' + asked + b"," + answered in request.json()  # byte for byte what Claude got at first
    assert [(change.code, change.message, change.block) for change in request.changes] == DEAF  # Claude does not hear


SECRET = "only its maker may read this"
FOREIGN = [
    ProviderContent({"type": "web_search_call", "id": "ws_1", "status": "completed", "action": {"query": SECRET}}, kind)
    for kind in ("web_search_call", "server_tool_use", "executableCode", "inlineData", "compaction", "")
] + [
    ProviderContent(
        {"type": "server_tool_use", "id": "srvtoolu_1", "name": "f", "input": {"q": SECRET}}, "server_tool_use"
    ),
    ProviderContent({"executableCode": {"language": "PYTHON", "code": SECRET}}, "executableCode"),
    ProviderContent({"codeExecutionResult": {"outcome": "OUTCOME_OK", "output": SECRET}}, "codeExecutionResult"),
    ProviderContent({"groundingMetadata": {"webSearchQueries": [SECRET]}}, "groundingMetadata"),
    ProviderContent({"type": "compaction", "encrypted_content": SECRET}, "compaction"),
]


@pytest.mark.parametrize("name", distinct())
def test_provider_content_of_another_origin_never_reaches_the_wire_as_raw(name: str) -> None:
    model = distinct()[name]
    other = model.replace(id="another-model")
    messages: list[Message] = [UserMessage("Go on."), answer(other, TextContent("Yes."), *FOREIGN), UserMessage("And?")]
    request = segue.encode(Context(messages=messages), model)
    assert SECRET.encode() not in request.json()
    assert len([change for change in request.changes if change.code == "provider-content-dropped"]) == len(FOREIGN)
    assert segue.lint(request.body, model.protocol, model=model) == []
