"""What a request becomes: forwarded byte for byte, or rendered; bound turns; failover; recall of the right answer."""

import asyncio
import json
import logging
import re
import threading
from typing import Any

import httpx2
import pytest
from msgspec.structs import replace
from support.gateways import CALL, AnthropicTalk, ChatTalk, GeminiTalk, ResponsesTalk, Served, written
from support.waiting import until

from segue.errors import SessionError
from segue.gateway.config import Member, RouteSetting
from segue.gateway.output import Output
from segue.gateway.upstream import _Answer
from segue.testing import Fault, Reply
from segue.testing.signatures import Signer
from segue.types import TextContent, ThinkingContent, ToolCall

ANTHROPIC, CHAT, RESPONSES, GEMINI = (
    "anthropic-messages",
    "openai-completions",
    "openai-responses",
    "google-generative-ai",
)


def post(served: Served, path: str, body: Any, **headers: str) -> httpx2.Response:
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    return httpx2.post(served.url + path, content=data, headers={"content-type": "application/json", **headers})


def messages(model: str, *texts: str, **fields: Any) -> dict[str, Any]:
    turns = [{"role": "assistant" if at % 2 else "user", "content": text} for at, text in enumerate(texts)]
    return {"model": model, "max_tokens": 100, "messages": turns, **fields}


def text_of(answer: httpx2.Response) -> str:
    """The texts of an answer of Anthropic's protocol, streamed or whole."""
    return "".join(re.findall(r'"text":"([^"]*)"', answer.text))


class TestForwarding:
    def test_a_clean_request_of_the_same_protocol_arrives_byte_for_byte(self, served: Served) -> None:
        """Odd spacing, the order of fields and fields that segue does not know survive; only the model differs."""
        seen: list[bytes] = []
        standin = served[ANTHROPIC]
        body = (
            b'{ "max_tokens" : 100,"messages":[{"role":"user","content":"hi \\u00e9"}],\n'
            b'  "model":"anthropic-messages" , "metadata":{"user_id":"u"} }'
        )
        handled = standin.refusal_for

        def spy(sent: Any, *rest: Any) -> Any:
            seen.append(json.dumps(sent).encode())
            return handled(sent, *rest)

        standin.refusal_for = spy  # type: ignore[method-assign]
        try:
            answer = post(served, "/v1/messages?beta=true", body, **{"anthropic-version": "2023-06-01"})
        finally:
            del standin.refusal_for  # type: ignore[method-assign]
        assert answer.status_code == 200
        assert answer.json()["model"] == ANTHROPIC
        assert answer.headers["x-segue-model"] == "anthropic/claude-sonnet-4-5"
        assert json.loads(seen[0]) == json.loads(body) | {"model": "claude-sonnet-4-5"}
        report = served.report(answer)
        assert report["lane"] == "forwarded" and report["changes"] == []

    @pytest.mark.parametrize("target", [ANTHROPIC, RESPONSES])
    def test_half_a_character_is_replaced_and_reported(self, served: Served, target: str) -> None:
        """JSON with it can be written (JavaScript does), but no provider parses it."""
        answer = post(served, "/v1/messages", messages(target, "Cut: \ud83d"))
        assert answer.status_code == 200, answer.text
        assert "Cut: \ufffd" in written(served[target].requests[-1])
        assert "text-sanitized" in [change["code"] for change in served.report(answer)["changes"]]

    def test_headers_of_the_client_are_forwarded_but_not_its_key(self, served: Served) -> None:
        answer = post(
            served, "/v1/messages", messages(ANTHROPIC, "hi"),
            **{"x-api-key": "client-secret", "cookie": "a=b", "anthropic-beta": "context-1m-2025-08-07"},
        )  # fmt: skip
        assert answer.status_code == 200 and answer.headers["request-id"]


