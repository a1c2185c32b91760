"""Written answers are read by the official SDKs: everything that the protocol can hold is the same."""

import base64
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings, strategies as st
from support.readers import FAILURES, Read, Sdks, error_text, server
from support.streams import CASES, StreamCase
from support.values import counts, json_objects, texts

import segue
from segue import errors
from segue.client.failures import kind_of_stop
from segue.errors import ProviderError, RefusedError
from segue.types import AssistantMessage, ProviderContent, TextContent, ThinkingContent, ToolCall, Usage
from segue.wire.common.answer import Answer
from segue.wire.common.arguments import Mender, read_arguments

WRITTEN = ("anthropic-messages", "openai-completions", "openai-responses", "google-generative-ai")
STREAMED = [case for case in CASES if case.events is not None]
pytestmark = pytest.mark.filterwarnings("ignore:The model .* is deprecated:DeprecationWarning")

CANNOT: dict[str, dict[str, str]] = {
    # What a protocol cannot hold, by protocol: the field of `Read` and the reason.
    "anthropic-messages": {
        "total": "there is no count of all tokens, only the four that add up to it",
    },
    "openai-completions": {
        "signatures": "thinking has no signature",
    },
    "openai-responses": {},
    "google-generative-ai": {
        "written": "tokens that were written to a cache are counted as part of the prompt",
        "refusal": "the SDK leaves `finishMessage` out",
    },
}
IN_A_STREAM: dict[str, str] = {
    # What a stream cannot hold, because it has already been sent, by the type of the diagnostic.
    "text-differs": "the finished text is not the streamed one; only Responses sends the finished one, too",
    "arguments-differ": "the finished arguments are not the streamed ones; only Responses sends the finished ones, too",
    "arguments-unreadable": "arguments that are not JSON; only Responses and Gemini send the empty object at the end",
    "arguments-truncated": "arguments that break off; only Responses and Gemini send the completed ones",
}
STOPS: dict[str, dict[str, str]] = {
    "anthropic-messages": {"stop": "end_turn", "toolUse": "tool_use", "length": "max_tokens", "error": "refusal"},
    "openai-completions": {"stop": "stop", "toolUse": "tool_calls", "length": "length", "error": "content_filter"},
    "openai-responses": {"stop": "completed", "toolUse": "completed", "length": "max_output_tokens"},
    "google-generative-ai": {"stop": "STOP", "toolUse": "STOP", "length": "MAX_TOKENS"},
}


@pytest.fixture(scope="module")
def sdks() -> Iterator[Sdks]:
    with server() as serving:
        made = Sdks(serving)
        yield made
        made.close()


def outcome(case: StreamCase) -> tuple[list[Any], AssistantMessage, ProviderError | None]:
    """The events of a recorded stream, its message, and its failure."""
    decoder = segue.Decoder(case.request(), now=1_700_000_000_000)
    events = [event for piece in case.pieces() for event in decoder.feed(piece)] + decoder.close()
    assert decoder.message is not None
    text = decoder.message.error_message or ""
    kind = kind_of_stop(text) if decoder.failure == "refused" else None  # like the client
    if kind is None:
        return events, decoder.message, None
    return [*events[:-1], msgspec.structs.replace(events[-1], error=kind(text))], decoder.message, kind(text)


def stream_of(events: list[Any], protocol: str, **settings: Any) -> bytes:
    settings.setdefault("request", {"stream_options": {"include_usage": True}})
    writer = segue.AnswerWriter(protocol, segue.AnswerSettings(**settings))
    return b"".join(map(writer.write, events))


def expected(message: AssistantMessage, protocol: str, refused: bool) -> Read:
    """What an SDK should find."""
    usage = message.usage
    counts = {"input": usage.input, "output": usage.output, "read": usage.cache_read, "written": usage.cache_write}
    total = usage.total_tokens or sum(counts.values())
    if "written" in CANNOT[protocol]:
        counts["input"] += counts.pop("written")
    if "total" not in CANNOT[protocol]:
        counts["total"] = total
    return Read(
        text=message.text,
        thinking="".join(each.thinking for each in message.content if isinstance(each, ThinkingContent)),
        calls=[(each.id, each.name, each.arguments) for each in message.content if isinstance(each, ToolCall)],
        refusal=(message.error_message or "").partition(": ")[2] if refused else "",
        usage=counts,
    )


