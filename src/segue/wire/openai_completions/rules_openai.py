"""What OpenAI itself and nearly every member of the family refuse.

Where other members answer to the same fault with a different text, their rules are included here: KIM-03, DSK-04,
QWN-01, MMX-01 and X-01 are OAC-03; KIM-04, DSK-05, QWN-02, MMX-02, TPL-07 and X-02 are OAC-04; X-03 is OAC-05; QWN-03,
MMX-03, OLL-02, LCP-05, VLL-02, VLL-03 and X-05 are OAC-10; X-06 is OAC-11; GRQ-03 is OAC-12; QWN-04 is OAC-15; AZU-06
is OAC-06, OAC-09 and OAC-14; LCP-01, LCP-02 and OLL-01 are OAC-01 and OAC-08; X-10 is OAC-19.
"""

import re
from collections import Counter
from typing import Any

from ...rules import Rule
from ...types import Model
from ..common.checks import arguments_fault, half_characters, shown
from ..common.images import data_fault
from . import walk
from .walk import Found, Object, get, many, where

MAX_CALLS = 128
ROLES = ("system", "developer", "user", "assistant", "tool", "function")
_TURNS = "wire/openai_completions/turns.py"
_PAIRING = "projection/passes/tool_interactions.py"


def _messages(body: Object, model: Model | None) -> Found:
    if not many(body.get("messages")):
        yield "messages", "no messages"


def _roles(body: Object, model: Model | None) -> Found:
    for index, message in enumerate(many(body.get("messages"))):
        if not isinstance(message, dict):
            yield f"messages[{index}]", "a message must be an object"
        elif message.get("role") not in ROLES:
            yield f"messages[{index}].role", f"{shown(message.get('role'))!r} is not a role"


def _answered(body: Object, model: Model | None) -> Found:
    waiting: Counter[str] = Counter()
    asked = ""
    for path, message in walk.messages(body):
        if message.get("role") == "tool":
            waiting[_answers(message)] -= 1
            continue
        yield from _unanswered(asked, waiting)
        asked, waiting = path, Counter(walk.call_ids(message))
    yield from _unanswered(asked, waiting)


def _unanswered(asked: str, waiting: Counter[str]) -> Found:
    for missing, count in waiting.items():
        if count > 0:
            yield f"{asked}.tool_calls", f"no result for {shown(missing)!r} directly after it"


def _answers(message: Object) -> str:
    """The id of the call that a result answers."""
    call_id = message.get("tool_call_id")
    return call_id if isinstance(call_id, str) else ""


def _responding(body: Object, model: Model | None) -> Found:
    asked: set[str] = set()
    for path, message in walk.messages(body):
        if message.get("role") != "tool":
            asked = set(walk.call_ids(message))
        elif _answers(message) not in asked:
            yield path, f"a result for {shown(_answers(message))!r}, which is not a call of the message before it"


def _unique(body: Object, model: Model | None) -> Found:
    answered: set[str] = set()
    for path, message in walk.messages(body):
        ids = walk.call_ids(message)
        if len(set(ids)) < len(ids):
            yield f"{path}.tool_calls", "two calls with the same id"
        if message.get("role") != "tool":
            answered = set()
        elif _answers(message) in answered:
            yield path, "a second result for one call"
        else:
            answered.add(_answers(message))


def _id_length(body: Object, model: Model | None) -> Found:
    for path, call in walk.history_calls(body):
        if isinstance(get(call, "id"), str) and len(call["id"]) > 40:
            yield f"{path}.id", f"an id of {len(call['id'])} characters, at most 40"


def _no_calls(body: Object, model: Model | None) -> Found:
    for path, message in walk.messages(body):
        if message.get("tool_calls") == []:
            yield f"{path}.tool_calls", "an empty list of calls"
        elif len(walk.calls(message)) > MAX_CALLS:
            yield f"{path}.tool_calls", f"{len(walk.calls(message))} calls, at most {MAX_CALLS}"


_INSTEAD = ("tool_calls", "function_call", "refusal", "audio")


def _content(body: Object, model: Model | None) -> Found:
    for path, message in walk.messages(body):
        content = message.get("content")
        if content is None:
            role = message.get("role")
            # The content of a function message is "Union[str, None]", but required (SDK openai 3.49.0).
            is_optional = (role == "function" and "content" in message) or (
                role == "assistant" and any(message.get(name) is not None for name in _INSTEAD)
            )
            if not is_optional:
                yield f"{path}.content", "missing"
        elif not isinstance(content, str | list):
            yield f"{path}.content", "neither a string nor a list of parts"


def _no_parts(body: Object, model: Model | None) -> Found:
    for path, message in walk.messages(body):
        if message.get("content") == []:
            yield f"{path}.content", "an empty list of parts"