class TestCaches:
    @pytest.mark.parametrize("target", [RESPONSES, "mistral-chat"])
    def test_the_key_of_a_client_finds_the_cache_of_the_target(self, served: Served, target: str) -> None:
        body = messages(target, "hi, key?", prompt_cache_key="mine")
        answer = post(served, "/v1/chat/completions", body)
        assert answer.status_code == 200
        assert served[target].requests[-1]["prompt_cache_key"] == "mine"
        report = served.report(answer)
        assert not [change for change in report["changes"] if "prompt_cache_key" in change["detail"]]

    @pytest.mark.parametrize("header", ["x-session-affinity", "x-session-id", "session_id"])
    def test_without_one_requests_of_a_session_have_the_same_key(self, served: Served, header: str) -> None:
        keys = []
        for session, text in (("one", "a"), ("one", "b"), ("two", "a")):
            assert post(served, "/v1/messages", messages(RESPONSES, text), **{header: session}).status_code == 200
            keys.append(served[RESPONSES].requests[-1]["prompt_cache_key"])
        assert keys[0] == keys[1] != keys[2]

    def test_a_target_without_keys_gets_none(self, served: Served) -> None:
        body = messages(ANTHROPIC, "hi, none?", prompt_cache_key="mine")
        assert post(served, "/v1/chat/completions", body).status_code == 200
        assert "prompt_cache_key" not in served[ANTHROPIC].requests[-1]


class TestTurns:
    def test_a_running_turn_stays_with_its_model_when_the_name_changes(self, served: Served) -> None:
        """The route decides again at the next turn."""
        served[ANTHROPIC].say(CALL, "Warm.")
        talk = AnthropicTalk(served.url, drops=True)
        talk.user("Weather in Oslo, bound?")
        assert talk.ask(ANTHROPIC, False) is None
        assert talk.ask(RESPONSES, False) == "Warm."
        assert talk.headers["x-segue-turn"] == "bound"
        assert talk.headers["x-segue-model"] == "anthropic/claude-sonnet-4-5"
        served[RESPONSES].say("Next.")
        assert talk.say(RESPONSES, "And now?") == "Next."
        assert "x-segue-turn" not in talk.headers

    def test_a_system_message_after_the_result_does_not_end_the_turn(self, served: Served) -> None:
        served[ANTHROPIC].say(CALL, "Warm.")
        talk = AnthropicTalk(served.url, drops=True)
        talk.user("Weather in Bern, bound?")
        assert talk.ask(ANTHROPIC, False) is None
        talk.history.append({"role": "system", "content": "<total_tokens>5</total_tokens>"})
        assert talk.ask(RESPONSES, False) == "Warm."

    def test_a_reminder_beside_the_result_does_not_end_the_turn_but_the_user_does(self, served: Served) -> None:
        """Claude Code adds reminders of its own to the message with the results; people type there, too."""
        served[ANTHROPIC].say(CALL, "Warm.", CALL)
        served[RESPONSES].say("Next.")
        for text, bound in (("<system-reminder>Keep the list.</system-reminder>", "bound"), ("Stop. And Rome?", None)):
            talk = AnthropicTalk(served.url, drops=True)
            talk.user(f"Weather in Kiel, {bound}?")
            assert talk.ask(ANTHROPIC, False) is None
            talk.history[-1]["content"].append({"type": "text", "text": text})
            assert talk.ask(RESPONSES, False) == ("Warm." if bound else "Next.")
            assert talk.headers.get("x-segue-turn") == bound

    def test_an_answer_of_thinking_alone_is_dropped(self, served: Served) -> None:
        """Claude Code sends back what had arrived of a stream that was cut."""
        turns = [
            {"role": "user", "content": "Cut?"},
            {"role": "assistant", "content": [{"type": "thinking", "thinking": "half", "signature": ""}]},
            {"role": "user", "content": "Your response above was cut off. Resume."},
        ]
        body = {"model": RESPONSES, "max_tokens": 100, "messages": turns}
        assert post(served, "/v1/messages", body).status_code == 200
        assert "Resume" in written(served[RESPONSES].requests[-1])


