"""Invalid scripts and settings are refused when the stand-in is created; later errors fail the test."""

import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import closing
from http.client import HTTPConnection
from typing import Any

import boto3
import httpx2
import pytest
from botocore.config import Config
from botocore.exceptions import ClientError
from hypothesis import given, strategies as st
from support.facts import SONNET
from support.providers import CONTEXT, MODELS, reach
from support.waiting import HANGS

import segue
from segue.cli import main
from segue.testing import Fault, Reply, StandIn, text_reply
from segue.types import Context, TextContent, UserMessage
from segue.wire.registry import PROTOCOLS

standin: Any = StandIn
fault: Any = Fault
reply: Any = Reply
NAN, INFINITE = float("nan"), float("inf")

INVALID: dict[str, tuple[Callable[[], Any], type[Exception], str]] = {
    "an unknown kind": (lambda: fault("nosuch"), ValueError, "the kind of a Fault must be one of rate-limit, "),
    "an empty kind": (lambda: fault(""), ValueError, "the kind of a Fault"),
    "a number as a kind": (lambda: fault(42), TypeError, "the kind of a Fault must be a str, not int 42"),
    "no kind": (lambda: fault(None), TypeError, "the kind of a Fault"),
    "a text as a broken reply": (lambda: fault("cut", "text"), TypeError, "of a Fault must be a Reply, not str"),
    "a wait in mid-stream": (lambda: fault("cut", retry_after=1), ValueError, "cannot have a retry_after"),
    "a negative wait": (lambda: fault("rate-limit", retry_after=-1), ValueError, "must be 0 seconds or more, not -1"),
    "a wait that is not a number": (lambda: fault("rate-limit", retry_after=NAN), ValueError, "not nan"),
    "an infinite wait": (lambda: fault("rate-limit", retry_after=INFINITE), ValueError, "not inf"),
    "a text as a wait": (lambda: fault("rate-limit", retry_after="1"), TypeError, "a number of seconds, not str"),
    "a boolean as a wait": (lambda: fault("rate-limit", retry_after=True), TypeError, "a number of seconds, not bool"),
    "a text as content": (lambda: reply("hello"), TypeError, "a list of blocks, not str 'hello'"),
    "a text as a block": (
        lambda: reply(["hello"]),
        TypeError,
        "must be TextContent, ThinkingContent, ToolCall, ProviderContent, not str",
    ),
    "a message as a block": (lambda: reply([UserMessage("x")]), TypeError, "not UserMessage"),
    "an unknown stop": (lambda: reply([], stop="end"), ValueError, "the stop of a Reply must be one of stop, "),
    "a dict as usage": (lambda: reply([], usage={}), TypeError, "must be a segue.Usage, not dict"),
    "a negative pause": (lambda: reply([], pause=-0.1), ValueError, "the pause of a Reply"),
    "a text as a script": (lambda: standin(script="hello"), TypeError, "must be a list of answers, not str 'hello'"),
    "bytes as a script": (lambda: standin(script=b"hello"), TypeError, "must be a list of answers"),
    "one reply as a script": (
        lambda: standin(script=text_reply("x")),
        TypeError,
        "must be a list of answers, not Reply",
    ),
    "one fault as a script": (lambda: standin(script=Fault("cut")), TypeError, "must be a list of answers, not Fault"),
    "a dict as a script": (lambda: standin(script={"a": 1}), TypeError, "must be a list of answers"),
    "a class as an answer": (lambda: standin(script=[Fault]), TypeError, "answer 0 of the script must be a Reply"),
    "a number as a script": (lambda: standin(script=42), TypeError, "must be a list of answers, not int 42"),
    "None as a script": (lambda: standin(script=None), TypeError, "must be a list of answers"),
    "a number in a script": (
        lambda: standin(script=["a", 42]),
        TypeError,
        "answer 1 of the script must be a Reply, .* not int 42",
    ),
    "a list in a script": (lambda: standin(script=[["x"]]), TypeError, "answer 0 of the script"),
    "a block in a script": (lambda: standin(script=[TextContent("x")]), TypeError, "not TextContent"),
    "a number that is added later": (lambda: standin().say("a", 42), TypeError, "answer 1 of the script"),
    "no provider": (lambda: standin(None), TypeError, "provider must be a str, not NoneType"),
    "a number as a key": (lambda: standin(key=3), TypeError, "key must be a str, not int"),
    "an empty key": (lambda: standin(key=""), ValueError, "key must not be empty"),
    "no account": (lambda: standin(account=None), TypeError, "account must be a str"),
    "a port that is too large": (lambda: standin(port=99999), ValueError, "from 0 to 65535, not 99999"),
    "a negative port": (lambda: standin(port=-1), ValueError, "from 0 to 65535, not -1"),
    "a text as a port": (lambda: standin(port="80"), TypeError, "a port must be a number, not str"),
    "a boolean as a port": (lambda: standin(port=True), TypeError, "a port must be a number, not bool"),
    "a secret for another provider": (
        lambda: standin("openai", secret="s"),
        ValueError,
        "only a provider that accepts AWS",
    ),
    "a secret without a key": (
        lambda: standin("amazon-bedrock", key=None, secret="s"),
        ValueError,
        "a secret requires a key",
    ),
}


