"""When a refused request is not sent again."""

import asyncio
import json
import logging
import re

import pytest
from support.providers import CONTEXT, MODELS, reach
from support.quirks import ASKED
from support.raw import raw, response

import segue
from segue import Connection, Facts, Options, Retries
from segue.healing import NOT_CURED, REPORT, heal
from segue.rules import CURES, Cure, Refused
from segue.testing import Refusal, StandIn
from segue.types.secret import Secrets
from segue.wire.registry import PROTOCOLS

WORDS = "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead."
MODEL = segue.Catalog.default().resolve("vllm/gpt-9")
OPTIONS = Options(max_tokens=100, temperature=0.5, tool_choice="required", cache="short", stop=("x",))


def refused_with(refusal: Refusal | str, **settings: object) -> tuple[segue.AssistantMessage, StandIn]:
    with StandIn("vllm", refuses=lambda body: refusal) as server:
        connection = reach(server, facts=Facts(), retries=Retries(count=0), **settings)
        return segue.complete_sync(ASKED, MODEL, Options(max_tokens=100), connection=connection, check=False), server


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize("cure", CURES, ids=lambda cure: cure.number)
def test_a_resend_differs_and_there_is_at_most_one(cure: Cure, protocol: str) -> None:
    model = MODELS[protocol]
    facts = Facts()
    with StandIn(model.provider, protocol=protocol, refuses=lambda body: cure.example) as server:
        message = segue.complete_sync(CONTEXT, model, OPTIONS, connection=reach(server, facts=facts), check=False)
    assert message.stop_reason == "error"
    assert len(server.requests) <= 2
    if len(server.requests) == 2:
        assert server.requests[0] != server.requests[1]
        assert any(each.type == REPORT for each in message.diagnostics)
    assert list(facts) == []  # nothing is learnt from a request that failed


@pytest.mark.parametrize("status", [401, 403, 429])
def test_these_statuses_are_never_cured(status: int) -> None:
    _, server = refused_with(Refusal(status, "error", WORDS, "unsupported_parameter", "max_tokens"))
    assert len(server.requests) == 1


@pytest.mark.parametrize("words", ["content_policy_violation: ", "Your request was flagged by our safety system. "])
def test_a_refusal_by_policy_is_never_cured(words: str) -> None:
    _, server = refused_with(Refusal(400, "error", words + WORDS))
    assert len(server.requests) == 1


def test_a_failing_server_is_cured_only_if_it_names_the_code_or_the_field() -> None:
    _, standin = refused_with(Refusal(500, "server_error", WORDS))
    assert len(standin.requests) == 1
    error = {"error": {"message": WORDS, "code": "unsupported_parameter", "param": "max_tokens"}}
    body = json.dumps(error).encode()
    with raw(lambda asked: (response(body, "502 Bad Gateway"), True)) as server:
        connection = Connection(base_url=server.url, api_key="k", facts=Facts(), retries=Retries(count=0))
        segue.complete_sync(ASKED, MODEL, Options(max_tokens=100), connection=connection, check=False)
    assert len(server.asked) == 2


def test_healing_can_be_turned_off() -> None:
    _, server = refused_with(WORDS, heal=False)
    assert len(server.requests) == 1


@pytest.mark.parametrize(
    "words",
    [
        "messages.0.content.0.text: Extra inputs are not permitted",
        "messages: Extra inputs are not permitted",
        "tools.0.input_schema.properties.city.type: Extra inputs are not permitted",
        "Unsupported parameter: 'messages[0].content' is not supported with this model.",
    ],
)
def test_content_is_never_left_out(words: str) -> None:
    with StandIn("anthropic", refuses=lambda body: words) as server:
        segue.complete_sync(CONTEXT, MODELS["anthropic-messages"], connection=reach(server, facts=Facts()), check=False)
    assert len(server.requests) == 1


def test_nothing_is_cured_after_output_began() -> None:
    chunk = {"choices": [{"index": 0, "delta": {"role": "assistant", "content": "Hello"}}]}
    error = {"error": {"message": WORDS, "code": "unsupported_parameter", "param": "max_tokens"}}
    events = b"".join(b"data: %s\n\n" % json.dumps(each).encode() for each in (chunk, error))
    stream = response(events, headers=[("content-type", "text/event-stream")])
    with raw(lambda asked: (stream, True)) as server:
        connection = Connection(base_url=server.url, api_key="k", facts=Facts(), retries=Retries(count=0))
        message = segue.stream_sync(ASKED, MODEL, Options(max_tokens=100), connection=connection).finished()
    assert message.stop_reason == "error" and message.text == "Hello"
    assert len(server.asked) == 1