_VIDEO = {"video_url", "input_video"}  # Kimi and llama.cpp
PARTS: dict[str, set[str]] = {
    "system": {"text"},
    "developer": {"text"},
    "tool": {"text"},
    "assistant": {"text", "refusal"},
    "user": {"text", "image_url", "input_audio", "file", *_VIDEO},
}


def _part_kinds(body: Object, model: Model | None) -> Found:
    dialect = walk.dialect_of(model)
    for path, role, part in walk.parts(body):
        if role == "tool" and part.get("type") == "image_url" and dialect is not None and dialect.images_in_results:
            continue
        if role in PARTS and shown(part.get("type")) not in PARTS[role]:
            yield path, f"{shown(part.get('type'))!r} in a message of role {role!r}"


def _calls(body: Object, model: Model | None) -> Found:
    dialect = walk.dialect_of(model)
    for path, call in walk.history_calls(body):
        if not isinstance(call, dict):
            yield path, "a call must be an object"
            continue
        if not isinstance(call.get("id"), str) or not call["id"]:
            yield f"{path}.id", "a call must have an id"
        if call.get("type") == "custom":
            continue
        has_builtins = dialect is not None and dialect.builtin_functions
        is_function = call.get("type") == "function" or (has_builtins and walk.is_builtin(call))
        if not is_function or not isinstance(call.get("function"), dict):
            yield f"{path}.type", "a call must have the type function, and a function"
        elif fault := arguments_fault(call["function"].get("arguments")):
            yield f"{path}.function.arguments", fault
    for path, message in walk.answers(body):
        called = message.get("function_call")
        if isinstance(called, dict) and (fault := arguments_fault(called.get("arguments"))):
            yield f"{path}.function_call.arguments", fault


_IMAGE = re.compile(r"https?://.|data:(image/(?:png|jpe?g|webp|gif));base64,", re.IGNORECASE).match
_DATA_URL = re.compile(r"data:([^,]*);base64,", re.IGNORECASE).match


def _media(body: Object, model: Model | None) -> Found:
    dialect = walk.dialect_of(model)
    may_be_url = dialect is not None and not dialect.strict_keys
    for path, _, part in walk.parts(body):
        kind = part.get("type")
        if kind == "image_url":
            url = get(part, "image_url", "url") or part.get("image_url")
            if fault := image_fault(url):
                yield f"{path}.image_url", fault
        elif kind == "file" and (fault := _file_fault(part.get("file"), may_be_url)):
            yield f"{path}.file", fault
        elif kind == "input_audio":
            if get(part, "input_audio", "format") not in ("wav", "mp3"):
                yield f"{path}.input_audio", "the format must be wav or mp3"
            elif fault := data_fault(get(part, "input_audio", "data"), None):
                yield f"{path}.input_audio", fault


def _file_fault(file: Any, may_be_url: bool) -> str:
    """What is wrong with a file; "" if nothing is. A file has an id, or data and a name. OpenRouter also accepts an
    address as ``file_data`` (its documentation, "PDF inputs", 2026)."""
    data = get(file, "file_data")
    if may_be_url and isinstance(data, str) and data.startswith("https://"):
        return ""
    if not data:
        return "" if get(file, "file_id") else "a file must have file_data or file_id; a URL is not accepted"
    match = _DATA_URL(data) if isinstance(data, str) else None
    if match is None:
        return "not a data URL in base64"
    return data_fault(data[match.end() :], match[1]) or (
        "" if get(file, "filename") else "file_data requires a filename"
    )


def image_fault(url: Any) -> str:
    """What is wrong with the URL of an image; "" if nothing is."""
    match = _IMAGE(url) if isinstance(url, str) else None
    if match is None:
        return "must be an http URL, or png, jpeg, webp or gif in a data URI"
    return data_fault(url[match.end() :], match[1]) if match[1] else ""


def _no_reasoning(body: Object, model: Model | None) -> Found:
    for path, message in walk.messages(body):
        for name in ("reasoning_content", "reasoning", "reasoning_details", "thinking"):
            if message.get(name) is not None:
                yield f"{path}.{name}", "a field with reasoning, which is ignored or refused"


def _surrogates(body: Object, model: Model | None) -> Found:
    return half_characters(body)


