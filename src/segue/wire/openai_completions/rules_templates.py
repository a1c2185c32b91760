"""What chat templates of models refuse where anybody may run the server: those of 68 models were rendered (2026-10).

TPL-03 is told by MMX-04, TPL-04 by ZAI-03, TPL-07 by OAC-04, TPL-11 by TPL-02 and ZAI-01. Left out: TPL-12, a silent
loss of calls on two models that nothing in a body can prevent.
"""

import re
from itertools import pairwise
from typing import Any

from ...dialects import OpenAICompletions
from ...rules import Rule
from ...types import Model
from . import walk
from .walk import Found, Object, many, where

_TURNS = "wire/openai_completions/turns.py"
_SOURCE = "llama.cpp models/templates at b21e4de7, rendered 2026-10: "


def _is_templated(dialect: OpenAICompletions) -> bool:
    """Whether nothing is known but that some template renders the messages."""
    return dialect.id_form == "nine" and dialect.empty_content == "empty"


def _null_content(body: Object, model: Model | None) -> Found:
    for path, message in walk.answers(body):
        if walk.calls(message) and message.get("content") is None:
            yield f"{path}.content", "null beside calls; '' renders everywhere"


def _user_first(body: Object, model: Model | None) -> Found:
    for path, message in walk.spoken(body)[:1]:
        if message.get("role") != "user":
            yield path, f"{message.get('role')!r} speaks first"


def _user_after_tool(body: Object, model: Model | None) -> Found:
    listed = list(walk.messages(body))
    for (_, before), (path, message) in pairwise(listed):
        if before.get("role") == "tool" and message.get("role") == "user":
            yield path, ""


_nine = re.compile(r"[a-zA-Z0-9]{9}").fullmatch


def _nine_characters(body: Object, model: Model | None) -> Found:
    given: list[tuple[str, Any]] = [(f"{path}.id", walk.get(call, "id")) for path, call in walk.history_calls(body)]
    given += [
        (f"{path}.tool_call_id", message.get("tool_call_id"))
        for path, message in walk.messages(body)
        if message.get("role") == "tool"
    ]
    for path, value in given:
        if not isinstance(value, str) or not _nine(value):
            yield path, f"{value!r}"


def _parallel(body: Object, model: Model | None) -> Found:
    for path, message in walk.answers(body):
        if len(walk.calls(message)) > 1:
            yield f"{path}.tool_calls", f"{len(walk.calls(message))} calls at once"


def _text_parts(body: Object, model: Model | None) -> Found:
    for path, message in walk.messages(body):
        content = message.get("content")
        if isinstance(content, list) and all(walk.get(part, "type") == "text" for part in content):
            yield f"{path}.content", "a list where a string would do"
        elif isinstance(content, list) and message.get("role") != "user":
            yield f"{path}.content", "a list where only strings are rendered"


_REASONING = ("reasoning", "reasoning_content", "thinking")


def _text_and_reasoning(body: Object, model: Model | None) -> Found:
    for path, message in walk.answers(body):
        reasons = any(message.get(name) for name in _REASONING)
        if walk.calls(message) and reasons and not walk.is_empty(message.get("content")):
            yield path, "text and reasoning beside calls"


def _described(body: Object, model: Model | None) -> Found:
    for path, function in walk.functions(body):
        properties = walk.get(function, "parameters", "properties")
        for name, below in properties.items() if isinstance(properties, dict) else ():
            if isinstance(below, dict) and "description" not in below:
                yield f"{path}.parameters.properties.{name}", "no description"


def _no_user(body: Object, model: Model | None) -> Found:
    listed = many(body.get("messages"))
    if listed and not walk.spoken(body):
        yield "messages", "only the system speaks"


RULES: tuple[Rule, ...] = (
    Rule(
        number="TPL-01",
        title="Content beside calls is a string",
        answers="(a type error of the template)",
        source=_SOURCE + "nine, among them Qwen3-0.6B, QwQ, gpt-oss-120b, Ministral-3",
        prevented_by=_TURNS,
        check=_null_content,
        only=where(_is_templated),
    ),
    Rule(
        number="TPL-02",
        title="The user speaks first",
        answers="conversation roles must alternate user/assistant",
        source=_SOURCE + "Mistral-Small-3.2, Mistral-Nemo, Ministral-3, gemma-2; Qwen3.5 without any user",
        prevented_by=_TURNS,
        check=_user_first,
        only=where(lambda dialect: dialect.starts_with_user),
    ),
    Rule(
        number="TPL-05",
        title="The user does not speak directly after a tool",
        answers="Unexpected role 'user' after role 'tool'",
        source=_SOURCE + "Mistral-Small-3.2, Mistral-Nemo, Ministral-3; hermes-agent#20154",
        prevented_by=_TURNS,
        check=_user_after_tool,
        only=where(lambda dialect: not dialect.user_after_tool),
    ),
    Rule(
        number="TPL-06",
        title="Call ids are nine letters and digits",
        answers="Tool call IDs should be alphanumeric strings with length 9!",
        source=_SOURCE + "Mistral-Small-3.2, Mistral-Nemo; vLLM cuts ids to their last nine (VLL-06)",
        prevented_by="projection/passes/ids.py",
        check=_nine_characters,
        only=where(lambda dialect: dialect.id_form == "nine"),
    ),
    Rule(
        number="TPL-08",
        title="One call at a time",
        answers="This model only supports single tool-calls at once!",
        source=_SOURCE + "Llama-3.1, 3.2 and 3.3",
        prevented_by=_TURNS,
        check=_parallel,
        only=where(lambda dialect: not dialect.parallel_calls),
    ),
    Rule(
        number="TPL-09",
        title="Text alone is a string, not a list of parts",
        answers='can only concatenate str (not "list") to str',
        source=_SOURCE + "22 templates",
        prevented_by=_TURNS,
        check=_text_parts,
        only=where(_is_templated),
    ),
    Rule(
        number="TPL-10",
        title="Not text and reasoning beside calls",
        answers="Cannot pass both content and thinking in an assistant message with tool calls!",
        source=_SOURCE + "gpt-oss-120b",
        prevented_by=_TURNS,
        check=_text_and_reasoning,
        only=where(lambda dialect: not dialect.text_with_reasoned_calls),
    ),
    Rule(
        number="TPL-13",
        title="Every parameter of a tool has a description",
        answers="(an UndefinedError of the template)",
        source=_SOURCE + "command-r-plus, tool use",
        prevented_by="wire/openai_completions/tools.py",
        check=_described,
        only=where(lambda dialect: dialect.parameter_descriptions),
    ),
    Rule(
        number="ZAI-01",
        title="Somebody beside the system speaks",
        answers="The messages parameter is illegal. Please check the documentation. (1214)",
        source='nanobot#3082, 2026; "No user query found in messages." in the template of Qwen3.5',
        prevented_by=_TURNS,
        check=_no_user,
        only=where(lambda dialect: dialect.starts_with_user),
    ),
)
