"""Reading and writing JSON: equal bytes for our own documents, strict types, unknown fields, one-line errors."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, strategies as st
from support import values

from segue.errors import FormatError, VersionError
from segue.types import (
    AssistantMessage,
    Context,
    FileContent,
    ImageContent,
    Message,
    ProviderContent,
    TextContent,
    ThinkingContent,
    ToolCall,
    ToolDefinition,
    ToolResultMessage,
    Usage,
    UsageCost,
    UserMessage,
)
from segue.types.codec import read, write

SAMPLE = Path(__file__).with_name("sample.json").read_bytes()
"""A document with one of each kind of value, pretty-printed, in the full form."""


def sample(**changes: Any) -> dict[str, Any]:
    return json.loads(SAMPLE) | changes


def dump(document: Any) -> bytes:
    return json.dumps(document).encode()


@given(values.every_value)
def test_what_is_written_reads_back_equal_and_writes_the_same_bytes(value: Any) -> None:
    data = write(value)
    again = read(data, type(value))
    assert again == value
    assert write(again) == data


@given(values.contexts)
def test_the_written_json_has_the_content_of_the_value(context: Context) -> None:
    """An independent reader (the standard library) finds camelCase names and tags, and only required empty values."""
    document = json.loads(context.to_json())
    assert document["version"] == 1
    assert ("systemPrompt" in document) == bool(context.system_prompt)
    for message, written in zip(context.messages, document["messages"], strict=True):
        match message:
            case UserMessage():
                assert set(written) - {"injected", "meta"} == {"role", "content"}
                assert written["role"] == "user"
                assert ("injected" in written) == message.injected
            case AssistantMessage():
                assert written["role"] == "assistant"
                assert {"protocol", "provider", "model", "usage", "stopReason", "timestamp"} <= set(written)
                assert ("cost" in written["usage"]) == (message.usage.cost is not None)
                assert ("errorMessage" in written) == bool(message.error_message)
                assert ("diagnostics" in written) == bool(message.diagnostics)
            case ToolResultMessage():
                assert written["role"] == "toolResult"
                assert written["isError"] is message.is_error
                assert ("synthetic" in written) == message.synthetic
        assert ("meta" in written) == bool(message.meta)
        for block, entry in zip(message.content, written["content"], strict=True):
            match block:
                case TextContent():
                    assert entry["type"] == "text"
                    assert ("textSignature" in entry) == bool(block.text_signature)
                case ThinkingContent():
                    assert entry["type"] == "thinking"
                    assert ("redacted" in entry) == block.redacted
                case ToolCall():
                    assert entry["type"] == "toolCall"
                    assert entry["arguments"] == block.arguments
                    assert ("namespace" in entry) == bool(block.namespace)
                case ImageContent() | FileContent():
                    assert entry["type"] in ("image", "file")
                    assert ("url" in entry) == bool(block.url)
                    assert entry.get("data", "") == block.data
                case ProviderContent():
                    assert entry["type"] == "provider"
                    assert entry["raw"] == json.loads(bytes(block.raw))
                    assert ("text" in entry) == bool(block.text)


def test_the_full_form_loses_nothing() -> None:
    assert json.loads(Context.from_json(SAMPLE).to_json()) == json.loads(SAMPLE)


def test_text_and_bytes_are_read_in_the_same_way() -> None:
    assert Context.from_json(SAMPLE.decode()) == Context.from_json(SAMPLE)
    assert Context.from_json(b"\xef\xbb\xbf" + SAMPLE) == Context.from_json(SAMPLE)


def block(entry: dict[str, Any]) -> bytes:
    return dump({"messages": [{"role": "user", "content": [entry]}]})


REFUSED: dict[str, tuple[bytes, str]] = {
    "truncated": (SAMPLE[:400], "not JSON: the text ends in the middle of a value"),
    "empty": (b"", "not JSON: the text is empty"),
    "not JSON": (b"{'messages': []}", "not JSON: object keys must be strings (byte 1)"),
    "trailing characters": (SAMPLE + b"]", f"not JSON: trailing characters (byte {len(SAMPLE) + 1})"),
    "invalid UTF-8": (b'{"messages":[],"systemPrompt":"\xff"}', "not UTF-8: byte 0xff at offset 31"),
    "nested too deeply": (b'{"messages":' + b"[" * 100_000, "nested too deeply to be read"),
    "nested too deeply in what is ignored": (b'{"x":' + b"[" * 100_000, "nested too deeply to be read"),
    "nested too deeply from the start": (b"[" * 100_000, "nested too deeply to be read"),
    "a bare string": (b'"hello"', "expected a JSON object, found a string"),
    "an array": (b"[]", "expected a JSON object, found an array"),
    "null": (b"null", "expected a JSON object, found null"),
    "a number": (b"17", "expected a JSON object, found a number"),
    "an image without data and media type": (
        block({"type": "image", "data": "aGk="}),
        "messages[0].content[0]: it needs data and mimeType, or a url",
    ),
    "a file with data and an address": (
        block({"type": "file", "data": "aGk=", "url": "https://a", "mimeType": "text/plain"}),
        "messages[0].content[0]: it has either data or a url, not both",
    ),
    "a file without a media type": (
        block({"type": "file", "url": "https://a"}),
        "messages[0].content[0]: a file needs its mimeType, which decides its kind",
    ),
    "provider content of a user": (
        block({"type": "provider", "raw": {}, "kind": "web_search_call"}),
        "messages[0].content[0]: a provider block is not allowed in a user message",
    ),
    "meta that is a list": (
        dump({"messages": [{"role": "user", "content": "x", "meta": [1]}]}),
        "messages[0].meta: Expected 'object | null', got 'array'",
    ),
    "an unknown kind of tool": (
        dump({"messages": [], "tools": [{"name": "a", "kind": "computer"}]}),
        "tools[0].kind: Invalid enum value 'computer'",
    ),
    "no messages": (b"{}", "Object missing required field 'messages'"),
    "version 99": (
        dump(sample(version=99)),
        "version: version 99 is not supported: this segue reads version 1; update segue",
    ),
    "version 99 before everything else": (
        dump({"messages": [{"role": "future"}], "version": 99}),
        "version: version 99 is not supported: this segue reads version 1; update segue",
    ),
    "wrong role": (
        dump({"messages": [{"role": "user", "content": []}, {"role": "bot", "content": []}]}),
        "messages[1]: unknown role 'bot'; the roles are user, assistant and toolResult",
    ),
    "no role": (dump({"messages": [{"content": []}]}), "messages[0]: Object missing required field 'role'"),
    "unknown block": (
        dump({"messages": [{"role": "user", "content": [{"type": "audio"}]}]}),
        "messages[0].content[0]: unknown block type 'audio'; "
        "the blocks are text, image, file, thinking, toolCall, provider",
    ),
    "a number for a string": (
        dump({"messages": [{"role": "user", "content": [{"type": "text", "text": 5}]}]}),
        "messages[0].content[0].text: Expected 'str', got 'int'",
    ),
    "arguments as a string": (
        dump(
            {
                "messages": [
                    {
                        "role": "assistant",
                        "content": [{"type": "toolCall", "id": "1", "name": "a", "arguments": "{}"}],
                        "protocol": "",
                        "provider": "",
                        "model": "",
                        "stopReason": "stop",
                    }
                ]
            }
        ),
        "messages[0].content[0].arguments: Expected 'object', got 'str'",
    ),
    "a missing field": (
        dump({"messages": [{"role": "toolResult", "toolName": "a", "content": [], "isError": False}]}),
        "messages[0]: Object missing required field 'toolCallId'",
    ),
    "a number that nothing can hold": (
        dump(sample()).replace(b'"days": null', b'"days": 1e400'),
        "messages[1].content[3].arguments[...]: Number out of range",
    ),
    "a number that nothing can hold, in what is ignored": (
        b'{"messages":[{"role":"bot"}],"x":1e400}',
        "messages[0].role: Invalid value 'bot'",
    ),
    "invalid UTF-8 in a schema": (
        b'{"messages":[],"tools":[{"name":"a","description":"","parameters":{"x":"\xff"}}]}',
        "not UTF-8: byte 0xff at offset 72",
    ),
    "invalid UTF-8 in a key": (
        b'{"messages":[{"role":"user","content":[{"\xbcx":1}]}]}',
        "not UTF-8: byte 0xbc at offset 41",
    ),
    "a fault beside what other tools write": (
        dump({"messages": [{**sample()["messages"][1], "api": "x", "protocol": None}, 5]}),
        "messages[1]: Expected 'object', got 'int'",
    ),
    "version 0": (
        b'{"version":0,"messages":[]}',
        "version: version 0 is not supported: this segue reads version 1",
    ),
    "a long word": (
        dump({"messages": [{"role": "x" * 1000}]}),
        f"messages[0]: unknown role '{'x' * 78}…; the roles are user, assistant and toolResult",
    ),
    "unknown stop reason": (
        dump(
            {
                "messages": [
                    {"role": "assistant", "content": [], "protocol": "", "provider": "", "model": "", "stopReason": "?"}
                ]
            }
        ),
        "messages[0].stopReason: Invalid enum value '?'; it is one of stop, length, toolUse, error, aborted",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_errors_state_what_is_wrong_and_where_on_one_line(name: str) -> None:
    data, text = REFUSED[name]
    with pytest.raises(FormatError) as caught:
        Context.from_json(data)
    assert str(caught.value) == text


def test_a_newer_version_raises_a_version_error() -> None:
    with pytest.raises(VersionError):
        Context.from_json(b'{"version":2,"messages":[]}')


REQUIRED = {
    "user": ["role", "content"],
    "assistant": ["role", "content", "protocol", "provider", "model", "stopReason"],
    "toolResult": ["role", "toolCallId", "toolName", "content"],
}


@pytest.mark.parametrize(("role", "field"), [(role, field) for role, fields in REQUIRED.items() for field in fields])
def test_every_required_field_is_required(role: str, field: str) -> None:
    document = sample()
    index = next(index for index, message in enumerate(document["messages"]) if message["role"] == role)
    del document["messages"][index][field]
    with pytest.raises(FormatError, match=rf"^messages\[{index}\]: Object missing required field '{field}'$"):
        Context.from_json(dump(document))


class TestOtherTools:
    """Spellings of other tools of this family, which every reader accepts."""

    def test_a_user_message_may_be_a_plain_string(self) -> None:
        context = Context.from_json(b'{"messages":[{"role":"user","content":"hi"}]}')
        assert context.messages == [UserMessage([TextContent("hi")])]

    def test_api_means_protocol(self) -> None:
        renamed = SAMPLE.replace(b'"protocol"', b'"api"')
        assert renamed != SAMPLE
        assert Context.from_json(renamed) == Context.from_json(SAMPLE)

    def test_api_means_protocol_in_a_single_message(self) -> None:
        message = json.loads(SAMPLE)["messages"][1]
        message["api"] = message.pop("protocol")
        assert read(dump(message), Message).protocol == message["api"]  # type: ignore[arg-type,union-attr]

    def test_an_answer_may_lack_usage_and_timestamp(self) -> None:
        document = sample()
        for message in document["messages"]:
            message.pop("usage", None)
            message.pop("timestamp", None)
        answer = Context.from_json(dump(document)).messages[1]
        assert isinstance(answer, AssistantMessage)
        assert (answer.usage, answer.timestamp) == (Usage(), 0)

    def test_unknown_fields_are_ignored_everywhere(self) -> None:
        def with_extras(value: Any) -> Any:
            if isinstance(value, dict):
                return {key: with_extras(item) for key, item in value.items()} | {"x-extra": [None]}
            return [with_extras(item) for item in value] if isinstance(value, list) else value

        document = sample(tools=[])
        document["messages"] = [message for message in document["messages"] if message["role"] != "assistant"]
        assert Context.from_json(dump(with_extras(document))) == Context.from_json(dump(document))

    def test_null_means_absent(self) -> None:
        document = sample(systemPrompt=None, tools=None)
        plain = sample()
        del plain["systemPrompt"], plain["tools"]
        answer, result = document["messages"][1:]
        for name in ("usage", "timestamp", "responseId", "diagnostics", "endpoint"):
            answer[name] = None
            del plain["messages"][1][name]
        result["synthetic"] = result["isError"] = None
        del plain["messages"][2]["synthetic"], plain["messages"][2]["isError"]
        assert Context.from_json(dump(document)) == Context.from_json(dump(plain))

    def test_a_message_may_have_its_own_version(self) -> None:
        with pytest.raises(FormatError, match=r"^content: Expected"):
            read(b'{"role":"user","version":3,"content":5}', UserMessage)

    def test_lone_surrogates_become_replacement_characters(self) -> None:
        data = rb'{"messages":[{"role":"user","content":"\ud83d! \\ud83d \ud83d\ude00 \ude00"}]}'
        context = Context.from_json(data)
        assert context.messages == [UserMessage("\ufffd! \\ud83d \U0001f600 \ufffd")]
        assert Context.from_json(data.decode()) == context

    def test_lone_surrogates_and_api_in_one_document(self) -> None:
        data = SAMPLE.replace(b'"protocol"', b'"api"').replace(b"Be brief.", rb"Be \udc00.")
        assert Context.from_json(data).system_prompt == "Be \ufffd."

    def test_lone_surrogates_in_a_schema_are_replaced(self) -> None:
        data = rb'{"messages":[],"tools":[{"name":"a","description":"","parameters":{"title":"\ud800"}}]}'
        assert Context.from_json(data).tools[0].schema == {"title": "\ufffd"}


class TestWriting:
    @given(st.text(st.characters(), max_size=8), st.text(st.characters(), max_size=8))
    def test_a_value_with_lone_surrogates_is_written_without_them(self, text: str, key: str) -> None:
        call = ToolCall(id=text, name=text, arguments={key: [text, {key: text}]})
        answer = AssistantMessage(content=[call], protocol="", provider="", model="", stop_reason="stop")
        context = Context(system_prompt=text, messages=[UserMessage(text), answer], tools=[ToolDefinition(text)])
        data = context.to_json()
        assert Context.from_json(data).to_json() == data
        written = json.loads(data)["messages"][0]["content"][0]["text"]
        assert written == text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")

    @pytest.mark.parametrize("number", [float("nan"), float("inf"), float("-inf")])
    def test_numbers_that_json_cannot_hold_are_refused_with_their_path(self, number: float) -> None:
        call = ToolCall(id="1", name="a", arguments={"none": None, "deep": [0, {"x": number}]})
        answer = AssistantMessage(content=[call], protocol="", provider="", model="", stop_reason="stop")
        with pytest.raises(FormatError, match=r"^messages\[0\]\.content\[0\]\.arguments\.deep\[1\]\.x: "):
            Context(messages=[answer]).to_json()

    def test_a_cost_that_is_not_a_number_is_refused(self) -> None:
        usage = Usage(cost=UsageCost(total=float("nan")))
        answer = AssistantMessage(content=[], protocol="", provider="", model="", usage=usage, stop_reason="stop")
        with pytest.raises(FormatError, match=r"^messages\[0\]\.usage\.cost\.total: nan"):
            Context(messages=[answer]).to_json()

    def test_an_object_that_json_cannot_hold_is_refused(self) -> None:
        call = ToolCall(id="1", name="a", arguments={"x": object()})
        answer = AssistantMessage(content=[call], protocol="", provider="", model="", stop_reason="stop")
        with pytest.raises(FormatError, match="cannot be written as JSON"):
            Context(messages=[answer]).to_json()

    def test_a_value_that_is_nested_too_deeply_is_not_written(self) -> None:
        arguments: dict[str, Any] = {}
        for _ in range(100_000):
            arguments = {"x": arguments}
        answer = AssistantMessage(
            content=[ToolCall(id="1", name="a", arguments=arguments)],
            protocol="",
            provider="",
            model="",
            stop_reason="stop",
        )
        with pytest.raises(FormatError, match="nested too deeply to be written"):
            Context(messages=[answer]).to_json()


def test_equal_amounts_of_money_are_written_in_the_same_way() -> None:
    usage = Usage(cost=UsageCost(0, 1, 0, 0, 1))
    answer = AssistantMessage(content=[], protocol="", provider="", model="", usage=usage, stop_reason="stop")
    data = Context(messages=[answer]).to_json()
    assert Context.from_json(data).to_json() == data


@pytest.mark.parametrize("data", [None, 5, [], memoryview(b"{}")])
def test_json_is_read_from_bytes_or_text(data: Any) -> None:
    with pytest.raises(TypeError, match="JSON is read from bytes or str"):
        Context.from_json(data)


class TestParameters:
    """The schema of a tool is kept unchanged: numbers, the order of keys, and even duplicate keys."""

    RAW = b'{"b":1.0,"a":1e2,"a":12345678901234567890123,"z":"\\u00e9"}'

    def test_raw_text_is_kept_byte_for_byte(self) -> None:
        data = b'{"version":1,"messages":[],"tools":[{"name":"a","description":"","parameters":%s}]}' % self.RAW
        assert Context.from_json(data).to_json() == data

    def test_it_is_kept_in_documents_of_other_tools(self) -> None:
        message = b'{"role":"assistant","content":[],"api":"x","provider":"","model":"","stopReason":"stop"}'
        data = b'{"messages":[%s],"tools":[{"name":"a","description":"","parameters":%s}]}' % (message, self.RAW)
        assert bytes(Context.from_json(data).tools[0].parameters) == self.RAW

    def test_white_space_between_tokens_is_removed(self) -> None:
        data = b'{"messages":[],"tools":[{"name":"a","description":"","parameters":{\n "x" : "a\\n b"\n}}]}'
        assert bytes(Context.from_json(data).tools[0].parameters) == b'{"x":"a\\n b"}'

    def test_a_dict_and_its_json_text_are_the_same_value(self) -> None:
        assert ToolDefinition("a", "", {"type": "object"}) == ToolDefinition("a", "", b'{"type": "object"}')

    @pytest.mark.parametrize(
        ("schema", "text"),
        [
            (b"{oops", "parameters of tool 'a' are not JSON"),
            (b'{"x":"\xff"}', "parameters of tool 'a' are not UTF-8"),
            ("[" * 100_000, "parameters of tool 'a' are nested too deeply"),
            ({"x": float("nan")}, "parameters of tool 'a': x: nan is a number that JSON cannot hold"),
        ],
    )
    def test_a_schema_that_is_not_json_is_refused(self, schema: Any, text: str) -> None:
        with pytest.raises(FormatError, match=text):
            ToolDefinition("a", "", schema)

    @pytest.mark.parametrize("schema", [None, 5, []])
    def test_a_schema_of_another_type_is_a_type_error(self, schema: Any) -> None:
        with pytest.raises(TypeError, match="must be a dict or JSON text"):
            ToolDefinition("a", "", schema)

    def test_lone_surrogates_are_accepted_and_replaced(self) -> None:
        half = '{"x":"\ud800"}'
        assert (
            ToolDefinition("a", "", half).schema == ToolDefinition("a", "", {"x": "\ud800"}).schema == {"x": "\ufffd"}
        )
