"""Images, files and provider content as values: what Python accepts for them, and what is read of them."""

import base64
import json
from pathlib import Path
from typing import Any

import pytest

import segue
from segue.errors import FormatError
from segue.types import (
    AssistantMessage,
    Context,
    FileContent,
    ImageContent,
    ProviderContent,
    TextContent,
    ToolDefinition,
    UserMessage,
)

PNG = b"\x89PNG\r\n\x1a\n" + bytes(20)


def test_bytes_and_base64_make_the_same_block() -> None:
    encoded = base64.b64encode(PNG).decode()
    assert ImageContent(PNG, "image/png") == ImageContent(encoded, "image/png")
    assert FileContent(b"hello", "text/plain").data == "aGVsbG8="
    assert FileContent(b"hello", "text/plain").content() == b"hello"
    assert FileContent(b"hello", "text/plain").size == 5


def test_data_of_another_type_is_refused() -> None:
    with pytest.raises(TypeError, match="data must be bytes, or base64 in a str, not int"):
        ImageContent(17, "image/png")  # type: ignore[arg-type]


def test_a_file_is_read_with_its_name_and_its_type(tmp_path: Path) -> None:
    (tmp_path / "report.pdf").write_bytes(b"%PDF-1.7")
    (tmp_path / "notes.md").write_text("# hi")
    (tmp_path / "unknown").write_bytes(b"%PDF-1.7")
    (tmp_path / "odd").write_bytes(b"odd")
    (tmp_path / "cat").write_bytes(PNG)
    report = FileContent.from_file(tmp_path / "report.pdf")
    assert (report.name, report.mime_type, report.content()) == ("report.pdf", "application/pdf", b"%PDF-1.7")
    assert FileContent.from_file(str(tmp_path / "notes.md")).mime_type == "text/markdown"
    assert FileContent.from_file(tmp_path / "unknown").mime_type == "application/pdf"
    assert FileContent.from_file(tmp_path / "odd").mime_type == "application/octet-stream"
    assert ImageContent.from_file(tmp_path / "cat") == ImageContent(PNG, "image/png")
    with pytest.raises(ValueError, match=r"report\.pdf is application/pdf, not an image; FileContent\.from_file"):
        ImageContent.from_file(tmp_path / "report.pdf")


def test_an_address_makes_a_block_without_data() -> None:
    image = ImageContent.from_url("https://example.com/cat.png?size=2")
    assert (image.url, image.data, image.mime_type) == ("https://example.com/cat.png?size=2", "", "image/png")
    assert ImageContent.from_url("https://example.com/cat").mime_type == ""
    assert FileContent.from_url("https://example.com/a.pdf", name="a.pdf").mime_type == "application/pdf"
    assert FileContent.from_url("https://example.com/a").mime_type == "application/octet-stream"
    assert FileContent.from_url("https://example.com/a", "audio/wav").kind == "audio"
    for bad in ("", "cat.png", "https://", "https://a b"):
        with pytest.raises(ValueError, match="is not an address such as https://example"):
            ImageContent.from_url(bad)


@pytest.mark.parametrize(
    ("mime_type", "kind"),
    [
        ("application/pdf", "document"),
        ("text/plain", "document"),
        ("Audio/WAV; rate=1", "audio"),
        ("video/mp4", "video"),
        ("?", "document"),
    ],
)
def test_the_media_type_decides_the_kind(mime_type: str, kind: str) -> None:
    assert FileContent(b"x", mime_type).kind == kind


def test_only_a_file_of_text_has_a_text() -> None:
    assert FileContent("héllo".encode(), "text/csv").text == "héllo"
    assert FileContent(b"{}", "application/vnd.api+json; charset=utf-8").text == "{}"
    assert FileContent(b"\xff", "text/plain").text is None
    assert FileContent("no base64!", "text/plain").text is None
    assert FileContent(b"hello", "application/pdf").text is None
    assert FileContent(url="https://a/b.txt", mime_type="text/plain").text is None


