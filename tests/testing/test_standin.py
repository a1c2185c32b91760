"""Tests for the stand-ins of all protocols: paths, keys, bodies, scripts, conversations, records, and the command."""

import json
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from copy import deepcopy
from itertools import count
from typing import Any

import httpx2
import pytest
from hypothesis import given, strategies as st
from support.facts import FACTS, Facts
from support.journeys import IMAGE
from support.providers import CONTEXT, MODELS, OPTIONS, reach
from support.talk import answer_of, contents, continued, read_back
from support.waiting import HANGS, SHORT, free_port

import segue
from segue import Retries, Timeouts
from segue.testing import Fault, FaultKind, Reply, StandIn
from segue.testing.voices import voice_of
from segue.types import (
    AssistantMessage,
    Context,
    Model,
    TextContent,
    ThinkingContent,
    ToolCall,
    ToolResultMessage,
    Usage,
    UserMessage,
)
from segue.wire.registry import PROTOCOLS

ONCE = Retries(count=0)
REPLY = Reply([ThinkingContent("Hm."), TextContent("Let me see. ✓"), ToolCall("", "weather", {"city": "Paris ✓"})])


@pytest.fixture(params=PROTOCOLS, scope="module")
def protocol(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="module")
def facts(protocol: str) -> Facts:
    return FACTS[protocol]


@pytest.fixture
def server(protocol: str) -> Iterator[StandIn]:
    with standin(protocol) as server:
        yield server


@pytest.fixture(scope="module")
def http() -> Iterator[httpx2.Client]:
    with httpx2.Client(verify=False, timeout=HANGS) as client:
        yield client


def standin(protocol: str, **settings: Any) -> StandIn:
    return standin_for(MODELS[protocol], **settings)


def standin_for(model: Model, **settings: Any) -> StandIn:
    return StandIn(model.provider, protocol=model.protocol, **settings)


def request_of(server: StandIn, context: Context = CONTEXT) -> segue.Request:
    return segue.encode(context, MODELS[server.protocol], OPTIONS)


class Posting:
    """A plain HTTP client."""

    def __init__(self, http: httpx2.Client, server: StandIn) -> None:
        self.http, self.server = http, server

    def __call__(self, content: Any = None, *, path: str | None = None, key: str | None = None) -> httpx2.Response:
        request = request_of(self.server)
        if content is None:
            content = request.json()
        key = self.server.key if key is None else key
        headers = {**request.headers, **({"authorization": f"Bearer {key}"} if key else {})}
        return self.http.post(
            self.server.url + (request.path if path is None else path),
            content=content if isinstance(content, bytes) else json.dumps(content).encode(),
            headers=headers,
        )


@pytest.fixture
def post(http: httpx2.Client, server: StandIn) -> Posting:
    return Posting(http, server)


# -- paths, keys and models ------------------------------------------------------------------------------------------


def test_an_unknown_path_is_not_found(server: StandIn, post: Posting) -> None:
    for path in ("/", "/v1/nothing", request_of(server).path + "/more"):
        answer = post(path=path)
        assert answer.status_code == 404 and isinstance(answer.json(), dict | list)
    assert [refusal.status for refusal in server.refused] == [404] * 3 and not server.requests
    assert post().status_code == 200  # the connection still works


def test_a_path_may_have_any_prefix(server: StandIn, post: Posting) -> None:
    """Base URLs have different ends: ``/v1``, the name of a proxy, or nothing. Queries are ignored."""
    path = request_of(server).path
    for each in ("/some/proxy" + path, path + ("&" if "?" in path else "?") + "api-version=1"):
        assert post(path=each).status_code == 200


def test_a_wrong_key_is_refused(server: StandIn, post: Posting) -> None:
    for key in ("another-key-of-the-tests", f"{server.key}-and-more", ""):
        assert post(key=key).status_code in (400, 401, 403)
    assert not server.requests and len(server.refused) == 3
    assert set(server.refused) == {server.voice.faults["wrong-key"]}