def assert_same(found: Read, message: AssistantMessage, protocol: str, refused: bool) -> None:
    wanted = expected(message, protocol, refused)
    assert (found.text, found.thinking) == (wanted.text, wanted.thinking)
    assert found.calls == wanted.calls
    assert found.usage == wanted.usage
    assert_stopped(found, message, protocol, wanted.refusal, refused)
    if message.protocol == protocol:
        assert (found.id, found.model) == (message.response_id or found.id, message.response_model or message.model)


def assert_stopped(found: Read, message: AssistantMessage, protocol: str, refusal: str, refused: bool) -> None:
    if not refused:
        unfit = message.stop_reason == "toolUse" and len(message.runnable_calls) < len(message.tool_calls)
        assert found.stop == STOPS[protocol]["length" if unfit else message.stop_reason]  # clients must not run it
        return
    if protocol == "openai-responses":
        told = found.refusal == refusal or found.text.endswith(refusal)
        assert told and (found.stop == "completed" if found.refusal else found.stop == "content_filter")
        return
    if protocol == "google-generative-ai":
        assert segue.wire.google_generative_ai.decode.STOPS[found.stop or ""] == "error"
    else:
        assert found.stop == STOPS[protocol]["error"]
    if "refusal" not in CANNOT[protocol]:
        assert refusal.endswith(found.refusal) and bool(found.refusal) == bool(refusal)


@pytest.mark.parametrize("protocol", WRITTEN)
@pytest.mark.parametrize("case", STREAMED, ids=repr)
def test_every_recorded_answer_is_read_the_same_in_each_protocol(case: StreamCase, protocol: str, sdks: Sdks) -> None:
    events, message, error = outcome(case)
    body = stream_of(events, protocol)
    whole = segue.write_answer(message, protocol, error=error)
    if message.failed and not isinstance(error, RefusedError):
        assert_failed(sdks, protocol, body, whole, message)
        return
    refused = error is not None
    assert_same(sdks.read(protocol, whole.json(), stream=False), message, protocol, refused)
    if protocol == "openai-responses" or not IN_A_STREAM.keys() & {note.type for note in message.diagnostics}:
        assert_same(sdks.read(protocol, body, stream=True), message, protocol, refused)


def assert_failed(
    sdks: Sdks, protocol: str, body: bytes, whole: segue.WrittenAnswer, message: AssistantMessage
) -> None:
    for data, status in ((body, 200), (whole.json(), whole.status)):
        with pytest.raises(FAILURES) as raised:
            sdks.read(protocol, data, stream=status == 200, status=status)
        assert error_text(raised.value) == message.error_message


# -- generated messages ----------------------------------------------------------------------------------------------

names = st.text("abcdefghijklmnopqrstuvwxyz_", min_size=1, max_size=10)
signatures = st.none() | st.binary(min_size=1, max_size=9).map(lambda raw: base64.b64encode(raw).decode())
blocks = st.one_of(
    st.builds(TextContent, texts),
    st.builds(ThinkingContent, texts, signatures),
    st.builds(ThinkingContent, st.just(""), signatures.filter(bool), st.just(True)),
    st.builds(ToolCall, st.just(""), names, json_objects),
)
usages = st.builds(Usage, counts, counts, counts, counts).map(
    lambda usage: msgspec.structs.replace(
        usage, total_tokens=usage.input + usage.output + usage.cache_read + usage.cache_write
    )
)


@st.composite
def messages(draw: st.DrawFn) -> AssistantMessage:
    """Complete answers of any protocol."""
    drawn = draw(st.lists(blocks, max_size=5))
    content = [
        msgspec.structs.replace(block, id=f"call_{at}") if isinstance(block, ToolCall) else block
        for at, block in enumerate(drawn)
    ]
    calls = any(isinstance(block, ToolCall) for block in content)
    return AssistantMessage(
        content=content,
        protocol=draw(st.sampled_from(["anthropic-messages", "mistral-chat", "elsewhere"])),
        provider="somewhere",
        model="m-1",
        usage=draw(usages),
        stop_reason=draw(st.sampled_from(["toolUse" if calls else "stop", "length"])),
        response_id=draw(st.none() | names),
    )