class TestRecall:
    def test_two_conversations_with_equal_calls_and_texts_keep_their_signatures(self, served: Served) -> None:
        """Both have ``call_0`` and say "Done."; each gets back what was made for it, in the same tenant."""
        standin = served[ANTHROPIC]
        talks = []
        for place in ("one", "two"):
            thought = ThinkingContent(f"Thinking about {place}.")
            standin.say(
                Reply([thought, ToolCall("call_0", "weather", {"city": "Paris"})]),
                Reply([ThinkingContent(f"Finishing {place}."), TextContent("Done.")]),
            )
            talk = ChatTalk(served.url)
            before = len(standin.signatures)
            assert talk.say(ANTHROPIC, f"Conversation {place}") == "Done."
            talks.append((talk, place, standin.signatures[before:]))
        for talk, place, issued in talks:
            standin.say("Bye.")
            assert talk.say(ANTHROPIC, "And?") == "Bye."
            sent = written(standin.requests[-1])
            others = [each for _, name, found in talks if name != place for each in found]
            assert all(signature in sent for signature in issued) and len(issued) == 2
            assert not any(signature in sent for signature in others)

    def test_envelopes_work_without_the_store(self, served: Served) -> None:
        """With an empty store, as in a new replica, another vendor's signature returns from the client's own field."""
        standin, talk = served[ANTHROPIC], GeminiTalk(served.url)
        standin.say(Reply([ThinkingContent("Hm, envelopes."), TextContent("First.")]))
        before = len(standin.signatures)
        assert talk.say(ANTHROPIC, "Envelope?") == "First."
        [issued] = standin.signatures[before:]
        asyncio.run(served.gateway.store.forget("local"))
        served.gateway.pipeline.recall._recent.clear()
        served.gateway.pipeline.conversations._kept.clear()
        standin.say("Second.")
        assert talk.say(ANTHROPIC, "Again?") == "Second."
        assert issued in written(standin.requests[-1])

    @pytest.mark.parametrize(
        ("path", "body", "end"),
        [
            ("/v1/messages", messages(ANTHROPIC, "One piece?"), b"message_stop"),
            ("/v1/chat/completions", messages(ANTHROPIC, "One piece?"), b"[DONE]"),
            ("/v1/responses", {"model": RESPONSES, "input": "One piece?"}, b"response.completed"),
        ],
        ids=["forwarded", "rendered", "responses"],
    )
    @pytest.mark.parametrize("streams", [True, False], ids=["streamed", "whole"])
    def test_an_answer_is_stored_before_its_end_is_sent(
        self,
        served: Served,
        monkeypatch: pytest.MonkeyPatch,
        path: str,
        body: dict[str, Any],
        end: bytes,
        streams: bool,
    ) -> None:
        """Even if all of it arrives in one piece."""
        happened: list[bytes] = []
        make, keep = Output.__init__, served.gateway.store.add_answers

        async def whole(answer: _Answer) -> bytes | None:
            return await answer._response.read() if not answer._response.content.at_eof() else None

        async def add_answers(*arguments: Any) -> None:
            await keep(*arguments)
            happened.append(b"stored")

        def made(output: Output, send: Any) -> None:
            async def noted(message: dict[str, Any]) -> None:
                happened.append(message.get("body", b"head"))
                await send(message)

            make(output, noted)

        monkeypatch.setattr(_Answer, "piece", whole)
        monkeypatch.setattr(Output, "__init__", made)
        monkeypatch.setattr(served.gateway.store, "add_answers", add_answers)
        served[body["model"]].say(Reply([ThinkingContent("Hm."), TextContent("In one piece.")]))
        answer = post(served, path, body | {"stream": streams})
        assert (end if streams else b"In one piece.") in answer.content
        before = happened[: happened.index(b"stored")]
        assert end not in b"".join(before) if streams else before == []

    def test_a_response_is_stored_even_if_recall_fails(self, served: Served, monkeypatch: pytest.MonkeyPatch) -> None:
        async def fails(*_: Any) -> None:
            raise SessionError("the disk is full")

        monkeypatch.setattr(served.gateway.store, "add_answers", fails)
        served[RESPONSES].say("Stored.")
        answer = post(served, "/v1/responses", {"model": RESPONSES, "input": "Stored?"})
        found = httpx2.get(f"{served.url}/v1/responses/{answer.json()['id']}")
        assert found.status_code == 200 and "Stored." in found.text

    def test_a_forged_envelope_is_nobodys(self, served: Served) -> None:
        standin = served[RESPONSES]
        standin.say(Reply([ThinkingContent("Hm, forged."), TextContent("First.")]))
        talk = AnthropicTalk(served.url)
        assert talk.say(RESPONSES, "Forged?") == "First."
        block = talk.history[-1]["content"][0]
        block["signature"] = block["signature"][:-8] + "AAAAAAA="
        talk.history[-1]["content"][1]["text"] = "Changed, so that the store does not know it."
        standin.say("Second.")
        assert talk.say(RESPONSES, "Again?") == "Second."
        assert "encrypted_content" not in written(standin.requests[-1]["input"])

    def test_a_refused_signature_is_repaired_once_and_not_sent_again(self, served: Served) -> None:
        """Not by another process either: the answer is marked in the store."""
        standin, talk = served[ANTHROPIC], ChatTalk(served.url)
        standin.say(Reply([ThinkingContent("Hm, refused."), TextContent("First.")]), "Second.", "Third.")
        before = len(standin.signatures)
        assert talk.say(ANTHROPIC, "Refused?") == "First."
        [issued] = standin.signatures[before:]
        signer, standin._signer = standin._signer, Signer("another account")
        try:
            assert talk.say(ANTHROPIC, "Repaired?") == "Second."
            assert len(standin.refused) == 1 and "signature" in str(standin.refused.pop())
            served.gateway.pipeline.recall._recent.clear()
            served.gateway.pipeline.conversations._kept.clear()
            assert talk.say(ANTHROPIC, "Again?") == "Third."
        finally:
            standin._signer = signer
        assert standin.refused == [] and issued not in written(standin.requests[-1])


