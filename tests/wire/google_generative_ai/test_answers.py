"""Google's own client reads the same bytes over a real connection and gets the same answer."""

import base64
import re
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import msgspec
import pytest
from google import genai
from google.genai import errors, types
from support.loopback import serve
from support.streams import StreamCase, cases, decoded

import segue
from segue.types import AssistantMessage, ProviderContent, TextContent, ThinkingContent, ToolCall
from segue.wire.google_generative_ai.decode import CONTINUES, STOPS

CASES = cases("google-generative-ai")
LIMITS = {types.FinishReason.MAX_TOKENS, types.FinishReason.CONTINUATION}
Judges = dict[str, genai.Client]
# How texts for parts that a message cannot hold begin.


@pytest.fixture(scope="module")
def judges() -> Iterator[Judges]:
    """A client for each surface."""
    made = {name: genai.Client(vertexai=name == "vertex", api_key="nobody's") for name in ("gemini", "vertex")}
    yield made
    for each in made.values():
        each.close()


def asked(
    judges: Judges, case: StreamCase, body: bytes, stream: bool, status: int = 200
) -> list[types.GenerateContentResponse]:
    judge = judges[getattr(case.model.dialect, "surface", "")]
    with serve(body, "text/event-stream" if stream else "application/json", status) as url:
        options = types.HttpOptions(base_url=url, retry_options=types.HttpRetryOptions(attempts=1))
        config = types.GenerateContentConfig(automatic_continuation=False, http_options=options)
        ask: dict[str, Any] = {"model": case.model.id, "contents": "Go on.", "config": config}
        if stream:
            return list(judge.models.generate_content_stream(**ask))
        return [judge.models.generate_content(**ask)]


# -- what the client found -------------------------------------------------------------------------------------------


class Found:
    """The parts of the first candidate, and the last value of everything else."""

    def __init__(self, responses: list[types.GenerateContentResponse]) -> None:
        self.texts: list[str] = []
        self.thoughts: list[str] = []
        self.signatures: list[bytes] = []
        self.calls: list[dict[str, Any]] = []
        self.stop: types.FinishReason | None = None
        self.blocked: types.BlockedReason | None = None
        self.why = ""
        self.usage: types.GenerateContentResponseUsageMetadata | None = None
        for response in responses:
            self.usage = response.usage_metadata or self.usage
            self.blocked = (response.prompt_feedback and response.prompt_feedback.block_reason) or self.blocked
            for candidate in response.candidates or []:
                if not candidate.index:
                    self.take(candidate)

    def take(self, candidate: types.Candidate) -> None:
        self.stop = candidate.finish_reason or self.stop
        self.why = candidate.finish_message or self.why
        for part in (candidate.content and candidate.content.parts) or []:
            if part.thought_signature:
                self.signatures.append(part.thought_signature)
            if part.function_call is not None:
                self.take_call(part.function_call)
            elif part.text:
                (self.thoughts if part.thought else self.texts).append(part.text)

    def take_call(self, call: types.FunctionCall) -> None:
        """The client does not put streamed arguments together; the pieces are set at their paths here."""
        if call.name:
            self.calls.append({"id": call.id, "name": call.name, "args": dict(call.args or {})})
        for piece in call.partial_args or []:
            steps = [int(step) if step.isdigit() else step for step in re.findall(r"\w+", piece.json_path or "")]
            place: Any = self.calls[-1]["args"]
            for step, following in pairwise(steps):
                if isinstance(place, list) and step == len(place):
                    place.append({})
                elif isinstance(place, dict):
                    place.setdefault(step, [] if isinstance(following, int) else {})
                place = place[step]
            if piece.string_value is not None:
                place[steps[-1]] = place.get(steps[-1], "") + piece.string_value
            else:
                place[steps[-1]] = piece.bool_value if piece.number_value is None else piece.number_value