@settings(max_examples=40)
@given(message=messages(), size=st.none() | st.integers(1, 9))
@pytest.mark.parametrize("protocol", WRITTEN)
def test_every_message_is_read_the_same(sdks: Sdks, protocol: str, message: AssistantMessage, size: int | None) -> None:
    body = stream_of([*segue.events_of(message, size=size)], protocol)
    assert_same(sdks.read(protocol, body, stream=True), message, protocol, refused=False)
    whole = segue.write_answer(message, protocol)
    assert_same(sdks.read(protocol, whole.json(), stream=False), message, protocol, refused=False)


@st.composite
def answers(draw: st.DrawFn) -> Answer:
    """An answer whose blocks grew in any order, as some providers send them; ids and names may arrive late."""
    answer = Answer(segue.get_model("anthropic/claude-sonnet-4-5"), now=1)
    drafts: list[Any] = []
    for step in draw(st.lists(st.sampled_from(["text", "thinking", "call", "late call", "add", "end"]), max_size=20)):
        if step in ("text", "thinking"):
            drafts.append(getattr(answer, step)())
        elif step == "call":
            drafts.append(answer.call(f"call_{len(drafts)}", "f"))
        elif step == "late call":
            drafts.append(answer.call())
        elif growing := [draft for draft in drafts if draft.open]:
            draft = draw(st.sampled_from(growing))
            if step == "end":
                finish(draft)
            else:
                draft.add(draw(st.sampled_from(["a", "✓ ", "\n"])) if not hasattr(draft, "name") else " ")
    for draft in drafts:
        finish(draft)
    answer.finish("end_turn", {"end_turn": "stop"})
    return answer


def finish(draft: Any) -> None:
    if draft.open and hasattr(draft, "name"):
        draft.id, draft.name = draft.id or f"call_{draft.index}", draft.name or "g"
        draft.add(f'{{"n":{draft.index}}}')
    draft.end()


TARGETS = {
    "anthropic-messages": "anthropic/claude-opus-4-5",
    "openai-completions": "openai/gpt-5.1",
    "openai-responses": "openai/gpt-5.1",
    "google-generative-ai": "google/gemini-3-pro-preview",
}


@given(answer=answers())
@pytest.mark.parametrize("protocol", WRITTEN)
def test_blocks_that_interleave_are_read_the_same(protocol: str, answer: Answer) -> None:
    message = answer.message()
    body = stream_of(answer.events, protocol)
    model = segue.get_model(TARGETS[protocol], protocol=protocol)
    decoder = segue.Decoder(segue.encode(segue.Context(messages=[segue.UserMessage("Go on.")]), model), now=1)
    decoder.feed(body)
    decoder.close()
    assert decoder.message is not None
    assert decoder.message.text.strip() == message.text.strip()
    assert thoughts(decoder.message) == thoughts(message)
    assert [plain(call) for call in decoder.message.tool_calls] == [plain(call) for call in message.tool_calls]
    assert decoder.message.stop_reason == message.stop_reason


def plain(call: ToolCall) -> ToolCall:
    return ToolCall(call.id, call.name, call.arguments)


def thoughts(message: AssistantMessage) -> str:
    return "".join(block.thinking for block in message.content if isinstance(block, ThinkingContent))


@given(text=st.text(alphabet='{}":,\\u00e9n\n\x01ab1 ', max_size=40), cuts=st.lists(st.integers(0, 40)))
def test_arguments_are_repaired_in_a_stream_as_at_their_end(text: str, cuts: list[int]) -> None:
    mender = Mender()
    edges = sorted({0, len(text), *(cut for cut in cuts if cut < len(text))})
    pieces = [text[start:end] for start, end in pairwise(edges)]
    mended = "".join(map(mender.feed, pieces)) + mender.close()
    arguments, reading = read_arguments(text)
    if reading == "repaired":
        assert read_arguments(mended) == (arguments, "strict")
    elif reading == "strict":
        assert mended == text


# -- signatures, ids and names ---------------------------------------------------------------------------------------