class TestUsage:
    @pytest.mark.parametrize(
        ("path", "body", "comments"),
        [
            ("/v1/messages", messages(RESPONSES, "Usage?", stream=True), 1),
            ("/v1/chat/completions", messages(ANTHROPIC, "Usage?", stream=True), 1),
            (
                f"/v1beta/models/{ANTHROPIC}:streamGenerateContent?alt=sse",
                {"contents": [{"parts": [{"text": "?"}]}]},
                0,
            ),
        ],
    )
    def test_a_comment_has_it_but_not_for_gemini(
        self, served: Served, path: str, body: dict[str, Any], comments: int
    ) -> None:
        found = re.findall(
            r"^: segue model=\S+ input=20 output=10 dollars=0\.\d+$", post(served, path, body).text, re.M
        )
        assert len(found) == comments


class TestFailover:
    @pytest.fixture(autouse=True)
    def _routes(self, served: Served) -> None:
        members = (Member(model="anthropic/claude-sonnet-4-5"), Member(model="mistral/mistral-large-latest"))
        route = RouteSetting(name="both", models=members)
        served.gateway.routes._settings["both"] = route
        served.gateway.routes._file["both"] = route
        served.gateway.routes._made.clear()

    def test_a_running_turn_whose_model_fails_is_rebound(self, served: Served) -> None:
        served[ANTHROPIC].say(CALL, Fault("wrong-key"))
        served["mistral-chat"].say("Warm, says the other.")
        talk = AnthropicTalk(served.url)
        talk.user("Weather in Rome, rebound?")
        assert talk.ask("both", False) is None
        assert talk.ask("both", False) == "Warm, says the other."
        assert talk.headers["x-segue-turn"] == "rebound"
        assert talk.headers["x-segue-model"] == "mistral/mistral-large-latest"

    @pytest.mark.parametrize("stream", [False, True])
    def test_before_the_first_content_another_member_answers(self, served: Served, stream: bool) -> None:
        served[ANTHROPIC].say(Fault("wrong-key"))
        served["mistral-chat"].say("From the other.")
        body = messages("both", f"Failover {stream}?", stream=stream)
        answer = post(served, "/v1/messages", body)
        assert answer.status_code == 200 and "From the other." in text_of(answer)
        assert answer.headers["x-segue-model"] == "mistral/mistral-large-latest"
        assert answer.headers["x-segue-attempts"] == "2"

    @pytest.mark.parametrize(
        ("path", "body", "end"),
        [
            ("/v1/messages", messages("both", "Cut here"), "event: error"),
            ("/v1/responses", {"model": "both", "input": "Cut here, too"}, '"error":{"code":"server_error"'),
        ],
    )
    def test_after_it_the_stream_ends_and_the_next_try_goes_elsewhere(
        self, served: Served, path: str, body: dict[str, Any], end: str
    ) -> None:
        served[ANTHROPIC].say(Fault("cut", Reply([TextContent("Half of an answer, and more of it.")])))
        cut = post(served, path, body | {"stream": True})
        assert cut.status_code == 200 and "Half" in cut.text and end in cut.text
        served.gateway.routes._made.clear()  # what this process knows of the member's health
        served["mistral-chat"].say("Elsewhere.")
        again = post(served, path, body | {"stream": True})
        assert "Elsewhere." in again.text and again.headers["x-segue-model"] == "mistral/mistral-large-latest"

    def test_a_cut_chat_stream_breaks_the_connection(self, served: Served, caplog: pytest.LogCaptureFixture) -> None:
        """So that SDKs raise, rather than take it for an answer. It is not an error of the server."""
        served[ANTHROPIC].say(Fault("cut", Reply([TextContent("Half of an answer, and more of it.")])))
        body = {"model": ANTHROPIC, "messages": [{"role": "user", "content": "Cut chat"}], "stream": True}
        with pytest.raises(httpx2.RemoteProtocolError):
            post(served, "/v1/chat/completions", body)
        assert not [record for record in caplog.records if record.levelno >= logging.WARNING]

    def test_an_overflow_is_the_protocols_own(self, served: Served) -> None:
        served[RESPONSES].say(Fault("overflow"))
        answer = post(served, "/v1/messages", messages(RESPONSES, "Too long?"))
        assert answer.status_code == 400 and "prompt is too long" in answer.json()["error"]["message"]