def assert_agree(found: Found, message: AssistantMessage) -> None:
    blocks = message.content
    texts = [block.text for block in blocks if isinstance(block, TextContent)]
    assert "".join(texts) == "".join(found.texts)
    assert "".join(block.thinking for block in blocks if isinstance(block, ThinkingContent)) == "".join(found.thoughts)
    assert [base64.b64decode(each) for each in map(signature, blocks) if each] == found.signatures
    calls = [block for block in blocks if isinstance(block, ToolCall)]
    assert [(call.name, call.arguments) for call in calls] == [(call["name"], call["args"]) for call in found.calls]
    for ours, theirs in zip(calls, found.calls, strict=True):
        assert ours.id and ours.id == (theirs["id"] or ours.id)
    assert_ended_alike(found, message)
    assert_counted_alike(found.usage, message)


def signature(block: Any) -> str | None:
    if isinstance(block, ProviderContent):
        return str(block.value["thoughtSignature"]) if "thoughtSignature" in block.value else None
    if isinstance(block, ToolCall):
        return block.thought_signature
    return block.text_signature if isinstance(block, TextContent) else block.thinking_signature


def assert_ended_alike(found: Found, message: AssistantMessage) -> None:
    if found.blocked is not None:
        assert message.stop_reason == "error" and (message.error_message or "").startswith(found.blocked.value)
    elif found.stop is types.FinishReason.STOP:
        assert message.stop_reason == ("toolUse" if found.calls else "stop")
    elif found.stop in LIMITS:
        assert message.stop_reason == "length"
    else:
        assert found.stop is not None and message.stop_reason == "error"
        # For the Gemini API the client leaves finishMessage out.
        word, _, why = (message.error_message or "").partition(": ")
        assert word == found.stop.value and found.why in ("", why)


def assert_counted_alike(usage: types.GenerateContentResponseUsageMetadata | None, message: AssistantMessage) -> None:
    ours = message.usage
    if usage is None:
        assert (ours.total_tokens, ours.cost) == (0, None)
        return
    assert ours.input + ours.cache_read == (usage.prompt_token_count or 0) + (usage.tool_use_prompt_token_count or 0)
    assert ours.cache_read == (usage.cached_content_token_count or 0)
    assert ours.output == (usage.candidates_token_count or 0) + (usage.thoughts_token_count or 0)
    assert ours.total_tokens == (usage.total_token_count or 0)


# -- the cases -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("case", [case for case in CASES if case.events is not None], ids=repr)
def test_the_client_finds_the_same_in_a_stream(judges: Judges, case: StreamCase) -> None:
    _, message = decoded(case.request(), case.pieces())
    body = b"".join(case.pieces())
    if b'"error":{' in body:
        with pytest.raises(errors.APIError) as raised:
            asked(judges, case, body, stream=True)
        assert_same_error(raised.value, message)
    else:
        assert_agree(Found(asked(judges, case, body, stream=True)), message)


@pytest.mark.parametrize("case", [case for case in CASES if case.whole is not None], ids=repr)
def test_the_client_finds_the_same_in_a_whole_answer(judges: Judges, case: StreamCase) -> None:
    body = msgspec.json.encode(case.whole)
    message = segue.decode(body, case.request(stream=False), now=1)
    if "error" in case.whole:
        with pytest.raises(errors.APIError) as raised:
            asked(judges, case, body, stream=False, status=case.whole["error"]["code"])
        assert_same_error(raised.value, message)
    else:
        assert_agree(Found(asked(judges, case, body, stream=False)), message)


def assert_same_error(error: errors.APIError, message: AssistantMessage) -> None:
    assert message.stop_reason == "error"
    assert message.error_message == f"{error.code} {error.status}: {error.message}"


# -- tests that are not cases -----------------------------------------------------------------------------------------


def by(name: str) -> StreamCase:
    return next(case for case in CASES if case.name.endswith(f"/{name}"))


def candidate(text: str, **more: Any) -> dict[str, Any]:
    return {"candidates": [{"content": {"parts": [{"text": text}]}, **more}]}


def answer_to(*chunks: Any, case: str = "text") -> AssistantMessage:
    pieces = [b"data: " + msgspec.json.encode(chunk) + b"\n\n" for chunk in chunks]
    return decoded(by(case).request(), pieces)[1]


def test_every_finish_reason_of_the_client_is_known() -> None:
    assert {word.value for word in types.FinishReason} == {*STOPS, *CONTINUES} - {None, ""}