SIGNED = [ThinkingContent("Hm.", "c2ln"), TextContent("Yes."), ToolCall("call_1", "f", {}, "c2ln")]
SEALED = {
    # The signatures that an SDK finds if each block has one.
    "anthropic-messages": ["c2ln"],
    "openai-completions": [],
    "openai-responses": ["c2ln"],
    "google-generative-ai": [b"sig".hex()] * 2,
}


def answer_of(protocol: str, *content: Any, **more: Any) -> AssistantMessage:
    more.setdefault("stop_reason", "toolUse" if any(isinstance(block, ToolCall) for block in content) else "stop")
    return AssistantMessage(content=[*content], protocol=protocol, provider="p", model="m", **more)


@pytest.mark.parametrize("kind", ["text", "thinking", "call"])
def test_an_item_that_was_cut_is_incomplete(kind: str) -> None:
    answer = Answer(segue.get_model("anthropic/claude-sonnet-4-5"))
    done = answer.text()
    done.add("before")
    done.end()
    draft: Any = answer.call("call_1", "read") if kind == "call" else getattr(answer, kind)()
    draft.add('{"path": "a')
    answer.break_off("the connection broke")
    frames = [frame.partition(b"data: ")[2] for frame in stream_of(answer.events, "openai-responses").split(b"\n\n")]
    events = [msgspec.json.decode(frame) for frame in frames if frame]
    ended = [event["item"]["status"] for event in events if event["type"] == "response.output_item.done"]
    assert ended == ["completed", "incomplete"]
    assert events[-1]["type"] == "response.failed"
    assert [item["status"] for item in events[-1]["response"]["output"]] == ended


@pytest.mark.parametrize("protocol", WRITTEN)
@pytest.mark.parametrize("size", [None, 3])
def test_a_free_text_call_keeps_its_text(protocol: str, size: int | None, sdks: Sdks) -> None:
    patch = '*** Begin "Patch"\n\\d ✓'
    call = ToolCall("call_1", "apply_patch", {"input": patch}, kind="custom", namespace="files")
    message = answer_of("elsewhere", TextContent("Now."), call)
    for body, stream in (
        (segue.write_answer(message, protocol).json(), False),
        (stream_of([*segue.events_of(message, size=size)], protocol), True),
    ):
        assert sdks.read(protocol, body, stream).calls == [("call_1", "apply_patch", {"input": patch})]
        if protocol == "openai-responses":
            assert b'"type":"custom_tool_call"' in body and b'"namespace":"files"' in body


PROVIDED = {
    # Content of a provider, in its own form.
    "anthropic-messages": {
        "type": "server_tool_use",
        "id": "srvtoolu_1",
        "name": "web_search",
        "input": {"query": "x"},
    },
    "openai-responses": {"type": "web_search_call", "id": "ws_1", "status": "completed", "action": {"type": "search"}},
    "google-generative-ai": {"executableCode": {"code": "1", "language": "PYTHON"}},
}


@pytest.mark.parametrize("protocol", PROVIDED)
def test_content_of_the_provider_is_written_in_its_own_protocol_only(protocol: str, sdks: Sdks) -> None:
    raw = PROVIDED[protocol]
    content = [ProviderContent(raw, raw.get("type") or next(iter(raw)), "x"), TextContent("Found.")]
    own = answer_of(protocol, *content)
    assert msgspec.json.encode(raw) in segue.write_answer(own, protocol).json()
    streamed = stream_of([*segue.events_of(own)], protocol)
    if "input" in raw:  # it grows, like that of other calls
        assert msgspec.json.encode({"partial_json": msgspec.json.encode(raw["input"]).decode()})[1:-1] in streamed
    else:
        assert msgspec.json.encode(raw) in streamed
    found = sdks.read(protocol, stream_of([*segue.events_of(own)], protocol), stream=True)
    assert found.text == "Found." and found.others == ([raw["type"]] if "type" in raw else [])
    for other in WRITTEN:
        foreign = answer_of("elsewhere", *content)
        assert sdks.read(other, segue.write_answer(foreign, other).json(), stream=False).others == []
        found = sdks.read(other, stream_of([*segue.events_of(foreign)], other), stream=True)
        assert (found.text, found.others) == ("Found.", [])


