"""``Options.extra``: fields of one provider are merged into the body as they are, and lint reports unknown ones."""

from typing import Any

import anthropic
import openai
import pytest
from google import genai
from support.providers import CONTEXT, MODELS, reach

import segue
from segue import Options
from segue.testing import StandIn
from segue.wire import PROTOCOLS, protocol_of

KNOWN: dict[str, dict[str, Any]] = {
    "anthropic-messages": {"service_tier": "auto", "metadata": {"user_id": "u1"}},
    "openai-completions": {"seed": 7, "logit_bias": {"50256": -100}},
    "openai-responses": {"truncation": "auto", "reasoning": {"summary": "auto"}},
    "google-generative-ai": {"generationConfig": {"seed": 7, "topP": 0.5}},
    "bedrock-converse": {"additionalModelRequestFields": {"top_k": 5}, "inferenceConfig": {"topP": 0.5}},
    "mistral-chat": {"random_seed": 7, "safe_prompt": True},
}
"""Fields that segue has no option for."""
OPTIONS = Options(max_tokens=900, reasoning="low")


def with_fields(protocol: str) -> Options:
    return Options(max_tokens=900, reasoning="low", extra=KNOWN[protocol])


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_extra_fields_are_merged_into_the_body_and_nothing_else_changes(protocol: str) -> None:
    plain = segue.encode(CONTEXT, MODELS[protocol], OPTIONS)
    request = segue.encode(CONTEXT, MODELS[protocol], with_fields(protocol))
    for name, value in KNOWN[protocol].items():
        if isinstance(value, dict):
            assert request.body[name] == {**plain.body.get(name, {}), **value}
        else:
            assert request.body[name] == value
    kept = {name: value for name, value in request.body.items() if name not in KNOWN[protocol]}
    assert kept.items() <= plain.body.items()
    assert request.changes == plain.changes
    assert segue.lint(request.body, protocol, MODELS[protocol]) == segue.lint(plain.body, protocol, MODELS[protocol])
    renderer = segue.Renderer(MODELS[protocol])
    assert renderer.request(CONTEXT, with_fields(protocol)).json() == request.json()


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_a_field_that_the_protocol_does_not_have_is_reported_by_lint_and_refused_by_the_provider(protocol: str) -> None:
    model, options = MODELS[protocol], Options(extra={"no_such_field": 1})
    request = segue.encode(CONTEXT, model, options)
    assert request.body["no_such_field"] == 1
    assert "no_such_field" in {finding.path for finding in segue.lint(request.body, protocol, model)}
    with StandIn(model.provider, protocol=protocol) as server:
        segue.complete_sync(CONTEXT, model, options, connection=reach(server), check=False)
        assert server.refused and server.requests[0]["no_such_field"] == 1


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_the_messages_cannot_be_replaced(protocol: str) -> None:
    history = protocol_of(protocol).history
    with pytest.raises(ValueError, match=f"option extra must not contain '{history}'"):
        segue.encode(CONTEXT, MODELS[protocol], Options(extra={history: []}))


@pytest.mark.parametrize(
    ("extra", "error", "text"),
    [
        ([("a", 1)], TypeError, "option extra must be a dict of fields, not a list"),
        ({"a": object()}, ValueError, "option extra is not JSON"),
        ({"a": float("nan")}, segue.FormatError, "nan"),
    ],
)
def test_extra_fields_are_json(extra: Any, error: type[Exception], text: str) -> None:
    with pytest.raises(error, match=text):
        Options(extra=extra)


def test_extra_fields_are_copied() -> None:
    fields: dict[str, Any] = {"metadata": {"user_id": "u1"}}
    options = Options(extra=fields)
    fields["metadata"]["user_id"] = "u2"
    assert options.extra == {"metadata": {"user_id": "u1"}}


def test_the_sdks_send_extra_fields() -> None:
    """Also those that they have no argument for."""
    own = {"x_gateway": {"team": "blue"}}
    sent: dict[str, Any] = {}
    for protocol in ("anthropic-messages", "openai-responses", "openai-completions", "google-generative-ai"):
        model = MODELS[protocol] if protocol != "anthropic-messages" else segue.get_model("anthropic/claude-sonnet-5")
        kwargs = segue.encode("Hi", model, Options(max_tokens=900, extra=KNOWN[protocol] | own)).sdk_kwargs()
        with StandIn(model.provider, protocol=protocol) as server:
            with pytest.raises((openai.BadRequestError, anthropic.BadRequestError, genai.errors.ClientError)):
                _send(protocol, server, kwargs)  # the stand-in refuses what the provider does not have
            sent[protocol] = server.requests[0]
    for protocol, body in sent.items():
        assert body["x_gateway"] == own["x_gateway"]
        for name, value in KNOWN[protocol].items():
            assert value.items() <= body[name].items() if isinstance(value, dict) else body[name] == value


def _send(protocol: str, server: StandIn, kwargs: dict[str, Any]) -> None:
    if protocol == "anthropic-messages":
        with anthropic.Anthropic(base_url=server.url, api_key=server.key) as claude:
            claude.messages.create(**kwargs)
    elif protocol == "google-generative-ai":
        options = genai.types.HttpOptions(base_url=server.url, api_version="v1beta")
        client = genai.Client(api_key=server.key, http_options=options)
        client.models.generate_content(**kwargs)
    else:
        with openai.OpenAI(base_url=server.url, api_key=server.key, max_retries=0) as gpt:
            create = gpt.responses.create if protocol == "openai-responses" else gpt.chat.completions.create
            create(**kwargs)