def test_provider_content_keeps_numbers_and_the_order_of_keys() -> None:
    raw = '{"z": 1.50, "a": [1e3, "\\u00e9"]}'
    block = ProviderContent(raw, "web_search_call", "weather")
    assert bytes(block.raw) == b'{"z":1.50,"a":[1e3,"\\u00e9"]}'
    assert block.value == {"z": 1.5, "a": [1000.0, "é"]}
    assert hash(block) == hash(ProviderContent(raw, "web_search_call", "weather"))
    with pytest.raises(FormatError, match="raw of provider content 'x' is not JSON"):
        ProviderContent("{", "x")


def test_citations_are_read_from_the_signature() -> None:
    cited = {"type": "char_location", "cited_text": "blue"}
    assert TextContent("The sky is blue.", '[{"type":"char_location","cited_text":"blue"}]').citations == [cited]
    responses = '{"id":"msg_1","annotations":[{"type":"url_citation","url":"https://a"}]}'
    assert TextContent("x", responses).citations == [{"type": "url_citation", "url": "https://a"}]
    for none in (None, "c2ln", '{"id":"msg_1"}', "[1]", "{broken", '{"annotations":1}'):
        assert TextContent("x", none).citations == []


@pytest.mark.parametrize("citation", [
    {"type": "page_location", "cited_text": "blue"},
    {"type": "url_citation", "url_citation": {"url": "https://a"}},
    {"title": "Colours", "location": {"web": {"url": "https://a"}}},
])  # fmt: skip
def test_only_citations_are_reported_as_lost(citation: dict[str, Any]) -> None:
    """A signature may be JSON of another kind, such as details of reasoning: that is a signature, not citations."""
    others = [{"type": "reasoning.text", "text": "x"}, {"title": "x", "score": 1}, {}, {"type": ["a"]}]
    for signature, code in ((others, "signature-dropped"), ([*others, citation], "citations-dropped")):
        text = TextContent("The sky is blue.", json.dumps(signature))
        assert text.citations == [each for each in signature if each == citation]
        answer = AssistantMessage([text], protocol="nobody", provider="knows", model="this")
        context = Context(messages=[UserMessage("Why?"), answer, UserMessage("Oh.")])
        for model in ("anthropic/claude-sonnet-4-5", "openai/gpt-5.5", "mistral/mistral-large-latest"):
            assert [change.code for change in segue.encode(context, model).changes] == [code]
        assert [change.code for change in segue.export(context, "bedrock-converse").changes] == [code]


def test_a_free_text_tool_gets_one_text() -> None:
    tool = ToolDefinition("apply_patch", kind="custom", format={"type": "grammar", "syntax": "lark"})
    assert tool.schema == {"type": "object", "properties": {"input": {"type": "string"}}, "required": ["input"]}
    assert ToolDefinition("a", namespace="", format={}) == ToolDefinition("a")
    with pytest.raises(ValueError, match="kind of a tool is 'custom' or absent, not 'computer'"):
        ToolDefinition("a", kind="computer")  # type: ignore[arg-type]


def test_an_empty_option_is_an_absent_one() -> None:
    assert UserMessage("x", meta={}) == UserMessage("x")
    assert FileContent(b"x", "a/b", url="", name="") == FileContent(b"x", "a/b")
    written = b'{"messages":[{"role":"user","content":"x","meta":{},"injected":null}]}'
    assert Context.from_json(written).messages == [UserMessage("x")]
    with pytest.raises(TypeError, match="meta of a UserMessage must be a dict, not list"):
        UserMessage("x", meta=[1])  # type: ignore[arg-type]


def test_meta_that_json_cannot_hold_is_refused_when_it_is_written() -> None:
    with pytest.raises(FormatError, match=r"messages\[0\]\.meta\.x: nan"):
        Context(messages=[UserMessage("x", meta={"x": float("nan")})]).to_json()
