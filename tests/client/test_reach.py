"""Keys, endpoints and signatures: errors name the missing setting before anything is sent, and no key is shown."""

import asyncio
import re
import warnings
from typing import Any, get_args

import pytest
from msgspec.structs import replace
from support.providers import CONTEXT, MODELS

import segue
from segue import Connection
from segue.catalog import Auth, get_provider, list_providers
from segue.client import credentials, reach
from segue.client.reach import SCHEMES

KEY = "sk-secret-of-the-tests-0123456789"


async def signed(model: segue.Model, connection: Connection, body: bytes = b"{}") -> dict[str, str]:
    _, headers = await reach(model, connection).signed("/path", {"content-type": "application/json"}, body)
    return headers


def headers_of(model: segue.Model, connection: Connection, body: bytes = b"{}") -> dict[str, str]:
    return asyncio.run(signed(model, connection, body))


def a_model_of(provider: str) -> segue.Model:
    """A model of the provider from the catalog, or any name if the catalog has none."""
    refs = [ref for ref in segue.list_models() if ref.startswith(f"{provider}/")]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", segue.UnknownModelWarning)
        return segue.get_model(refs[0] if refs else f"{provider}/some-model")


@pytest.fixture(autouse=True)
def bare_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for provider in list_providers():
        for name in get_provider(provider).keys:
            monkeypatch.delenv(name, raising=False)
    for name in ("AWS_REGION", "AWS_DEFAULT_REGION", "GOOGLE_CLOUD_LOCATION", "GOOGLE_CLOUD_PROJECT"):
        monkeypatch.delenv(name, raising=False)


