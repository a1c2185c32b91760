"""Options for Gemini, for each field of the dialect, and reports about options that were left out."""

from typing import Any

import msgspec
import pytest

import segue
from segue.render import encode
from segue.types import Context, Options, ToolDefinition, UserMessage

CONTEXT = Context(messages=[UserMessage("Hi")], tools=[ToolDefinition("1st", "", {"type": "object", "properties": {}})])
BARE = Context(messages=[UserMessage("Hi")])


def asked(ref: str, context: Context = BARE, **options: Any) -> tuple[dict[str, Any], list[str]]:
    """The body without the conversation, and which options were left out or changed."""
    request = encode(context, segue.get_model(ref), Options(**options))
    rest = {name: value for name, value in request.body.items() if name not in ("contents", "tools")}
    return rest, [change.detail.split(":")[0] for change in request.changes if change.code == "option-dropped"]


def config(**fields: Any) -> dict[str, Any]:
    return {"generationConfig": fields}


@pytest.mark.parametrize(
    ("ref", "options", "body", "dropped"),
    [
        ("google/gemini-3.8-flash", {}, {}, []),
        ("google/gemini-3.8-flash", {"max_tokens": 5}, config(maxOutputTokens=5), []),
        ("google/gemini-2.0-flash", {"max_tokens": 10**6}, config(maxOutputTokens=8192), ["max_tokens"]),
        ("google/gemini-2.5-flash", {"temperature": 0.5}, config(temperature=0.5), []),
        ("google/gemini-2.5-flash", {"temperature": 3.0}, {}, ["temperature"]),
        ("google/gemini-3.8-flash", {"temperature": 0.5}, {}, ["temperature"]),
        ("google/gemini-3.8-flash", {"stop": ("a", "")}, config(stopSequences=["a"]), ["stop"]),
        ("google/gemini-3.8-flash", {"stop": tuple("abcdef")}, config(stopSequences=list("abcde")), ["stop"]),
        ("google/gemini-3.8-flash", {"cache": "long"}, {}, ["cache"]),
        ("google/gemini-3.8-flash", {"cache": "short"}, {}, []),
        ("google/gemini-3.8-flash", {"metadata": {"team": "a"}}, {}, ["metadata"]),
        ("google-vertex/gemini-3.8-flash", {"metadata": {"team": "a"}}, {"labels": {"team": "a"}}, []),
        (
            "google-vertex/gemini-3.8-flash",
            {"metadata": {"team": "a", "Not fit": "b"}},
            {"labels": {"team": "a"}},
            ["metadata"],
        ),
    ],
)
def test_each_option_is_mapped_or_reported(
    ref: str, options: dict[str, Any], body: dict[str, Any], dropped: list[str]
) -> None:
    assert asked(ref, **options) == (body, dropped)


@pytest.mark.parametrize(
    ("ref", "level", "thinking", "dropped"),
    [
        ("google/gemini-2.0-flash", "high", None, ["reasoning"]),
        ("google/gemini-2.0-flash", "off", None, []),
        ("google/gemini-2.5-flash", "off", {"thinkingBudget": 0}, []),
        ("google/gemini-2.5-flash", "minimal", {"thinkingBudget": 512, "includeThoughts": True}, []),
        ("google/gemini-2.5-flash", "max", {"thinkingBudget": 24_576, "includeThoughts": True}, []),
        ("google/gemini-2.5-pro", "off", {"thinkingBudget": 128}, ["reasoning"]),
        ("google/gemini-3-pro-preview", "off", {"thinkingLevel": "LOW"}, ["reasoning"]),
        ("google/gemini-3-pro-preview", "medium", {"thinkingLevel": "LOW", "includeThoughts": True}, []),
        ("google/gemini-3-pro-preview", "max", {"thinkingLevel": "HIGH", "includeThoughts": True}, []),
        ("google/gemini-3.6-flash", "minimal", {"thinkingLevel": "MINIMAL", "includeThoughts": True}, []),
        ("google/gemini-3.6-flash", "medium", {"thinkingLevel": "MEDIUM", "includeThoughts": True}, []),
    ],
)
def test_thinking_is_mapped_for_each_generation(
    ref: str, level: Any, thinking: dict[str, Any] | None, dropped: list[str]
) -> None:
    body = {} if thinking is None else config(thinkingConfig=thinking)
    assert asked(ref, reasoning=level) == (body, dropped)


@pytest.mark.parametrize(
    ("choice", "calling"),
    [
        ("auto", {"mode": "AUTO"}),
        ("none", {"mode": "NONE"}),
        ("required", {"mode": "ANY"}),
    ],
)
def test_tool_choice_is_a_mode(choice: str, calling: dict[str, Any]) -> None:
    body = {"toolConfig": {"functionCallingConfig": calling}}
    assert asked("google/gemini-3.8-flash", CONTEXT, tool_choice=choice) == (body, [])
    assert asked("google/gemini-3.8-flash", BARE, tool_choice=choice) == ({}, ["tool_choice"])


def test_a_forced_tool_has_its_rendered_name() -> None:
    model = segue.get_model("google/gemini-3.8-flash")
    request = encode(CONTEXT, model, Options(tool_choice="1st"))
    name = request.body["tools"][0]["functionDeclarations"][0]["name"]
    assert name != "1st"
    assert request.body["toolConfig"]["functionCallingConfig"] == {"mode": "ANY", "allowedFunctionNames": [name]}
    assert asked("google/gemini-3.8-flash", CONTEXT, tool_choice="other") == ({}, ["tool_choice"])


def test_a_model_that_does_not_think_gets_no_level() -> None:
    model = msgspec.structs.replace(segue.get_model("google/gemini-3.8-flash"), reasoning=False)
    request = encode(BARE, model, Options(reasoning="high"))
    assert "generationConfig" not in request.body
    assert [change.code for change in request.changes] == ["option-dropped"]