def test_without_a_key_every_request_is_accepted(protocol: str, http: httpx2.Client) -> None:
    with standin(protocol, key=None) as server:
        request = request_of(server)
        assert http.post(server.url + request.path, content=request.json()).status_code == 200


@pytest.mark.parametrize(
    "data",
    [b"", b"{", b"not JSON", b'"text"', b"[]", b"null", b"\xff\xfe", b'{"model": "\xff"}', b"[" * 100_000, b"{}"],
    ids=repr,
)
def test_a_body_that_is_not_an_object_is_refused(server: StandIn, post: Posting, data: bytes) -> None:
    answer = post(data)
    assert answer.status_code in (400, 422) and answer.headers["content-type"] == "application/json"
    assert [refusal.status for refusal in server.refused] == [answer.status_code]
    assert len(server.requests) == (data == b"{}")


def test_a_request_without_a_model_is_refused(server: StandIn, post: Posting) -> None:
    body = request_of(server).body
    if "model" not in body:  # it is in the path
        assert server.voice.route(request_of(server).path).model == MODELS[server.protocol].id  # type: ignore[union-attr]
        return
    for name in ("", None, 5, ["x"]):
        assert post({**body, "model": name}).status_code in (400, 422)
    del body["model"]
    assert post(body).status_code in (400, 422)


NUMBERS = count()
"""For names of models: each unknown model is warned about only once per process."""


def test_a_model_without_a_row_is_served_without_a_warning(server: StandIn, post: Posting) -> None:
    """Warnings are errors in these tests. The client has already warned about the model."""
    name = MODELS[server.protocol].id
    request = request_of(server)
    body = {**request.body, "model": "nobody-knows-me"} if "model" in request.body else request.body
    answer = post(body, path=request.path.replace(name, "nobody-knows-me"))
    assert answer.status_code in (200, 400, 422) and len(server.requests) == 1  # careful dialects refuse more
    with pytest.warns(segue.UnknownModelWarning):
        segue.get_model(f"{server.provider}/unknown-{next(NUMBERS)}")


# -- bodies of any shape ---------------------------------------------------------------------------------------------

ABSENT = object()
JUNK: list[Any] = [None, 0, 1.5, True, "", "x", [], {}, ["x"], [None], [[]], [{}], {"type": None}, {"type": "thinking"}]


def conversation(server: StandIn) -> segue.Request:
    """A request with every kind of content."""
    model = MODELS[server.protocol]
    question = UserMessage([TextContent("Weather here?"), IMAGE])
    context = Context(system_prompt="Be brief.", messages=[question], tools=CONTEXT.tools)
    for reply in (REPLY, Reply([TextContent("18 C.")])):
        context = continued(context, read_back(server, reply, model, context, streams=False)[1])
    return segue.encode(context, model, OPTIONS)


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, each in inner:
        yield (*path, key)
        yield from places(each, (*path, key))


