"""Arguments of the wrong type give a clear error, in every public function."""

from collections.abc import Callable
from typing import Any

import pytest

import segue

MODEL = segue.get_model("openai/gpt-5.1")
NAME = "openai/gpt-5.1"
CONTEXT = segue.Context(messages=[segue.UserMessage("hello")])

KEY = segue.Connection(api_key="k")

CALLS: dict[str, Callable[[Any, Any], Any]] = {
    "project": lambda context, model: segue.project(context, model),
    "encode": lambda context, model: segue.encode(context, model),
    "preview": lambda context, model: segue.preview(context, model),
    "renderer": lambda context, model: segue.Renderer(model).request(context),
    "stream": lambda context, model: segue.stream(context, model, connection=KEY),
    "stream_sync": lambda context, model: segue.stream_sync(context, model, connection=KEY),
    "complete_sync": lambda context, model: segue.complete_sync(context, model, connection=KEY),
}
"""Every public function that accepts a conversation and a model."""
BODIES: dict[str, Callable[[Any, Any], Any]] = {
    "lint": lambda body, model: segue.lint(body, "openai-responses", model),
    "ingest": lambda body, model: segue.ingest(body, "openai-responses", model),
}


@pytest.mark.parametrize("call", [*CALLS.values(), *BODIES.values()], ids=[*CALLS, *BODIES])
@pytest.mark.parametrize("model", [3, [NAME], CONTEXT], ids=["number", "list", "conversation"])
def test_something_else_instead_of_a_model(call: Callable[[Any, Any], Any], model: Any) -> None:
    with pytest.raises(TypeError, match=r"a model is a segue.Model or its name, such as 'openai/gpt-5.1', not a"):
        call({"input": []}, model)


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
@pytest.mark.parametrize(
    "conversation", [3, None, MODEL, segue.UserMessage("Hi")], ids=lambda value: type(value).__name__
)
def test_something_else_instead_of_a_conversation(call: Callable[[Any, Any], Any], conversation: Any) -> None:
    with pytest.raises(TypeError, match=rf"a conversation is a segue.Context, .*; not a {type(conversation).__name__}"):
        call(conversation, NAME)


def test_export_refuses_what_is_not_a_conversation() -> None:
    with pytest.raises(TypeError, match=r"not a UserMessage; put one message in a list"):
        segue.export(segue.UserMessage("Hi"), "openai-completions")  # type: ignore[arg-type]


def test_a_dict_instead_of_options() -> None:
    options: Any = {"max_tokens": 3}
    with pytest.raises(TypeError, match=r"options are segue.Options\(…\), not a dict"):
        segue.encode(CONTEXT, MODEL, options)
    with pytest.raises(TypeError, match=r"options are segue.Options\(…\), not a dict"):
        segue.stream(CONTEXT, MODEL, options)


@pytest.mark.parametrize("model", [3, ["openai/gpt-5.1"], CONTEXT], ids=["number", "list", "conversation"])
def test_agents_sessions_and_routers_refuse_what_is_not_a_model(model: Any) -> None:
    with pytest.raises(TypeError, match=r"a segue.Model, its name, or a router; not a"):
        segue.Agent(model)
    with pytest.raises(TypeError, match=r"a model is a segue\.Model or its name"):
        segue.RoundRobin([MODEL, model])


def test_a_router_of_one_name_is_not_a_router_of_its_letters() -> None:
    with pytest.raises(TypeError, match="a router needs a list of models; pass one model without a router"):
        segue.RoundRobin(NAME)
