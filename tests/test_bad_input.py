"""Arguments of the wrong type give a clear error, in every public function."""

from collections.abc import Callable
from typing import Any

import pytest

import segue

MODEL = segue.get_model("openai/gpt-5.1")
NAME = "openai/gpt-5.1"
CONTEXT = segue.Context(messages=[segue.UserMessage("hello")])

WRONG_MODEL: dict[str, Callable[[], Any]] = {
    "project": lambda: segue.project(CONTEXT, NAME),  # type: ignore[arg-type]
    "encode": lambda: segue.encode(CONTEXT, NAME),  # type: ignore[arg-type]
    "preview": lambda: segue.preview(CONTEXT, NAME),  # type: ignore[arg-type]
    "lint": lambda: segue.lint({"input": []}, "openai-responses", NAME),  # type: ignore[arg-type]
    "ingest": lambda: segue.ingest({"input": []}, "openai-responses", NAME),  # type: ignore[arg-type]
    "renderer": lambda: segue.Renderer(NAME),  # type: ignore[arg-type]
}
WRONG_CONTEXT: dict[str, Callable[[], Any]] = {
    "project": lambda: segue.project([], MODEL),  # type: ignore[arg-type]
    "encode": lambda: segue.encode({"messages": []}, MODEL),  # type: ignore[arg-type]
    "renderer": lambda: segue.Renderer(MODEL).request(CONTEXT.messages),  # type: ignore[arg-type]
    "stream": lambda: segue.stream([], MODEL, connection=segue.Connection(api_key="k")),  # type: ignore[arg-type]
}


@pytest.mark.parametrize("call", WRONG_MODEL.values(), ids=WRONG_MODEL.keys())
def test_a_name_instead_of_a_model(call: Callable[[], Any]) -> None:
    with pytest.raises(TypeError, match=r"a segue.Model, not 'openai/gpt-5.1'; segue.get_model\('provider/model'\)"):
        call()


@pytest.mark.parametrize("call", WRONG_CONTEXT.values(), ids=WRONG_CONTEXT.keys())
def test_something_else_instead_of_a_conversation(call: Callable[[], Any]) -> None:
    with pytest.raises(TypeError, match=r"a conversation is a segue.Context, not a (list|dict)"):
        call()


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
    with pytest.raises(TypeError, match=r"a model is a segue\.Model, not a"):
        segue.RoundRobin([MODEL, model])