def spoiled(body: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The body with each of its values removed or replaced."""
    for *way, last in places(body):
        for junk in (ABSENT, *JUNK):
            changed: dict[str, Any] = deepcopy(body)
            inner: Any = changed
            for key in way:
                inner = inner[key]
            if junk is ABSENT:
                del inner[last]
            else:
                inner[last] = junk
            yield changed


def test_any_body_is_answered(protocol: str) -> None:
    """No body makes a stand-in fail: it is refused in the provider's format, or it is a conversation."""
    server, model = standin(protocol), MODELS[protocol]
    request = conversation(server)
    assert server.refusal_for(request.body, model) is None
    refused = 0
    for body in spoiled(request.body):
        refusal = server.refusal_for(body, model)
        if refusal is None:
            assert isinstance(server.conversation(body), Context)
        else:
            assert 400 <= refusal.status < 500 and json.dumps(server.voice.error(refusal))
            refused += 1
    assert refused > 200


# -- scripts ---------------------------------------------------------------------------------------------------------


def test_functions_of_a_script_see_the_conversation(protocol: str) -> None:
    seen: list[Context] = []

    def ask(context: Context) -> Reply:
        seen.append(context)
        return REPLY

    def answer(context: Context) -> str:
        seen.append(context)
        return f"{len(context.messages)} messages"

    def fail(context: Context) -> Fault:
        return Fault("rate-limit")

    with standin(protocol, script=[ask, answer, fail]) as server:
        model = MODELS[protocol]
        context = continued(CONTEXT, answer_of(model, CONTEXT, server, True))
        assert answer_of(model, context, server, False).text == "3 messages"
        with pytest.raises(segue.RateLimitError):
            segue.complete_sync(context, model, OPTIONS, connection=reach(server, retries=ONCE))
    first, second = seen
    assert first.messages == CONTEXT.messages and first.tools == CONTEXT.tools and first.system_prompt == "Be brief."
    assert [type(message) for message in second.messages] == [UserMessage, AssistantMessage, ToolResultMessage]
    assert second.messages[1].tool_calls[0].arguments == {"city": "Paris ✓"}  # type: ignore[union-attr]


def test_scripted_answers_come_in_order_and_then_default_ones(server: StandIn) -> None:
    server.say("One", Reply([TextContent("Two")]))
    server.say("Three")
    texts = [answer_of(MODELS[server.protocol], CONTEXT, server, streams).text for streams in (True, False) * 2]
    assert texts == ["One", "Two", "Three", "Answer 4."]


def test_the_same_script_results_in_the_same_bytes(protocol: str) -> None:
    def sent(account: str) -> bytes:
        server = standin(protocol, account=account)
        answer = server.complete(REPLY, MODELS[protocol])
        return json.dumps(server.voice.whole(answer)).encode() + b"".join(server.voice.events(answer))

    assert sent("") == sent("") == sent("")
    assert sent("") != sent("other")  # at least the id of the call


def test_a_pause_is_made_between_events(server: StandIn) -> None:
    server.say(Reply([TextContent("One two three four five six seven eight.")], pause=0.02))
    began = time.monotonic()
    assert answer_of(MODELS[server.protocol], CONTEXT, server, True).stop_reason == "stop"
    assert time.monotonic() - began > 0.08


# -- conversations ---------------------------------------------------------------------------------------------------


def counted(usage: Usage) -> tuple[int, ...]:
    return (usage.input, usage.output, usage.cache_read, usage.cache_write, usage.total_tokens)


@pytest.mark.parametrize("streams", [True, False], ids=["stream", "whole"])
@pytest.mark.parametrize(
    "model",
    [pytest.param(model, id=f"{name}-{model.ref}") for name, facts in FACTS.items() for model in facts.models],
)
def test_a_decoded_answer_is_sent_back_and_accepted(model: Model, streams: bool) -> None:
    """segue's client runs a tool loop: nothing is lost or refused, and signatures of the account are sent back."""
    facts = FACTS[model.protocol]
    calls, answer = (facts.compared(reply.content, model) for reply in facts.script)
    with standin_for(model, script=facts.script) as server:
        first = answer_of(model, CONTEXT, server, streams, facts.options)
        assert facts.compared(first.content, model) == calls and first.stop_reason == "toolUse"
        assert counted(first.usage) == counted(facts.script[0].usage)
        context = continued(CONTEXT, first)
        second = answer_of(model, context, server, streams, facts.options)
        assert facts.compared(second.content, model) == answer and second.stop_reason == "stop"
        third = answer_of(model, continued(context, second), server, streams, facts.options)
        assert third.text == "Answer 3." and not server.refused
        held, expected = facts.came_back(server.requests, first, model)
    assert held == expected
    assert not any(message.diagnostics for message in (first, second, third))


def test_streams_and_whole_answers_are_the_same_message(facts: Facts) -> None:
    model = facts.speakers[0]
    ends = [Reply([TextContent("No.")], stop="error"), Reply([TextContent("No")], stop="length")]
    found = []
    for streams in (True, False):
        with standin_for(model, script=[*facts.script, *ends]) as server:
            answers = [answer_of(model, CONTEXT, server, streams, retries=ONCE).content for _ in range(4)]
            found.append(answers if facts.exact else [facts.compared(answer, model) for answer in answers])
    assert found[0] == found[1]


def test_stored_images_are_accepted(facts: Facts) -> None:
    context = Context(messages=[UserMessage([TextContent("What is this?"), IMAGE])], tools=CONTEXT.tools)
    for model in facts.seeing:
        with standin_for(model, script=facts.script) as server:
            first = answer_of(model, context, server, True, facts.options)
            after = continued(context, first, IMAGE)
            assert answer_of(model, after, server, False, facts.options).stop_reason == "stop"
            assert json.dumps(server.requests[-1]).count(IMAGE.data) == 3 and not server.refused


@given(data=st.data(), stop=st.sampled_from(["stop", "length"]), streams=st.booleans())
def test_the_decoder_reads_what_the_voice_sends(protocol: str, data: st.DataObject, stop: Any, streams: bool) -> None:
    """Every block is read with its signature, and the answer passes the rules and the check of signatures; another
    account refuses it only if it has a signature."""
    facts = FACTS[protocol]
    model = data.draw(st.sampled_from(facts.speakers), "model")
    content = data.draw(contents(facts.texts), "content")
    here = standin_for(model)
    spoken, message = read_back(here, Reply(content, stop=stop), model, CONTEXT, streams)
    assert facts.compared(message.content, model) == facts.compared(spoken, model)
    assert message.content == spoken or not facts.exact
    texts = [block.text for block in content if isinstance(block, TextContent) and block.text]
    assert message.text == facts.between.join(texts)
    body = segue.encode(continued(CONTEXT, message), model).body
    assert here.refusal_for(body, model) is None
    refused = standin_for(model, account="other").refusal_for(body, model) is not None
    assert refused is bool(facts.signed(body, model))


def test_another_account_refuses_signatures_of_this_one(http: httpx2.Client, facts: Facts) -> None:
    model = facts.speakers[0]

    def posted(server: StandIn, request: segue.Request) -> httpx2.Response:
        headers = {**request.headers, "authorization": f"Bearer {server.key}"}
        return http.post(server.url + request.path, content=request.json(), headers=headers)

    with standin_for(model, script=facts.script) as server, standin_for(model, account="other") as other:
        request = segue.encode(CONTEXT, model, facts.options)
        answer = segue.decode(posted(server, request).content, request)
        request = segue.encode(continued(CONTEXT, answer), model, facts.options)
        assert posted(server, request).status_code == 200
        refused = posted(other, request)
        assert refused.status_code == 400 and facts.refusal in refused.text
        # segue's client knows that it is another endpoint, and sends only content without signatures.
        server.say(*facts.script)
        context = CONTEXT
        for _ in facts.script:
            context = continued(context, answer_of(model, context, server, False, facts.options))
            assert answer_of(model, context, other, False, facts.options).stop_reason == "stop"
            assert not facts.signed(other.requests[-1], model)


# -- records ---------------------------------------------------------------------------------------------------------


def test_requests_and_refusals_are_recorded(server: StandIn, post: Posting) -> None:
    request = request_of(server)
    post()
    # An empty message: every protocol refuses it.
    empty = {name: [] if isinstance(value, list) else value for name, value in request.body.items()}
    refused = post(empty)
    assert server.requests == [request.body, empty]
    [refusal] = server.refused
    assert refusal.status == refused.status_code and json.loads(refused.content) == server.voice.error(refusal)
    server.say(Fault("rate-limit", retry_after=1.5))
    limited = post()
    assert server.refused[1:] == [server.voice.faults["rate-limit"]] and len(server.requests) == 3
    assert limited.status_code == 429 and limited.headers["retry-after"] == "1.5"


def test_every_answer_has_the_id_of_its_request(server: StandIn, post: Posting) -> None:
    name = server.voice.request_id
    assert [post().headers[name], post({}).headers[name], post().headers[name]] == ["req_1", "req_2", "req_3"]


WITH_STATUS: list[FaultKind] = ["rate-limit", "server-error", "unavailable", "overloaded", "wrong-key", "overflow"]


def test_every_fault_has_a_text_of_its_provider(protocol: str) -> None:
    faults = voice_of(protocol).faults
    assert set(faults) == {*WITH_STATUS, "error-event"} and faults["error-event"].status == 200
    assert all(faults[kind].status >= 400 and faults[kind].text and faults[kind].kind for kind in WITH_STATUS)
    assert faults["rate-limit"].status == 429 and faults["server-error"].status == 500


@pytest.mark.parametrize("kind", ["cut", "broken-json", "silence", "error-event"])
def test_whole_answers_have_faults_too(server: StandIn, kind: FaultKind) -> None:
    was_used = threading.Event()

    def fault(context: Context) -> Fault:
        was_used.set()
        return Fault(kind)

    server.say(fault, "next")
    model, timeouts = MODELS[server.protocol], Timeouts(first_event=SHORT if kind == "silence" else HANGS)
    with pytest.raises(segue.NetworkError):
        segue.complete_sync(CONTEXT, model, OPTIONS, connection=reach(server, retries=ONCE, timeouts=timeouts))
    assert was_used.wait(HANGS)  # an abandoned request may arrive late
    assert answer_of(model, CONTEXT, server, False).text == "next"


# -- starting and stopping -------------------------------------------------------------------------------------------


def test_it_listens_on_the_port_that_was_passed(protocol: str) -> None:
    port = free_port()
    with standin(protocol, port=port) as server:
        assert server.url == f"http://127.0.0.1:{port}"
        assert answer_of(MODELS[protocol], CONTEXT, server, False).text == "Answer 1."
        with pytest.raises(OSError, match="in use"):
            standin(protocol, port=port).start()
    with standin(protocol, port=port) as again:  # the port is free immediately
        assert answer_of(MODELS[protocol], CONTEXT, again, False).text == "Answer 1."


def test_concurrent_requests_are_all_answered(protocol: str, http: httpx2.Client) -> None:
    texts = [f"Number {number}." for number in range(40)]
    with standin(protocol, script=[Reply([TextContent(text)], pause=0.001) for text in texts]) as server:
        model = MODELS[protocol]
        with ThreadPoolExecutor(10) as pool:
            talks = [pool.submit(answer_of, model, CONTEXT, server, number % 2 == 0) for number in range(len(texts))]
            messages = [talk.result(timeout=HANGS) for talk in talks]
    assert sorted(message.text for message in messages) == sorted(texts)
    assert len(server.requests) == len(texts) and not server.refused
    assert len({message.response_id for message in messages}) == len(texts) or messages[0].response_id is None


def test_stopping_ends_running_requests(protocol: str) -> None:
    server = standin(
        protocol, script=[Fault("silence"), Reply([TextContent("Slowly. " * 50)], pause=100 * HANGS)]
    ).start()
    model, found, under_way = MODELS[protocol], [], threading.Semaphore(0)

    def talk() -> None:
        answer = segue.stream_sync(CONTEXT, model, OPTIONS, connection=reach(server, retries=ONCE))
        next(answer)
        under_way.release()
        found.append(answer.finished())

    talks = [threading.Thread(target=talk) for _ in range(2)]
    for each in talks:
        each.start()
    for _ in talks:
        assert under_way.acquire(timeout=HANGS)
    server.stop()
    for each in talks:
        each.join(timeout=HANGS)
    assert [message.stop_reason for message in found] == ["error", "error"]


def test_there_is_no_url_before_the_start(protocol: str) -> None:
    with pytest.raises(AssertionError, match="has not been started"):
        standin(protocol).url  # noqa: B018, reading it fails


def test_unknown_providers_and_protocols_are_refused() -> None:
    with pytest.raises(segue.UnknownProviderError):
        StandIn("nobody")
    with pytest.raises(segue.ModelError, match="does not speak mistral-chat; it speaks anthropic-messages"):
        StandIn("anthropic", protocol="mistral-chat")


# -- on the command line ---------------------------------------------------------------------------------------------

# A shell makes processes in the background ignore interrupts, and tests may be run like that.
INTERRUPTIBLE = (
    "import runpy, signal; signal.signal(signal.SIGINT, signal.default_int_handler); "
    "runpy.run_module('segue', run_name='__main__', alter_sys=True)"
)


@contextmanager
def command(*arguments: str) -> Iterator[subprocess.Popen[str]]:
    """Run `segue standin …`, and kill it at the end if it still runs."""
    process = subprocess.Popen(
        [sys.executable, "-c", INTERRUPTIBLE, "standin", *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        with process:
            yield process
            process.kill()
    finally:
        process.kill()


def test_the_command_prints_its_url_and_answers_until_it_is_interrupted(protocol: str) -> None:
    model = MODELS[protocol]
    with command(model.provider, "--protocol", protocol, "--say", "Hello there.", "--say", "Bye.") as process:
        assert process.stdout is not None and process.stderr is not None
        url = process.stdout.readline().strip()
        assert url.startswith("http://127.0.0.1:")
        connection = segue.Connection(base_url=url, api_key="standin-key", retries=ONCE)
        assert segue.stream_sync(CONTEXT, model, OPTIONS, connection=connection).finished().text == "Hello there."
        assert segue.complete_sync(CONTEXT, model, OPTIONS, connection=connection).text == "Bye."
        process.send_signal(signal.SIGINT)
        rest, messages = process.communicate(timeout=HANGS)
    assert process.returncode == 130 and rest == ""
    assert protocol in messages and url in messages and "Traceback" not in messages


def test_the_command_accepts_a_port_and_a_key() -> None:
    port = free_port()
    with command("mistral", "--port", str(port), "--key", "another-key-of-the-tests") as process:
        assert process.stdout is not None
        assert process.stdout.readline().strip() == f"http://127.0.0.1:{port}"
        keys = {"another-key-of-the-tests": "stop", "standin-key": "error"}
        for key, reason in keys.items():
            connection = segue.Connection(base_url=f"http://127.0.0.1:{port}", api_key=key, retries=ONCE)
            answer = segue.complete_sync(CONTEXT, MODELS["mistral-chat"], OPTIONS, connection=connection, check=False)
            assert answer.stop_reason == reason
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=HANGS)
    assert process.returncode == 130


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["nobody"], "nobody"),
        (["anthropic", "--protocol", "mistral-chat"], "does not speak mistral-chat"),
        (["anthropic", "--protocol", "gopher"], "invalid choice"),
        (["anthropic", "--port", "{port}"], "in use; use --port 0 for any free one"),
        (["anthropic", "--port", "x"], "is not a port"),
        ([], "PROVIDER"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_the_command_refuses_invalid_arguments(arguments: list[str], message: str) -> None:
    with StandIn("anthropic") as other:
        port = other.url.rpartition(":")[2]
        with command(*(argument.format(port=port) for argument in arguments)) as process:
            rest, messages = process.communicate(timeout=HANGS)
    assert (process.returncode, rest) == (2, "") and message in messages and "Traceback" not in messages


def test_a_client_that_disconnects_in_the_middle_of_its_request_is_not_refused() -> None:
    with StandIn("anthropic") as server:
        with socket.create_connection(("127.0.0.1", int(server.url.rpartition(":")[2]))) as half:
            half.sendall(b'POST /v1/messages HTTP/1.1\r\ncontent-length: 900\r\n\r\n{"model":')
            half.shutdown(socket.SHUT_WR)
            assert half.recv(1) == b""
        assert not server.requests and not server.refused
