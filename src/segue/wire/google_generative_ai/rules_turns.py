"""Rules about the order of contents, and about matching responses to calls.

The current turn is everything after the last user content that has more than function responses.
"""

from collections import Counter
from itertools import pairwise
from typing import Any

from ...rules import Rule
from ...types import Model
from ...types.text import count_of
from ..common.checks import repeated, shown
from .rules_contents import ENCODER, Found, only
from .shapes import contents, get, held, kinds, parts, role

CALL, RESPONSE = "functionCall", "functionResponse"


def _call_turns(body: dict[str, Any], model: Model | None) -> Found:
    before: Any = None
    for index, content in enumerate(contents(body)):
        if role(content) == "model" and held(content, CALL) and (index == 0 or role(before) == "model"):
            where = "at the start of the conversation" if index == 0 else "directly after another content of the model"
            yield f"contents[{index}]", f"a call {where}"
        before = content


def _response_turns(body: dict[str, Any], model: Model | None) -> Found:
    before: Any = None
    for index, content in enumerate(contents(body)):
        if held(content, RESPONSE) and not (role(before) == "model" and held(before, CALL)):
            yield f"contents[{index}]", "function responses without calls directly before them"
        before = content


def _counts(body: dict[str, Any], model: Model | None) -> Found:
    found = contents(body)
    for index, content in enumerate(found):
        calls = len(held(content, CALL)) if role(content) == "model" else 0
        answered = len(held(found[index + 1], RESPONSE)) if index + 1 < len(found) else 0
        if calls and calls != answered:
            yield (
                f"contents[{index}]",
                f"{count_of(calls, 'call')}, but {count_of(answered, 'response')} in the next content",
            )


def _matches(body: dict[str, Any], model: Model | None) -> Found:
    found = contents(body)
    for index, (content, following) in enumerate(pairwise(found)):
        calls, responses = held(content, CALL), held(following, RESPONSE)
        if not calls or len(calls) != len(responses):
            continue
        for field in ("name", "id"):
            made = Counter(_named(call, field) for _, call in calls)
            answered = Counter(_named(response, field) for _, response in responses)
            for value in answered - made:
                yield f"contents[{index + 1}]", f"no call before has the {field} {shown(value)!r}"


def _repeated_ids(body: dict[str, Any], model: Model | None) -> Found:
    for index, content in enumerate(contents(body)):
        for kind in (CALL, RESPONSE):
            named = ((f"contents[{index}].parts[{at}].{kind}.id", get(each, "id")) for at, each in held(content, kind))
            yield from repeated(named, "the id")


def _named(value: Any, field: str) -> str | None:
    """The name or id of a call or response, if it is a text."""
    found = get(value, field)
    return found if isinstance(found, str) else None


def _mixed(body: dict[str, Any], model: Model | None) -> Found:
    for index, content in enumerate(contents(body)):
        if not held(content, RESPONSE):
            continue
        for at, part in enumerate(parts(content)):
            others = [kind for kind in kinds(part) if kind != RESPONSE]
            if others:
                yield f"contents[{index}].parts[{at}]", f"{others[0]} together with function responses"


def _last(body: dict[str, Any], model: Model | None) -> Found:
    found = contents(body)
    if found and role(found[-1]) == "model":
        yield f"contents[{len(found) - 1}]", "the last content is of the model"


def _signed(body: dict[str, Any], model: Model | None) -> Found:
    found = contents(body)
    for index in range(len(found) - 1, -1, -1):
        content = found[index]
        if role(content) != "model":
            if not held(content, RESPONSE):
                return  # the current turn begins here
            continue
        for at, _ in held(content, CALL)[:1]:
            if not get(parts(content)[at], "thoughtSignature"):
                yield f"contents[{index}].parts[{at}]", "the first call of a content has no signature"


RULES: tuple[Rule, ...] = (
    Rule(
        number="GEM-04",
        title="a call comes directly after a content of the user",
        answers="Please ensure that function call turn comes immediately after a user turn or after a function "
        "response turn.",
        source="google-gemini/gemini-cli#11814, continuedev/continue#11164, 2025-10 to 2026",
        prevented_by=ENCODER,
        check=_call_turns,
    ),
    Rule(
        number="GEM-05",
        title="function responses come directly after their calls",
        answers="Please ensure that function response turn comes immediately after a function call turn.",
        source="BerriAI/litellm#26755, langchain-ai/langchain#27799, 2024-10 to 2026",
        prevented_by="projection/passes/tool_interactions.py",
        check=_response_turns,
    ),
    Rule(
        number="GEM-06",
        title="the next content has as many function responses as there are calls",
        answers="Please ensure that the number of function response parts is equal to the number of function call "
        "parts of the function call turn.",
        source="google-gemini/gemini-cli#16415, #4217, microsoft/vscode#299295, 2025-07 to 2026",
        prevented_by="projection/passes/tool_interactions.py",
        check=_counts,
    ),
    Rule(
        number="GEM-07",
        title="function responses have the names and, if there are any, the ids of their calls",
        answers="functionResponse.id does not match functionCall.id",
        source="google-genai 3.1.0, types.FunctionResponse; router-for-me/CLIProxyAPI#5199, 2026",
        prevented_by="projection/passes/tool_interactions.py",
        check=_matches,
    ),
    Rule(
        number="GEM-07b",
        title="the ids of the calls of a content are different, and so are those of its responses",
        answers="",
        source="google-genai 3.1.0, types.FunctionCall: the unique id of the function call, 2026-11; a refusal was not "
        "seen, so this is only a warning",
        prevented_by="projection/passes/ids.py",
        check=_repeated_ids,
        severity="warning",
    ),
    Rule(
        number="GEM-09",
        title="a content with function responses has nothing else",
        answers="Requests ending with a model turn are not supported.",
        source="Prism-Shadow/agenthub#191, anomalyco/opencode#43479; empty answers, pydantic/pydantic-ai#4210, 2026-08",
        prevented_by=ENCODER,
        check=_mixed,
        only=only(lambda dialect: not dialect.mixed_responses),
    ),
    Rule(
        number="GEM-10",
        title="the last content is not of the model",
        answers="Requests ending with a model turn are not supported.",
        source="LibreChat-AI/agents#323, anomalyco/opencode#45359; docs.cloud.google.com on 3.5 Flash-Lite, 2026",
        prevented_by=ENCODER,
        check=_last,
        only=only(lambda dialect: not dialect.prefill),
    ),
    Rule(
        number="GEM-11",
        title="in the current turn, the first call of each content has a signature",
        answers="Function call is missing a thought_signature in functionCall parts.",
        source="langgenius/dify-official-plugins#2088, continuedev/continue#8785; "
        "ai.google.dev/gemini-api/docs/thought-signatures, 2025-11",
        prevented_by=ENCODER,
        check=_signed,
        only=only(lambda dialect: dialect.signature_required),
    ),
)