@pytest.mark.parametrize("name", INVALID)
def test_invalid_values_are_refused_when_they_are_created(name: str) -> None:
    make, kind, message = INVALID[name]
    with pytest.raises(kind, match=message):
        make()


ANYTHING = st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.binary()


@given(
    st.lists(ANYTHING | st.lists(ANYTHING) | st.sampled_from([text_reply("x"), Fault("cut"), text_reply]), max_size=4)
)
def test_a_script_is_accepted_or_refused(script: list[Any]) -> None:
    fits = all(isinstance(each, str | Reply | Fault) or callable(each) for each in script)
    try:
        StandIn(script=script)
    except TypeError:
        assert not fits
    else:
        assert fits


@given(*[ANYTHING] * 3)
def test_any_fault_is_created_or_refused_with_our_message(kind: Any, broken: Any, seconds: Any) -> None:
    message = ""
    try:
        Fault(kind, broken, seconds)
    except (TypeError, ValueError) as error:
        message = str(error)
    assert not message or "of a Fault" in message or "a Fault of kind" in message


# -- errors of the stand-in itself -----------------------------------------------------------------------------------


def raising(error: Exception) -> Callable[[Context], str]:
    def answer(context: Context) -> str:
        raise error

    return answer


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize(
    ("answer", "kind", "message"),
    [
        (raising(AssertionError("not what I expected")), AssertionError, "not what I expected"),
        (raising(ConnectionError("a database")), RuntimeError, "a database"),
        (raising(TimeoutError("a lock")), RuntimeError, "a lock"),
        (lambda context: 42, TypeError, "the result of a function of the script must be a Reply, .* not int 42"),
        (lambda context: None, TypeError, "not NoneType"),
    ],
    ids=["raises", "raises a connection error", "times out", "returns a number", "returns nothing"],
)
def test_an_error_of_the_stand_in_fails_the_test_and_is_not_retried(
    protocol: str, answer: Any, kind: type[Exception], message: str
) -> None:
    model = MODELS[protocol]
    server = StandIn(model.provider, protocol=protocol, script=[answer, "fine"]).start()
    answered = segue.complete_sync(CONTEXT, model, connection=reach(server), check=False)
    with pytest.raises(kind, match=message):
        server.stop()
    assert answered.stop_reason == "error" and "the stand-in itself failed" in (answered.error_message or "")
    assert len(server.requests) == 1


def test_the_end_of_the_with_statement_raises_the_error() -> None:
    def used() -> None:
        with StandIn(script=[raising(AssertionError("inside"))]) as server:
            segue.complete_sync(CONTEXT, MODELS[server.protocol], connection=reach(server), check=False)

    with pytest.raises(AssertionError, match="inside"):
        used()


def test_an_error_of_the_stand_in_does_not_hide_the_error_of_the_test() -> None:
    def used() -> None:
        with StandIn(script=[raising(AssertionError("inside"))]) as server:
            segue.complete_sync(CONTEXT, MODELS[server.protocol], connection=reach(server), check=False)
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError) as caught:
        used()
    assert caught.value.__notes__ == ["the stand-in failed, too: AssertionError: inside"]