@pytest.mark.parametrize(
    ("number", "words"),
    [
        ("16", "messages: text content blocks must be non-empty"),
        ("17", "prompt is too long: 213462 tokens > 200000 maximum"),
    ],
)
def test_a_refusal_that_is_not_cured_is_reported(number: str, words: str) -> None:
    with StandIn("anthropic", refuses=lambda body: words) as server:
        message = segue.complete_sync(
            CONTEXT, MODELS["anthropic-messages"], connection=reach(server, facts=Facts()), check=False
        )
    assert len(server.requests) == 1
    assert [each.details for each in message.diagnostics if each.type == NOT_CURED] == [{"cure": number}]


def test_what_on_request_changes_is_compared_too() -> None:
    """The hook puts back what the cure removed: the request is the same and is not sent again."""

    def put_back(body: dict[str, object]) -> dict[str, object]:
        return {"model": "gpt-9", "max_tokens": 100, "messages": [{"role": "user", "content": "Hello"}]}

    _, server = refused_with(WORDS, on_request=put_back)
    assert len(server.requests) == 1


def test_a_cure_is_tried_before_another_model_is_asked() -> None:
    """The router of a session never learns of a refusal that was healed."""
    router = segue.Failover([MODEL, MODELS["anthropic-messages"]])
    with StandIn("vllm", refuses=lambda body: WORDS if "max_tokens" in body else None) as server:
        settings = segue.Settings(options=Options(max_tokens=100))
        connection = reach(server, facts=Facts())
        session = segue.Session.create(router, store=":memory:", settings=settings, connection=connection)
        answer = asyncio.run(session.ask("Hello?"))
    assert answer.model == "gpt-9" and answer.stop_reason == "stop"
    assert len(server.requests) == 2


KEY = "sk-secret-0123456789"


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize("cure", CURES, ids=lambda cure: cure.number)
def test_a_secret_that_a_refusal_repeats_is_not_in_what_is_read_from_it(cure: Cure, protocol: str) -> None:
    """In place of each word that is read, in the text and in the details, and as the code and the field."""
    found = re.search(cure.words, cure.example, re.IGNORECASE)
    read = [] if found is None else [each for each in found.groupdict().values() if each]
    texts = [cure.example, *(cure.example.replace(each, KEY) for each in read)]
    errors: list[dict[str, object]] = [
        error
        for text in texts
        for error in (
            {"message": text, "param": KEY, "code": (cure.codes or ("x",))[0]},
            {"message": text, "param": (cure.params or ("x",))[0], "code": KEY},
            {"message": "x", "detail": [{"loc": ["body", KEY], "msg": text}]},
            {"message": {"detail": [{"loc": ["body", "tools", 0, KEY], "msg": text}]}},
        )
    ]
    request = segue.encode(ASKED, MODELS[protocol], OPTIONS)
    for error in errors:
        refused = Refused.read(400, {"error": error}, f"{error['message']}", Secrets([KEY]))
        assert KEY not in repr(refused)
        cured = heal(request, refused)
        assert KEY not in repr(cured)


@pytest.mark.parametrize("status", [400, 500])
def test_the_report_of_a_healed_request_has_no_secret_of_an_sdk(status: int, caplog: pytest.LogCaptureFixture) -> None:
    error = {"message": f"{WORDS} Your key: {KEY}", "code": "unsupported_parameter", "param": "max_tokens"}
    refusal = response(json.dumps({"error": error}).encode(), f"{status} Bad")
    seen: list[str] = []
    caplog.set_level(logging.DEBUG, logger="segue")

    def report(each: segue.transport.Repaired) -> None:
        seen.append(repr(each) + each.summary())

    body = {"model": "gpt-9", "max_tokens": 100, "messages": [{"role": "user", "content": "hi"}]}
    with (
        raw(lambda asked: (refusal if len(server.asked) == 1 else response(b"{}"), False)) as server,
        segue.transport.client(provider="vllm", on_changes=report, facts=Facts()) as http,
    ):
        http.post(f"{server.url}/v1/chat/completions", json=body, headers={"authorization": f"Bearer {KEY}"})
    assert len(server.asked) == 2 and "max_completion_tokens" in "".join(seen)
    assert KEY not in "".join(seen) and KEY not in caplog.text