@pytest.mark.parametrize("word", sorted(word for word, stop in STOPS.items() if stop == "error"))
def test_a_finish_reason_for_a_failure_is_an_error_that_names_it(word: str) -> None:
    message = answer_to(candidate("Once", finishReason=word, finishMessage="Sorry."))
    assert (message.stop_reason, message.error_message, message.text) == ("error", f"{word}: Sorry.", "Once")


@pytest.mark.parametrize("case", [case for case in CASES if case.events is not None], ids=repr)
def test_an_array_of_chunks_is_the_same_answer(case: StreamCase) -> None:
    """The form of streamGenerateContent without ``alt=sse``."""
    chunks = [event["data"] for event in case.events or [] if "data" in event]
    if len(chunks) < len(case.events or []):
        return  # it has bytes that are no event
    _, message = decoded(case.request(), case.pieces())
    _, same = decoded(case.request(), [msgspec.json.encode(chunks)])
    assert same == message


def test_content_after_the_stop_is_kept() -> None:
    """Gateways write STOP on chunks without content, also on the first (CLIProxyAPI#5640, 2026-09)."""
    empty = {"candidates": [{"content": {"parts": []}, "finishReason": "STOP"}]}
    message = answer_to(empty, candidate("One", finishReason="STOP"), candidate(", two."), empty)
    assert (message.stop_reason, message.text) == ("stop", "One, two.")


def test_a_call_whose_arguments_were_guessed_may_not_run() -> None:
    def piece(**call: Any) -> dict[str, Any]:
        return {"candidates": [{"content": {"parts": [{"functionCall": call}]}}]}

    end = {"candidates": [{"finishReason": "STOP"}]}
    start = piece(name="weather", willContinue=True)
    for path in ("", "$", "$[0]", "$.a[1]", "$..a", "$.a[*]", "city"):
        message = answer_to(start, piece(partialArgs=[{"jsonPath": path, "stringValue": "x"}]), end)
        assert message.tool_calls[0].arguments == {} and message.runnable_calls == [], path
    for path in ("$.a", "$.a.b", "$.a[0]"):
        pieces = [{"jsonPath": "$.a", "numberValue": 1}, {"jsonPath": path, "numberValue": 2}]
        message = answer_to(start, piece(partialArgs=pieces), end)
        assert message.tool_calls[0].arguments == {"a": 1} and message.runnable_calls == [], path
    waits = piece(partialArgs=[{"jsonPath": "$.a", "stringValue": "x", "willContinue": True}], willContinue=True)
    assert answer_to(start, waits, end).runnable_calls == []
    assert answer_to(start, waits, piece(name="weather", args={}), end).runnable_calls[0].arguments == {}


def test_names_on_a_path_may_be_quoted() -> None:
    paths = {"$['a b']": "a b", '$["it\'s"]': "it's", "$['it\\'s']": "it's", "$['\"']": '"', "$['\\u2713']": "✓"}
    for path, name in paths.items():
        call = {"name": "f", "partialArgs": [{"jsonPath": path, "nullValue": None}]}
        message = answer_to({"candidates": [{"content": {"parts": [{"functionCall": call}]}, "finishReason": "STOP"}]})
        assert message.runnable_calls[0].arguments == {name: None}


def test_streamed_arguments_are_json_that_grows() -> None:
    """Each delta adds to the text, which can be read at any time."""
    case = by("streamed-lists-and-objects")
    decoder, text, seen = segue.Decoder(case.request()), "", []
    for piece in case.pieces():
        for event in decoder.feed(piece):
            if isinstance(event, segue.events.ToolCallDelta):
                text += event.delta
                seen.append(event.partial.content[0].arguments)  # type: ignore[union-attr]
    assert msgspec.json.decode(text) == case.message["content"][0]["arguments"]
    assert {"note": "two", "items": [{"name": "ap"}]} in seen


def test_nothing_is_emitted_after_an_error_in_an_array() -> None:
    error = {"error": {"code": 500, "message": "Internal error", "status": "INTERNAL"}}
    body = msgspec.json.encode([candidate("Well"), error, candidate("no", finishReason="STOP")])
    _, message = decoded(by("text").request(), [body])
    assert (message.text, message.error_message) == ("Well", "500 INTERNAL: Internal error")
