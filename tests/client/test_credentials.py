"""Credentials from the libraries of AWS and Google: their errors are mapped to ours, without the texts they quote."""

import inspect
import logging
from collections.abc import Iterator
from typing import Any

import botocore.exceptions
import google.auth
import google.auth.exceptions
import pytest
from support.providers import CONTEXT, MODELS
from support.raw import raw, response
from support.secrets import Lines
from support.sessions import LOOP

import segue
from segue import Connection, Retries
from segue.client import credentials

SECRET = "a-secret-that-a-library-quotes"
ONCE = Retries(count=0)
BEDROCK = MODELS["bedrock-converse"]


def raised_by(module: Any) -> list[type[Exception]]:
    kinds = [kind for _, kind in inspect.getmembers(module, inspect.isclass) if issubclass(kind, Exception)]
    return [*kinds, ValueError, KeyError, OSError, TypeError, RuntimeError]


def made(kind: type[Exception]) -> Exception:
    error = kind.__new__(kind)
    error.args = (f"it printed {SECRET}",)
    return error


@pytest.fixture(autouse=True)
def fresh(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("AWS_REGION", "us-east-1")
    for name in ("AWS_BEARER_TOKEN_BEDROCK", "AWS_ACCESS_KEY_ID", "GOOGLE_APPLICATION_CREDENTIALS"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("GOOGLE_CLOUD_PROJECT", "p")
    monkeypatch.setenv("GOOGLE_CLOUD_LOCATION", "us-central1")
    credentials._google_credentials.cache_clear()
    yield
    credentials._google_credentials.cache_clear()


def outcome(model: segue.Model) -> segue.SegueError:
    """The error of a request: one that is raised, or the error of the stream."""

    async def talk() -> segue.SegueError | None:
        stream = segue.stream(CONTEXT, model, connection=Connection(api_key=None, retries=ONCE))
        await stream.finished()
        assert stream.message is not None and SECRET not in repr(stream.message)
        return stream.error

    try:
        found = LOOP.run(talk())
    except segue.SettingError as error:
        found = error
    assert found is not None and found.__cause__ is None and found.__context__ is None
    return found


LIBRARIES = (credentials.AWS, credentials.GOOGLE)
QUOTING = {name for library in LIBRARIES for name, _, showable in library.failures if showable}


def check(error: segue.SegueError, kind: type[Exception]) -> None:
    assert isinstance(error, segue.SettingError | segue.AuthenticationError | segue.NetworkError)
    assert kind.__name__ in str(error)
    if not QUOTING & {each.__name__ for each in kind.__mro__}:
        assert SECRET not in str(error) + repr(error)


@pytest.mark.parametrize("kind", raised_by(botocore.exceptions), ids=lambda kind: kind.__name__)
@pytest.mark.parametrize("where", ["finding", "refreshing"])
def test_errors_of_botocore_are_mapped(kind: type[Exception], where: str, monkeypatch: pytest.MonkeyPatch) -> None:
    class Found:
        def get_credentials(self) -> "Found":
            return self._do("finding")

        def get_frozen_credentials(self) -> "Found":
            return self._do("refreshing")

        secret_key = token = None

        def _do(self, what: str) -> "Found":
            if what == where:
                raise made(kind)
            return self

    monkeypatch.setattr(credentials, "_aws_session", Found)
    model = segue.get_model(BEDROCK.ref, protocol=BEDROCK.protocol)
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "AKIDEXAMPLE")
    check(outcome(model), kind)


@pytest.mark.parametrize("kind", raised_by(google.auth.exceptions), ids=lambda kind: kind.__name__)
@pytest.mark.parametrize("where", ["finding", "refreshing"])
def test_errors_of_google_auth_are_mapped(kind: type[Exception], where: str, monkeypatch: pytest.MonkeyPatch) -> None:
    class Found:
        valid = False
        token = "t"

        def refresh(self, request: Any) -> None:
            raise made(kind)

    def default(scopes: list[str]) -> tuple[Found, str]:
        if where == "finding":
            raise made(kind)
        return Found(), "p"

    monkeypatch.setattr(google.auth, "default", default)
    monkeypatch.setenv("GOOGLE_APPLICATION_CREDENTIALS", "/nowhere.json")
    check(outcome(segue.get_model("google-vertex/gemini-2.5-pro")), kind)


def test_a_token_that_cannot_be_sent_is_a_setting_error_that_does_not_quote_it(monkeypatch: pytest.MonkeyPatch) -> None:
    class Found:
        valid = True
        token = f"{SECRET}\n\x00"

    monkeypatch.setattr(google.auth, "default", lambda scopes: (Found(), "p"))
    monkeypatch.setenv("GOOGLE_APPLICATION_CREDENTIALS", "/nowhere.json")
    error = outcome(segue.get_model("google-vertex/gemini-2.5-pro"))
    assert isinstance(error, segue.SettingError) and SECRET not in str(error) + repr(error)


def test_signing_logs_no_secrets(monkeypatch: pytest.MonkeyPatch) -> None:
    """At the level DEBUG, botocore logs the headers that it signs, including the session token."""
    secrets = ["secret-access-key-0123", "session-token-0123456789", "header-0123456789"]
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "AKIDEXAMPLE")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", secrets[0])
    monkeypatch.setenv("AWS_SESSION_TOKEN", secrets[1])
    credentials._aws_session.cache_clear()
    handler, root = Lines(), logging.getLogger()
    level = root.level
    root.addHandler(handler)
    root.setLevel(1)
    try:
        with raw(lambda asked: (response(" ".join(asked.headers.values()).encode(), "403 No"), False)) as server:
            connection = Connection(base_url=server.url, headers={"x-my-secret": secrets[2]}, retries=ONCE)
            stream = segue.stream_sync(CONTEXT, BEDROCK, connection=connection)
            message = stream.finished()
    finally:
        root.removeHandler(handler)
        root.setLevel(level)
        credentials._aws_session.cache_clear()
    assert server.asked[0].headers["x-amz-security-token"] == secrets[1]
    assert any("CanonicalRequest" in line for line in handler.lines)
    shown = [*handler.lines, repr(message), str(stream.error)]
    assert not [text for text in shown for secret in secrets if secret in text]