@pytest.mark.parametrize("length", ["x", "-1", "1_0", "٣"])
def test_an_invalid_content_length_is_an_error_of_the_client(length: str) -> None:
    with StandIn() as server, socket.create_connection(("127.0.0.1", int(server.url.rpartition(":")[2]))) as client:
        client.sendall(f"POST /v1/messages HTTP/1.1\r\nhost: x\r\ncontent-length: {length}\r\n\r\n".encode())
        assert client.recv(100).startswith(b"HTTP/1.1 400 ")


# -- keys --------------------------------------------------------------------------------------------------------------

SENT = {
    "x-api-key": {"x-api-key": "standin-key"},
    "api-key": {"api-key": "standin-key"},
    "x-goog-api-key": {"x-goog-api-key": "standin-key"},
    "bearer": {"authorization": "Bearer standin-key"},
    "without a scheme": {"authorization": "standin-key"},
    "basic": {"authorization": "Basic standin-key"},
    "another": {"authorization": "Bearer other", "x-api-key": "other", "api-key": "other", "x-goog-api-key": "other"},
    "nothing": {},
}
ACCEPTED = {
    "anthropic": {"x-api-key", "bearer"},
    "openai": {"bearer"},
    "azure": {"api-key", "bearer"},
    "google": {"x-goog-api-key", "bearer"},
    "google-vertex": {"bearer"},
    "amazon-bedrock": {"bearer"},
    "mistral": {"bearer"},
    "groq": {"bearer"},
}


@pytest.mark.parametrize("provider", ACCEPTED)
def test_a_key_is_accepted_in_the_headers_of_the_provider(provider: str) -> None:
    with StandIn(provider) as server, httpx2.Client() as http:
        path = server_path(server)
        statuses = {
            name: http.post(server.url + path, content=b"{", headers=sent).status_code for name, sent in SENT.items()
        }
        refused = server.voice.faults["wrong-key"]
        texts = [refusal.text for refusal in server.refused]
    assert {name for name in SENT if texts[list(SENT).index(name)] != refused.text} == ACCEPTED[provider]
    assert all(status >= 400 for status in statuses.values())


def server_path(server: StandIn) -> str:
    model = next(model for model in MODELS.values() if model.protocol == server.protocol)
    return segue.encode(CONTEXT, model).path


def test_google_accepts_its_key_in_the_query() -> None:
    with StandIn("google") as server:
        for key, right in (("standin-key", True), ("other", False)):
            with closing(HTTPConnection(server.url.removeprefix("http://"))) as http:  # this client logs nothing
                http.request("POST", f"{server_path(server)}?key={key}", b"{")
                http.getresponse().read()
            assert ("API key not valid" in server.refused[-1].text) != right


REQUEST: Any = {"modelId": SONNET, "messages": [{"role": "user", "content": [{"text": "hello"}]}]}


def signing(server: StandIn, key: str, secret: str, token: str | None = None) -> Any:
    patient = {"connect_timeout": HANGS, "read_timeout": HANGS}
    config = Config(retries={"total_max_attempts": 1}, proxies={}, signature_version="v4", **patient)
    session = boto3.Session(key, secret, token, "us-east-1")
    return session.client("bedrock-runtime", endpoint_url=server.url, config=config)


@pytest.fixture
def bedrock() -> Iterator[StandIn]:
    with StandIn("amazon-bedrock", key="AKIDEXAMPLE", secret="the right secret") as server:
        yield server


def test_a_valid_signature_is_accepted(bedrock: StandIn) -> None:
    for token in (None, "a session token"):
        assert (
            signing(bedrock, "AKIDEXAMPLE", "the right secret", token).converse(**REQUEST)["stopReason"] == "end_turn"
        )
    arn = f"arn:aws:bedrock:us-east-1:123456789012:inference-profile/{SONNET}"  # its path is escaped
    assert signing(bedrock, "AKIDEXAMPLE", "the right secret").converse(**REQUEST | {"modelId": arn})


