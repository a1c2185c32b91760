"""Every field of the blocks that not all protocols have reaches the target, or a change names its loss.

The rows are compared with the fields of the types, so that a new field needs a row.
"""

import json
from typing import Any, NamedTuple

import pytest
from msgspec.structs import replace

import segue
from segue.types import (
    AssistantContent,
    AssistantMessage,
    ChangeCode,
    Context,
    FileContent,
    ImageContent,
    Message,
    Model,
    ProviderContent,
    TextContent,
    ToolCall,
    ToolDefinition,
    ToolResultMessage,
    UserContent,
    UserMessage,
)

TARGETS = {
    "anthropic-messages": "anthropic/claude-opus-4-8",
    "openai-responses": "openai/gpt-5.6-terra",
    "openai-completions": "openai/gpt-5",
    "google-generative-ai": "google/gemini-3-pro-preview",
    "bedrock-converse": "amazon-bedrock/us.amazon.nova-pro-v1:0",
    "mistral-chat": "mistral/mistral-large-latest",
}
MARK = "zebra5417"
"""What a row puts into the field that it is about."""
PDF, WAV, MP4 = b"%PDF-1.4 " + MARK.encode(), b"RIFF\0\0\0\0WAVEfmt " + bytes(16), b"\0\0\0\x18ftypmp42"
PNG = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\1\0\0\0\1\x08\x02\0\0\0" + bytes(8)
SHAPES = {
    "application/pdf": (PDF, "pdf"),
    "audio/wav": (WAV, "wav"),
    "video/mp4": (MP4, "mp4"),
    "text/csv": (b"a", "csv"),
}


class Row(NamedTuple):
    """A conversation with something in a field; what a body that has it contains; the changes that name its loss."""

    field: str
    context: Context
    shows: str
    codes: frozenset[ChangeCode]


def files() -> list[Row]:
    lost = frozenset[ChangeCode]({"file-omitted", "url-omitted", "file-as-text"})
    rows = []
    for mime_type, (data, ending) in SHAPES.items():
        inline = FileContent(data, mime_type, name=f"{MARK}.{ending}")
        linked = FileContent(url=f"https://example.org/{MARK}.{ending}", mime_type=mime_type, name=f"{MARK} file")
        for context in (asked(inline), returned(inline)):
            rows.append(Row("FileContent.name", context, MARK, lost | {"file-renamed"}))
            rows.append(Row("FileContent.data", context, inline.data, lost))
        for context in (asked(linked), returned(linked)):
            rows.append(Row("FileContent.name", context, f"{MARK} file", lost | {"file-renamed"}))
            rows.append(Row("FileContent.url", context, str(linked.url), frozenset()))
    return rows


def images() -> list[Row]:
    inline, linked = ImageContent(PNG, "image/png"), ImageContent(url=f"https://example.org/{MARK}.png")
    lost = frozenset[ChangeCode]({"image-downgraded"})
    rows = [Row("ImageContent.data", context, inline.data, lost) for context in (asked(inline), returned(inline))]
    return rows + [
        Row("ImageContent.url", context, str(linked.url), frozenset()) for context in (asked(linked), returned(linked))
    ]


SEARCH = {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {"query": MARK}}
FOUND = {"type": "web_search_tool_result", "tool_use_id": "srvtoolu_1", "content": []}
CALL = {"type": "web_search_call", "id": "ws_1", "status": "completed", "action": {"type": "search", "query": MARK}}
OWN: dict[str, list[tuple[str, Any]]] = {
    "anthropic-messages": [("server_tool_use", SEARCH), ("web_search_tool_result", FOUND)],
    "openai-responses": [("web_search_call", CALL)],
    "google-generative-ai": [("groundingMetadata", {"groundingMetadata": {"webSearchQueries": [MARK]}})],
    "bedrock-converse": [("server_tool_use", {"toolUse": {"toolUseId": "t1", "name": "search", "input": {"q": MARK}}})],
}
WEB = {"url": "https://example.org", "title": MARK, "start_index": 0, "end_index": 3}
LOCATION = {"type": "char_location", "cited_text": MARK, "document_index": 0, "document_title": None}
CITED: dict[str, Any] = {
    "anthropic-messages": [LOCATION | {"start_char_index": 0, "end_char_index": 3}],
    "openai-responses": {"id": "msg_1", "annotations": [{"type": "url_citation"} | WEB]},
    "openai-completions": [{"type": "url_citation", "url_citation": WEB}],
    "bedrock-converse": [{"title": MARK, "location": {"web": {"url": "https://example.org"}}}],
    "mistral-chat": [{"type": "reference", "reference_ids": [MARK], "index": 3}],
}


def answers(model: Model) -> list[Row]:
    """Citations and provider content: of the target itself, and of every other origin."""
    lost = frozenset[ChangeCode]({"provider-content-dropped", "provider-content-as-text"})
    novel = ProviderContent({"type": "novelty", "deep": MARK}, "novelty")
    rows = [Row("ProviderContent.raw", answered(model, novel), MARK, lost)]
    for protocol, blocks in OWN.items():
        for maker in (model, other(protocol)):
            content = [ProviderContent(raw, kind) for kind, raw in blocks]
            rows.append(Row("ProviderContent.raw", answered(maker, *content), MARK, lost))
    foreign = other("openai-responses")
    rows.append(Row("ProviderContent.text", answered(foreign, ProviderContent({}, "search", MARK)), MARK, frozenset()))
    rows.append(Row("ProviderContent.kind", answered(foreign, ProviderContent({}, MARK, "x")), MARK, frozenset()))
    for protocol, citations in CITED.items():
        for maker in (model, other(protocol)):
            text = TextContent("So.", json.dumps(citations))
            rows.append(
                Row("TextContent.text_signature", answered(maker, text), MARK, frozenset({"citations-dropped"}))
            )
    return rows