def test_citations_are_written_where_they_came_from(sdks: Sdks) -> None:
    place = {"document_index": 0, "document_title": None, "start_char_index": 0, "end_char_index": 3}
    citation = {"type": "char_location", "cited_text": "Yes", **place}
    own = answer_of("anthropic-messages", TextContent("Yes.", msgspec.json.encode([citation]).decode()))
    sdks.serving.status, sdks.serving.content_type = 200, "text/event-stream"
    sdks.serving.body = stream_of([*segue.events_of(own)], "anthropic-messages")
    with sdks.anthropic.messages.stream(model="m", max_tokens=1, messages=[{"role": "user", "content": "?"}]) as events:
        (block,) = events.get_final_message().content
    assert block.type == "text" and block.citations is not None
    assert [each.to_dict() for each in block.citations] == [citation]
    assert segue.write_answer(own, "anthropic-messages").body["content"][0]["citations"] == [citation]
    for protocol in WRITTEN:
        foreign = msgspec.structs.replace(own, protocol="elsewhere")
        assert b"cited_text" not in segue.write_answer(foreign, protocol).json()


@pytest.mark.parametrize("protocol", WRITTEN)
def test_signatures_of_another_protocol_are_not_written(protocol: str, sdks: Sdks) -> None:
    message = answer_of("elsewhere", *SIGNED)
    whole = segue.write_answer(message, protocol)
    assert sdks.read(protocol, whole.json(), stream=False).signatures == []
    assert sdks.read(protocol, stream_of([*segue.events_of(message)], protocol), stream=True).signatures == []


@pytest.mark.parametrize("protocol", WRITTEN)
def test_a_seal_is_written_where_the_protocol_has_its_signature(protocol: str, sdks: Sdks) -> None:
    def seal(block: Any) -> str | None:
        return None if isinstance(block, TextContent) else "c2ln"

    message = answer_of("elsewhere", *SIGNED)
    whole = segue.write_answer(message, protocol, segue.AnswerSettings(seal=seal))
    assert sdks.read(protocol, whole.json(), stream=False).signatures == SEALED[protocol]
    body = stream_of([*segue.events_of(message)], protocol, seal=seal)
    assert sdks.read(protocol, body, stream=True).signatures == SEALED[protocol]


@pytest.mark.parametrize("protocol", WRITTEN)
def test_the_model_the_id_and_the_ids_of_calls_are_those_that_the_server_chooses(protocol: str, sdks: Sdks) -> None:
    chosen: dict[str, Any] = {"model": "asked-for", "response_id": "id-1", "call_id": lambda each: f"toolu_{each}"}
    message = answer_of("elsewhere", *SIGNED)
    whole = segue.write_answer(message, protocol, segue.AnswerSettings(**chosen))
    streamed = stream_of([*segue.events_of(message)], protocol, **chosen)
    for body, stream in ((whole.json(), False), (streamed, True)):
        found = sdks.read(protocol, body, stream)
        assert (found.id, found.model, found.calls[0][0]) == ("id-1", "asked-for", "toolu_call_1")


@pytest.mark.parametrize("case", [case for case in STREAMED if case.protocol == "openai-responses"], ids=repr)
def test_encrypted_content_keeps_the_id_of_its_item_while_it_is_streamed(case: StreamCase) -> None:
    """It is bound to that id: "Encrypted content item_id did not match the target item id." (openai/codex#8119)."""
    events, message, _ = outcome(case)
    wanted = encrypted(message)
    last = [event for event in stream_of(events, "openai-responses").split(b"\n\n") if event][-1]
    response = msgspec.json.decode(last.partition(b"data: ")[2])["response"]
    found = {item["encrypted_content"]: item["id"] for item in response["output"] if item.get("encrypted_content")}
    if case.name not in CHANGING_IDS:
        assert found == wanted


CHANGING_IDS = {"openai-responses/ids-that-change"}
"""Streams whose items have another id at their end; only the first one can be written."""


def encrypted(message: AssistantMessage) -> dict[str, str]:
    """The ids of items of reasoning and of compactions by their encrypted content."""
    stored: list[Any] = [each.thinking_signature for each in message.content if isinstance(each, ThinkingContent)]
    items = [msgspec.json.decode(signature) for signature in stored if signature]
    items += [each.value for each in message.content if isinstance(each, ProviderContent)]
    return {item["encrypted_content"]: item["id"] for item in items if "encrypted_content" in item}