class TestKeepalive:
    @pytest.mark.parametrize(
        ("path", "body", "sign"),
        [
            ("/v1/messages", messages(CHAT, "Slow?", stream=True), "event: ping"),
            ("/v1/chat/completions", messages(ANTHROPIC, "Slow?", stream=True), ": keepalive"),
            (
                f"/v1beta/models/{ANTHROPIC}:streamGenerateContent?alt=sse",
                {"contents": [{"role": "user", "parts": [{"text": "Slow?"}]}]},
                "usageMetadata",
            ),
        ],
    )
    def test_silence_is_filled_before_the_answer(
        self, served: Served, path: str, body: dict[str, Any], sign: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """The answer waits until a keepalive was seen, and still arrives after it."""
        go = threading.Event()
        config = served.gateway.pipeline.config
        quick = replace(config, gateway=replace(config.gateway, keepalive=0.05))
        monkeypatch.setattr(served.gateway.pipeline, "config", quick)
        target = CHAT if "/v1/messages" in path else ANTHROPIC
        served[target].say(lambda context: (go.wait(60), "At last.")[1])
        text = ""
        with httpx2.stream("POST", served.url + path, json=body) as answer:
            assert answer.status_code == 200
            for piece in answer.iter_text():
                text += piece
                if sign in text:
                    go.set()
        assert sign in text and "At last." in text
        assert (": keepalive" in text) == (sign == ": keepalive")


class TestLeaving:
    @pytest.mark.parametrize("path", ["/v1/messages", "/v1/chat/completions"])
    def test_a_client_that_leaves_in_mid_stream_leaves_nothing_behind(self, served: Served, path: str) -> None:
        served[ANTHROPIC].say(Fault("silence", Reply([TextContent("This is half of an answer, and here is more.")])))
        body = messages(ANTHROPIC, f"Leaving {path}?", stream=True)
        with httpx2.stream("POST", served.url + path, json=body) as answer:
            pieces = answer.iter_text()  # it would leave at its end
            assert any("half" in piece for piece in pieces)
            assert served.server.server_state.tasks
        until(lambda: not served.server.server_state.tasks)


class TestStoredResponses:
    def test_a_response_continues_another_one_of_another_vendor(self, served: Served) -> None:
        talk = ResponsesTalk(served.url)
        sdk = talk.sdk
        served[ANTHROPIC].say("I am one.")
        first = sdk.responses.create(model=ANTHROPIC, input="Who are you?")
        served[GEMINI].say("I am two.")
        second = sdk.responses.create(model=GEMINI, input="And you?", previous_response_id=first.id)
        assert second.output_text == "I am two." and second.previous_response_id == first.id
        sent = written(served[GEMINI].requests[-1])
        assert "Who are you?" in sent and "I am one." in sent and "And you?" in sent
        assert sdk.responses.retrieve(second.id).output_text == "I am two."
        sdk.responses.delete(second.id)
        gone = httpx2.get(f"{served.url}/v1/responses/{second.id}")
        assert gone.status_code == 404

    @pytest.mark.parametrize(
        ("fields", "code"),
        [
            ({"previous_response_id": "resp_unknown"}, "previous_response_not_found"),
            ({"background": True}, "unsupported_parameter"),
            ({"conversation": "conv_1"}, "unsupported_parameter"),
        ],
    )
    def test_what_cannot_be_continued_is_refused_in_openais_words(
        self, served: Served, fields: dict[str, Any], code: str
    ) -> None:
        answer = post(served, "/v1/responses", {"model": RESPONSES, "input": "hi", **fields})
        assert answer.status_code == 400 and answer.json()["error"]["code"] == code
        assert answer.json()["error"]["param"] == next(iter(fields))

    def test_without_store_nothing_is_kept(self, served: Served) -> None:
        answer = post(served, "/v1/responses", {"model": ANTHROPIC, "input": "hi", "store": False})
        assert httpx2.get(f"{served.url}/v1/responses/{answer.json()['id']}").status_code == 404


class TestStrict:
    def test_a_request_that_would_lose_something_is_refused(self, served: Served) -> None:
        body = messages(RESPONSES, "Lose?", stop_sequences=["END"])
        answer = post(served, "/v1/messages", body, **{"x-segue-policy": "strict"})
        assert answer.status_code == 422 and "stop" in answer.json()["error"]["message"]
        lost = post(served, "/v1/messages", body)
        assert lost.status_code == 200 and lost.headers["x-segue-changes"].startswith("lost=1 ")

    @pytest.mark.parametrize("model", [ANTHROPIC, RESPONSES])
    def test_the_refusal_is_an_error_of_the_protocol(self, served: Served, model: str) -> None:
        """Its body has the status of the answer, and names no parameter that the client has not sent."""
        strict = {"x-segue-policy": "strict"}
        body = {"contents": [{"role": "user", "parts": [{"text": "Lose?"}]}], "generationConfig": {"seed": 5}}
        answer = post(served, f"/v1beta/models/{model}:generateContent", body, **strict)
        assert answer.status_code == answer.json()["error"]["code"] == 422
        lossy = messages(model, "Lose?", logit_bias={"1": 1})
        assert post(served, "/v1/chat/completions", lossy, **strict).json()["error"]["param"] is None

    def test_counting_loses_nothing(self, served: Served) -> None:
        body = messages(RESPONSES, "Lose?", stop_sequences=["END"])
        answer = post(served, "/v1/messages/count_tokens", body, **{"x-segue-policy": "strict"})
        assert answer.status_code == 200 and answer.json()["input_tokens"] > 0

    def test_an_unknown_policy_is_refused(self, served: Served) -> None:
        answer = post(served, "/v1/messages", messages(RESPONSES, "hi"), **{"x-segue-policy": "lenient"})
        assert answer.status_code == 400


class TestCounting:
    @pytest.mark.parametrize(
        ("path", "body", "field"),
        [
            ("/v1/messages/count_tokens", messages(RESPONSES, "How long?"), "input_tokens"),
            ("/v1/responses/input_tokens", {"model": ANTHROPIC, "input": "How long?"}, "input_tokens"),
            (f"/v1beta/models/{CHAT}:countTokens", {"contents": [{"parts": [{"text": "How long?"}]}]}, "totalTokens"),
        ],
    )
    def test_an_estimate_is_marked(self, served: Served, path: str, body: dict[str, Any], field: str) -> None:
        answer = post(served, path, body)
        assert answer.status_code == 200 and answer.json()[field] > 0
        assert answer.headers["x-segue-tokens"] == "estimated"

    def test_gemini_counts_what_a_whole_request_would_have(self, served: Served) -> None:
        """``generateContentRequest`` holds it in place of ``contents`` (ai.google.dev/api/tokens, 2026-11)."""
        url, body = f"/v1beta/models/{CHAT}:countTokens", {"contents": [{"parts": [{"text": "How long is this?"}]}]}
        wrapped = {"generateContentRequest": body | {"model": f"models/{CHAT}"}}
        assert post(served, url, wrapped).json() == post(served, url, body).json()

    def test_the_first_event_has_an_estimate_of_the_prompt(self, served: Served) -> None:
        """Clients that see 0 never compact."""
        answer = post(served, "/v1/messages", messages(RESPONSES, "word " * 400, stream=True))
        start = json.loads(answer.text.split("data: ")[1].splitlines()[0])
        assert start["message"]["usage"]["input_tokens"] > 0
