"""What the chat templates of open models refuse on any server: the templates of 68 models were rendered (2026-10).

MMX-04 covers TPL-03, ZAI-03 covers TPL-04, OAC-04 covers TPL-07, TPL-02 and ZAI-01 cover TPL-11. Left out: TPL-12, a
silent loss of calls on two models that nothing in a body can prevent.
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
    """Whether nothing is known about the target except that a template renders the messages."""
    return dialect.id_form == "nine" and dialect.empty_content == "empty"


def _null_content(body: Object, model: Model | None) -> Found:
    for path, message in walk.answers(body):
        if walk.calls(message) and message.get("content") is None:
            yield f"{path}.content", "null in a message with calls; use '', which every template renders"


def _user_first(body: Object, model: Model | None) -> Found:
    for path, message in walk.dialogue(body)[:1]:
        if message.get("role") != "user":
            yield path, f"the first message has the role {message.get('role')!r}"


def _user_after_tool(body: Object, model: Model | None) -> Found:
    listed = list(walk.messages(body))
    for (_, before), (path, message) in pairwise(listed):
        if before.get("role") == "tool" and message.get("role") == "user":
            yield path, "a user message directly after a tool message"


_nine = re.compile(r"[a-zA-Z0-9]{9}").fullmatch


def _nine_characters(body: Object, model: Model | None) -> Found:
    ids: list[tuple[str, Any]] = [(f"{path}.id", walk.get(call, "id")) for path, call in walk.history_calls(body)]
    ids += [
        (f"{path}.tool_call_id", message.get("tool_call_id"))
        for path, message in walk.messages(body)
        if message.get("role") == "tool"
    ]
    for path, value in ids:
        if not isinstance(value, str) or not _nine(value):
            yield path, f"{value!r} is not nine letters and digits"


def _parallel(body: Object, model: Model | None) -> Found:
    for path, message in walk.answers(body):
        if len(walk.calls(message)) > 1:
            yield f"{path}.tool_calls", f"{len(walk.calls(message))} calls in one message"


def _text_parts(body: Object, model: Model | None) -> Found:
    for path, message in walk.messages(body):
        content = message.get("content")
        if isinstance(content, list) and all(walk.get(part, "type") == "text" for part in content):
            yield f"{path}.content", "a list of text parts; use a string"
        elif isinstance(content, list) and message.get("role") != "user":
            yield f"{path}.content", "a list, but only a string is rendered"


_REASONING = ("reasoning", "reasoning_content", "thinking")


def _text_and_reasoning(body: Object, model: Model | None) -> Found:
    for path, message in walk.answers(body):
        reasons = any(message.get(name) for name in _REASONING)
        if walk.calls(message) and reasons and not walk.is_empty(message.get("content")):
            yield path, "both text and reasoning in a message with calls"


def _described(body: Object, model: Model | None) -> Found:
    for path, function in walk.functions(body):
        properties = walk.get(function, "parameters", "properties")
        for name, below in properties.items() if isinstance(properties, dict) else ():
            if isinstance(below, dict) and "description" not in below:
                yield f"{path}.parameters.properties.{name}", "no description"


def _no_user(body: Object, model: Model | None) -> Found:
    listed = many(body.get("messages"))
    if listed and not walk.dialogue(body):
        yield "messages", "there are only system messages"


RULES: tuple[Rule, ...] = (
    Rule(
        number="TPL-01",
        title="The content of a message with calls is a string",
        answers="(a type error of the template)",
        source=_SOURCE + "nine, among them Qwen3-0.6B, QwQ, gpt-oss-120b, Ministral-3",
        prevented_by=_TURNS,
        check=_null_content,
        only=where(_is_templated),
    ),
    Rule(
        number="TPL-02",
        title="The first message is from the user",
        answers="conversation roles must alternate user/assistant",
        source=_SOURCE + "Mistral-Small-3.2, Mistral-Nemo, Ministral-3, gemma-2; Qwen3.5 without any user",
        prevented_by=_TURNS,
        check=_user_first,
        only=where(lambda dialect: dialect.starts_with_user),
    ),
    Rule(
        number="TPL-05",
        title="No user message directly after a tool message",
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
        title="Content that is only text is a string, not a list of parts",
        answers='can only concatenate str (not "list") to str',
        source=_SOURCE + "22 templates",
        prevented_by=_TURNS,
        check=_text_parts,
        only=where(_is_templated),
    ),
    Rule(
        number="TPL-10",
        title="A message with calls has text or reasoning, not both",
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
        title="Not all messages are system messages",
        answers="The messages parameter is illegal. Please check the documentation. (1214)",
        source='nanobot#3082, 2026; "No user query found in messages." in the template of Qwen3.5',
        prevented_by=_TURNS,
        check=_no_user,
        only=where(lambda dialect: dialect.starts_with_user),
    ),
)