def test_the_estimate_of_the_prompt_is_in_the_first_event_of_messages() -> None:
    body = stream_of(
        [*segue.events_of(answer_of("elsewhere", TextContent("Yes.")))], "anthropic-messages", input_tokens=7
    )
    assert b'"input_tokens":7' in body.split(b"\n\n")[0]


def test_usage_of_a_chat_stream_is_written_on_request() -> None:
    events = [*segue.events_of(answer_of("elsewhere", TextContent("Yes.")))]
    assert b"usage" not in stream_of(events, "openai-completions", request={})
    assert b'"usage":{' in stream_of(events, "openai-completions")


def test_lone_surrogates_are_replaced(sdks: Sdks) -> None:
    message = answer_of("elsewhere", TextContent("a\ud83d"))
    for protocol in WRITTEN:
        whole = segue.write_answer(message, protocol)
        assert sdks.read(protocol, whole.json(), stream=False).text == "a\ufffd"
        assert sdks.read(protocol, stream_of([*segue.events_of(message)], protocol), stream=True).text == "a\ufffd"


# -- errors ----------------------------------------------------------------------------------------------------------

KINDS: list[type[ProviderError]] = [ProviderError, *ProviderError.__subclasses__()]
STATUSES = {
    "rate-limit": 429,
    "quota": (402, 429),
    "overloaded": (503, 529),
    "authentication": 401,
    "model-not-found": 404,
    "invalid-request": 400,
    "overflow": 400,
}


@pytest.mark.parametrize("protocol", WRITTEN)
@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.kind)
def test_every_failure_is_an_error_of_the_sdk(kind: type[ProviderError], protocol: str, sdks: Sdks) -> None:
    written = segue.write_error(kind("It failed."), protocol)
    with pytest.raises(FAILURES) as raised:
        sdks.read(protocol, written.json(), stream=False, status=written.status)
    assert error_text(raised.value).endswith("It failed.")
    expected_status = STATUSES.get(kind.kind, written.status)
    assert written.status in (expected_status if isinstance(expected_status, tuple) else (expected_status,))
    failed = answer_of("elsewhere", TextContent("Half"), stop_reason="error", error_message="It failed.")
    if kind is RefusedError:
        return
    body = stream_of([*segue.events_of(failed, kind("It failed."))], protocol)
    with pytest.raises(FAILURES) as raised:
        sdks.read(protocol, body, stream=True)
    assert error_text(raised.value) == "It failed."


@pytest.mark.parametrize("protocol", WRITTEN)
def test_an_overflow_has_the_words_by_which_clients_recognise_it(protocol: str) -> None:
    written = segue.write_error(errors.ContextOverflowError("413: too large"), protocol)
    text = written.body["error"]["message"]
    assert segue.is_context_overflow(answer_of(protocol, stop_reason="error", error_message=text))


@pytest.mark.parametrize("protocol", WRITTEN)
def test_the_seconds_to_wait_are_a_header(protocol: str) -> None:
    written = segue.write_error(errors.RateLimitError("Slow down.", retry_after=2.4), protocol)
    assert written.headers["retry-after"] == "2"


@pytest.mark.parametrize("protocol", WRITTEN)
def test_keepalives_are_ignored_anywhere_in_a_stream(protocol: str, sdks: Sdks) -> None:
    message = answer_of("elsewhere", *SIGNED)
    writer = segue.AnswerWriter(protocol)
    pieces = [writer.keepalive()]
    for event in segue.events_of(message):
        pieces += [writer.write(event), writer.keepalive()]
    if protocol == "anthropic-messages":
        pieces.pop(0)  # the SDK expects `message_start` first
    found = sdks.read(protocol, b"".join(pieces), stream=True)
    assert (found.text, found.thinking, found.calls) == ("Yes.", "Hm.", [("call_1", "f", {})])


def test_answers_of_other_protocols_cannot_be_written() -> None:
    with pytest.raises(errors.ModelError, match="answers of mistral-chat cannot be written; the protocols are"):
        segue.AnswerWriter("mistral-chat")