@pytest.mark.parametrize(
    ("key", "secret", "kind", "message"),
    [
        ("AKIDEXAMPLE", "a wrong secret", "InvalidSignatureException", "does not match the signature you provided"),
        ("AKIDOTHER", "the right secret", "UnrecognizedClientException", "The security token included in the request"),
    ],
)
def test_a_wrong_signature_is_refused_with_the_text_of_aws(
    bedrock: StandIn, key: str, secret: str, kind: str, message: str
) -> None:
    with pytest.raises(ClientError, match=message) as caught:
        signing(bedrock, key, secret).converse(**REQUEST)
    assert caught.value.response["Error"]["Code"] == kind
    assert caught.value.response["ResponseMetadata"]["HTTPStatusCode"] == 403


def recorded(bedrock: StandIn) -> Any:
    """A signed request, before it is sent."""
    kept: list[Any] = []
    client = signing(bedrock, "AKIDEXAMPLE", "the right secret")
    client.meta.events.register("before-send.bedrock-runtime.*", lambda request, **_: kept.append(request))
    client.converse(**REQUEST)
    return kept[0]


def test_a_request_that_was_changed_after_signing_is_refused(bedrock: StandIn) -> None:
    request = recorded(bedrock)
    headers = {name: value.decode() if isinstance(value, bytes) else value for name, value in request.headers.items()}
    sent = {name.lower(): value for name, value in headers.items()}
    bodies = {"the same": request.body, "another body": request.body.replace(b"hello", b"jello")}
    with httpx2.Client() as http:
        answers = {name: http.post(request.url, content=body, headers=sent) for name, body in bodies.items()}
        answers["another path"] = http.post(request.url + "-stream", content=request.body, headers=sent)
        for name, changed in (
            ("another header", {"content-type": "text/plain"}),
            ("another time", {"x-amz-date": "20200101T000000Z"}),
            ("no time", {"x-amz-date": ""}),
            ("half a signature", {"authorization": sent["authorization"][:-9]}),
        ):
            answers[name] = http.post(request.url, content=request.body, headers=sent | changed)
    assert {name: answer.status_code for name, answer in answers.items() if name != "the same"} == dict.fromkeys(
        [name for name in answers if name != "the same"], 403
    )
    assert answers["the same"].status_code == 200


def test_the_client_signs_as_the_stand_in_verifies(bedrock: StandIn, monkeypatch: pytest.MonkeyPatch) -> None:
    from segue.client import credentials

    monkeypatch.delenv("AWS_BEARER_TOKEN_BEDROCK", raising=False)
    monkeypatch.setenv("AWS_REGION", "us-east-1")
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "AKIDEXAMPLE")
    for secret, accepted in (("the right secret", True), ("a wrong secret", False)):
        monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", secret)
        credentials._aws_session.cache_clear()
        connection = segue.Connection(base_url=bedrock.url)
        answer = segue.complete_sync(CONTEXT, MODELS["bedrock-converse"], connection=connection, check=False)
        assert (answer.stop_reason == "stop") == accepted
        assert accepted or "does not match" in (answer.error_message or "")
    credentials._aws_session.cache_clear()


# -- the command -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("command", [["standin", "anthropic"], ["local"]], ids=["standin", "local"])
@pytest.mark.parametrize("port", ["99999", "-1", "x", "1.5", "9" * 5000, "", "٣"])
def test_an_invalid_port_is_bad_usage(command: list[str], port: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as left:
        main([*command, f"--port={port}"])
    assert left.value.code == 2 and "is not a port; use a number from 0 to 65535" in capsys.readouterr().err


def test_a_port_in_use_is_an_error_of_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    with StandIn() as server:
        port = server.url.rpartition(":")[2]
        assert main(["standin", "anthropic", "--port", port]) == 2
    assert capsys.readouterr().err.startswith(f"segue: port {port} cannot be used")


@pytest.mark.parametrize(
    "arguments",
    [["nosuch"], ["anthropic", "--protocol", "bedrock-converse"], ["anthropic", "--key="]],
    ids=["provider", "protocol", "key"],
)
def test_other_invalid_settings_are_an_error_of_one_line(arguments: list[str]) -> None:
    done = subprocess.run([sys.executable, "-m", "segue", "standin", *arguments], capture_output=True, check=False)
    assert done.returncode == 2 and b"Traceback" not in done.stderr and done.stderr.count(b"segue: ") == 1