RULES: tuple[Rule, ...] = (
    Rule(
        number="OAC-01",
        title="There is at least one message",
        answers="Invalid 'messages': empty array. Expected an array with minimum length 1",
        source="measured by a third party on gpt-5.6-terra, 2026-09",
        prevented_by="projection/pipeline.py",
        check=_messages,
    ),
    Rule(
        number="OAC-02",
        title="Roles are system, developer, user, assistant, tool and function",
        answers="Supported values are: 'system', 'assistant', 'user', 'function', 'tool', and 'developer'.",
        source="measured by a third party on gpt-5.6-terra, 2026-09; SDK openai 3.49.0",
        prevented_by=_TURNS,
        check=_roles,
    ),
    Rule(
        number="OAC-03",
        title="Every call is answered directly after its message, with nothing in between",
        answers="An assistant message with 'tool_calls' must be followed by tool messages responding to each "
        "'tool_call_id'.",
        source="cai#111, litellm#28995, pipecat#309; Kimi crush#3847, DeepSeek deer-flow#2706, Qwen gemini-cli#5031, "
        "MiniMax oh-my-pi#2055; until 2026",
        prevented_by=_PAIRING,
        check=_answered,
    ),
    Rule(
        number="OAC-04",
        title="A tool message answers a call of the message before its batch",
        answers="messages with role 'tool' must be a response to a preceeding message with 'tool_calls'.",
        source="OpenManus#744; Kimi hermes-agent#24328, DeepSeek OpenManus#23, Qwen qwen-code#2360, MiniMax pi#5468; "
        "until 2026",
        prevented_by=_PAIRING,
        check=_responding,
    ),
    Rule(
        number="OAC-05",
        title="A call id appears once in its message, and is answered once",
        answers="Invalid parameter: Duplicate value for 'tool_call_id' of '…', in messages[7] and messages[8].",
        source='agno#5116, 2025; opencode#1211, 2025-07; MiniMax "duplicate tool_call id", GCMP#120, 2026-04',
        prevented_by="projection/passes/ids.py",
        check=_unique,
    ),
    Rule(
        number="OAC-06",
        title="Call ids have at most 40 characters",
        answers="string too long. Expected a string with maximum length 40",
        source="error text of OpenAI and Azure, 2024 and 2025; a limit of 64 was seen in 2026",
        prevented_by="projection/passes/ids.py",
        check=_id_length,
        only=where(lambda dialect: dialect.id_form == "call-40"),
    ),
    Rule(
        number="OAC-07",
        title="A list of calls has at least one and at most 128",
        answers="Invalid 'messages.tool_calls': empty array. Expected an array with minimum length 1",
        source="measured by a third party on gpt-5.6-terra, 2026-09, and many reports; copilot-cli#669, 2025-11",
        prevented_by=_TURNS,
        check=_no_calls,
    ),
    Rule(
        number="OAC-08",
        title="Content is a string or a list of parts; null only in an answer with calls",
        answers="Invalid value for 'content': expected a string, got null.",
        source="measured by a third party on gpt-5.6-terra, 2026-09; llama.cpp server and Ollama sources, 2026",
        prevented_by=_TURNS,
        check=_content,
    ),
    Rule(
        number="OAC-09",
        title="Only user messages have images; other roles have text",
        answers="Image URLs are only allowed for messages with role 'user', but this message contains an image URL.",
        source="SDK openai 3.49.0; strands-agents/sdk-python#320, collected 2026-11",
        prevented_by=_TURNS,
        check=_part_kinds,
    ),
    Rule(
        number="OAC-10",
        title="A call has an id, the type function, and a string with a JSON object as arguments; or the type custom",
        answers="(invalid_type)",
        source="SDK openai 3.49.0; Qwen nanobot#2469, MiniMax hermes-agent#12167, vLLM and Ollama sources, 2026",
        prevented_by=_TURNS,
        check=_calls,
    ),
    Rule(
        number="OAC-16",
        title="Images are png, jpeg, webp or gif; files have data with a name, or an id; audio is wav or mp3",
        answers="You uploaded an unsupported image. Please make sure your image is of one of the following formats: "
        "['png', 'jpeg', 'gif', 'webp'].",
        source="SDK openai 3.49.0 and documentation, 2026; of files: as of the Responses API (OAR-13b)",
        prevented_by=_TURNS,
        check=_media,
    ),
    Rule(
        number="OAC-17",
        title="Messages have no reasoning fields",
        answers="",
        source="SDK openai 3.49.0: ignored or refused, 2026",
        prevented_by="wire/openai_completions/reasoning.py",
        check=_no_reasoning,
        severity="warning",
        only=where(lambda dialect: dialect.reasoning_field is None and dialect.reasoning_required == "never"),
    ),
    Rule(
        number="OAC-21",
        title="A list of parts is not empty",
        answers="Invalid 'messages[].content': empty array. Expected an array with minimum length 1",
        source="OpenAI's OpenAPI document (minItems: 1); not enforced in 2024 (openai-python#1812); the stricter "
        "reading",
        prevented_by=_TURNS,
        check=_no_parts,
    ),
    Rule(
        number="OAC-19",
        title="No lone surrogates",
        answers="We could not parse the JSON body of your request.",
        source="error text of OpenAI, many reports until 2026",
        prevented_by="projection/passes/text.py",
        check=_surrogates,
    ),
)
# Left out, because a body does not show them: OAC-18 (the context window: see `preview`), AZU-01 (fields of an
# api-version), AZU-02 (a content filter), AZU-03 (answers), AZU-04 and AZU-05 (Responses), AZU-07 (the window),
# AZU-08 (Claude).