def tools() -> list[Row]:
    """Free-text tools and namespaces: the kind is sent, or the tool is reported as adapted."""
    grammar = {"type": "grammar", "grammar": {"syntax": "regex", "definition": MARK}}
    free, spaced = ToolDefinition("patch", "", kind="custom", format=grammar), ToolDefinition("go", namespace=MARK)
    calls = [
        ToolCall("toolu_1", "patch", {"input": "a"}, kind="custom"),
        ToolCall("toolu_2", "go", {}, namespace=MARK),
    ]
    results = [ToolResultMessage(call.id, call.name, [TextContent("ok")]) for call in calls]
    foreign = other("openai-responses")
    called = Context(messages=[UserMessage("Go."), answer(foreign, *calls), *results])
    declared = Context(messages=[UserMessage("Go.")], tools=[free, spaced])
    adapted = frozenset[ChangeCode]({"tool-adapted"})
    return [
        Row("ToolDefinition.kind", declared, '"custom"', adapted),
        Row("ToolDefinition.format", declared, MARK, frozenset()),
        Row("ToolDefinition.namespace", declared, MARK, frozenset()),
        Row("ToolCall.kind", called, '"custom', adapted),
        Row("ToolCall.namespace", called, MARK, frozenset()),
    ]


def other(protocol: str) -> Model:
    """A model of this protocol that is not the target."""
    return segue.get_model(TARGETS[protocol]).replace(id="another-model")


def answer(maker: Model, *content: AssistantContent) -> AssistantMessage:
    return AssistantMessage([*content], protocol=maker.protocol, provider=maker.provider, model=maker.id)


def answered(maker: Model, *content: AssistantContent) -> Context:
    blocks = [TextContent("Well."), *content]
    return Context(messages=[UserMessage("Go."), answer(maker, *blocks), UserMessage("And?")])


def asked(block: UserContent) -> Context:
    return Context(messages=[UserMessage([TextContent("Look."), block])])


def returned(block: UserContent) -> Context:
    call = ToolCall("toolu_1", "read", {})
    maker = other("anthropic-messages")
    result = ToolResultMessage(call.id, call.name, [TextContent("Here."), block])
    messages: list[Message] = [UserMessage("Go."), answer(maker, call), result]
    return Context(messages=messages)


SENT_ELSEWHERE = {
    # Fields with a test of their own, or of which something is derived.
    "FileContent.mime_type": "decides the kind of a file and its form",
    "ImageContent.mime_type": "the first bytes of an image decide",
    "TextContent.text": "in every body",
    **dict.fromkeys(("ToolCall.id", "ToolCall.name", "ToolCall.arguments", "ToolCall.thought_signature"), "the laws"),
    **dict.fromkeys(("ToolDefinition.name", "ToolDefinition.description", "ToolDefinition.parameters"), "the laws"),
}
MODELS = {
    # Models that read every kind of file that their protocol has a form for.
    protocol: segue.get_model(ref, protocol=protocol).replace(input=("text", "image", "document", "audio", "video"))
    for protocol, ref in TARGETS.items()
}
MODELS["openai-completions"] = MODELS["openai-completions"].amended({"files": ("application/pdf", "audio/wav")})


def rows(model: Model) -> list[Row]:
    return [*files(), *images(), *answers(model), *tools()]


def test_every_field_has_a_row() -> None:
    kinds = (FileContent, ImageContent, ProviderContent, TextContent, ToolCall, ToolDefinition)
    fields = {f"{kind.__name__}.{field}" for kind in kinds for field in kind.__struct_fields__}
    assert {row.field for row in rows(MODELS["mistral-chat"])} | SENT_ELSEWHERE.keys() == fields


VERTEX = segue.get_model("google-vertex/gemini-3-pro-preview")


@pytest.mark.parametrize("model", [*MODELS.values(), VERTEX], ids=lambda model: model.ref)
def test_a_field_is_sent_or_a_change_names_it(model: Model) -> None:
    for row in rows(model):
        request = segue.encode(row.context, model)
        body = json.dumps(json.loads(request.json()), ensure_ascii=False)
        codes = {change.code for change in request.changes}
        assert row.shows in body or codes & row.codes, (row, body, codes)
        assert segue.lint(request.body, model.protocol, model) == [], row


@pytest.mark.parametrize("protocol", MODELS)
def test_an_export_has_every_field_or_a_change_names_it(protocol: str) -> None:
    for row in rows(MODELS[protocol]):
        exported = segue.export(row.context, protocol)
        codes = {change.code for change in exported.changes}
        assert row.shows in json.dumps(exported.body, ensure_ascii=False, default=str) or codes & row.codes, row


@pytest.mark.parametrize("model", MODELS.values(), ids=lambda model: model.ref)
def test_meta_and_injected_are_never_sent(model: Model) -> None:
    """They are for tools that write a conversation back; neither is content, so neither is reported."""
    plain = Context(messages=[UserMessage("Go."), answer(model, TextContent("Yes.")), UserMessage("And?")])
    marked = Context(messages=[replace(message, meta={"from": MARK}) for message in plain.messages])
    marked.messages[0] = UserMessage("Go.", meta={"from": MARK}, injected=True)
    assert segue.encode(marked, model).json() == segue.encode(plain, model).json()
    assert segue.encode(marked, model).changes == segue.encode(plain, model).changes