@pytest.mark.parametrize("name", [name for name in list_providers() if get_provider(name).needs_key])
def test_a_missing_key_is_named_before_anything_is_sent(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    provider = get_provider(name)
    model = a_model_of(name)
    for variable in re.findall(r"\{([A-Z_]+)\}", model.base_url):
        monkeypatch.setenv(variable, "mine")
    with pytest.raises(segue.SettingError, match=provider.keys[0]):
        segue.stream(CONTEXT, model)


@pytest.mark.parametrize("name", [name for name in list_providers() if "{" not in get_provider(name).base_url])
def test_the_key_from_the_environment_is_sent_and_never_shown(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    provider = get_provider(name)
    monkeypatch.setenv(provider.keys[0], KEY)
    model = a_model_of(name)
    headers = headers_of(model, Connection())
    assert any(KEY in value for value in headers.values())
    reached = reach(model, Connection())
    assert KEY not in repr(reached) + repr(reached.model) + str(reached.model.endpoint)
    assert KEY not in repr(Connection(api_key=KEY))
    assert reached.without_key(f"Incorrect API key provided: {KEY}.") == "Incorrect API key provided: [key]."


@pytest.mark.parametrize(
    ("ref", "variable"),
    [
        ("azure/gpt-4.1", "AZURE_OPENAI_RESOURCE"),
        ("google-vertex/gemini-2.5-pro", "GOOGLE_CLOUD_LOCATION"),
        ("amazon-bedrock/us.anthropic.claude-sonnet-4-5-20250929-v1:0", "AWS_REGION"),
    ],
)
def test_a_missing_part_of_the_endpoint_is_named(ref: str, variable: str) -> None:
    with pytest.raises(segue.SettingError, match=variable):
        reach(segue.get_model(ref), Connection(api_key=KEY))


def test_azure_gets_its_key_in_its_own_header(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AZURE_OPENAI_RESOURCE", "mine")
    headers = headers_of(segue.get_model("azure/gpt-4.1"), Connection(api_key=KEY))
    assert headers["api-key"] == KEY and "authorization" not in headers


def test_there_is_a_scheme_for_every_name_that_a_row_may_have() -> None:
    assert SCHEMES.keys() == set(get_args(Auth))


def test_bedrock_is_signed_as_botocore_signs_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """Compared with botocore's signature of the same request at the same time."""
    from botocore.auth import SigV4Auth
    from botocore.awsrequest import AWSRequest
    from botocore.credentials import Credentials

    monkeypatch.setenv("AWS_REGION", "eu-central-1")
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "AKIDEXAMPLE")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", KEY)
    credentials._aws_session.cache_clear()
    headers = headers_of(MODELS["bedrock-converse"], Connection(), b'{"a":1}')
    assert headers["Authorization"].startswith("AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/")
    assert "/eu-central-1/bedrock/aws4_request" in headers["Authorization"]
    again = AWSRequest(
        method="POST",
        url="https://bedrock-runtime.eu-central-1.amazonaws.com/path",
        data=b'{"a":1}',
        headers={"content-type": "application/json"},
    )
    auth = SigV4Auth(Credentials("AKIDEXAMPLE", KEY), "bedrock", "eu-central-1")
    again.context["timestamp"] = headers["X-Amz-Date"]
    again.headers["X-Amz-Date"] = headers["X-Amz-Date"]
    expected = auth.signature(auth.string_to_sign(again, auth.canonical_request(again)), again)
    assert headers["Authorization"].endswith(f"Signature={expected}")
    assert KEY not in "".join(headers.values())
    credentials._aws_session.cache_clear()


def test_a_bedrock_key_is_a_bearer_token(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_REGION", "us-east-1")
    monkeypatch.setenv("AWS_BEARER_TOKEN_BEDROCK", KEY)
    assert headers_of(MODELS["bedrock-converse"], Connection())["authorization"] == f"Bearer {KEY}"
    monkeypatch.delenv("AWS_BEARER_TOKEN_BEDROCK")
    assert headers_of(MODELS["bedrock-converse"], Connection(api_key=KEY))["authorization"] == f"Bearer {KEY}"


def test_vertex_gets_a_token_from_google_auth_and_a_new_one_when_it_expires(monkeypatch: pytest.MonkeyPatch) -> None:
    import google.auth
    from google.auth.credentials import Credentials

    class Fake(Credentials):  # type: ignore[misc]
        count = 0
        valid = False

        def refresh(self, request: Any) -> None:
            self.count += 1
            self.token = f"token-{self.count}"

    fake = Fake()
    monkeypatch.setattr(google.auth, "default", lambda scopes: (fake, "project"))
    monkeypatch.setenv("GOOGLE_CLOUD_PROJECT", "p")
    monkeypatch.setenv("GOOGLE_CLOUD_LOCATION", "us-central1")
    credentials._google_credentials.cache_clear()
    model = segue.get_model("google-vertex/gemini-2.5-pro")
    assert headers_of(model, Connection())["authorization"] == "Bearer token-1"
    assert headers_of(model, Connection())["authorization"] == "Bearer token-2"
    assert reach(model, Connection()).base_url.startswith(
        "https://us-central1-aiplatform.googleapis.com/v1/projects/p/"
    )
    credentials._google_credentials.cache_clear()


def test_an_endpoint_that_is_not_a_url_is_refused() -> None:
    with pytest.raises(segue.SettingError, match="https://"):
        reach(MODELS["anthropic-messages"], Connection(base_url="localhost:80", api_key=KEY))


def test_another_endpoint_does_not_need_a_key() -> None:
    assert "x-api-key" not in headers_of(MODELS["anthropic-messages"], Connection(base_url="http://127.0.0.1:1"))


def test_endpoints_and_accounts_have_different_fingerprints() -> None:
    model = MODELS["anthropic-messages"]
    prints = {
        reach(model, Connection(base_url=url, api_key=key)).model.endpoint
        for url in ("http://a.example", "http://b.example")
        for key in (KEY, KEY + "2")
    }
    assert len(prints) == 4
    assert reach(replace(model, endpoint="mine"), Connection(api_key=KEY)).model.endpoint == "mine"


def test_the_search_for_keys_finds_one(caplog: pytest.LogCaptureFixture) -> None:
    """The fixture that searches logs, errors and messages for keys can fail."""
    import logging

    from support.secrets import KEYS, Lines

    handler = Lines()
    logging.getLogger("someone.else").addHandler(handler)
    try:
        logging.getLogger("someone.else").warning("sent with %s", "no" + "-key")
    finally:
        logging.getLogger("someone.else").removeHandler(handler)
    assert handler.lines == ["sent with no-key"]
    assert KEY in KEYS
