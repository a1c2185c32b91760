"""What single members of the family refuse in messages: missing or unwanted reasoning, empty messages, roles, parts and
ids. Each rule applies to the models whose dialect has the quirk; ``source`` names the providers.

KIM-05 also covers DSK-06, ZAI-02, LCP-03 and X-04; XAI-01 also MMX-05; KIM-07 also LCP-04; ZAI-03 and MMX-04 also X-08.

Left out, because a body does not show them: GRQ-04, CER-04, XAI-04 and ORT-04 (answers), ORT-03 (which upstream
answers), ORT-05 (chooses a dialect), MMX-07, LCP-07, OLL-04 and VLL-04 (other fields are ignored silently), OLL-05,
VLL-07 (rewritten by the server), X-11 and X-12 (where a turn came from). Left out as single reports that were not
reproduced or that concern an old model: ZAI-04, MMX-05 with calls, XAI-02, TOG-01. ZAI-06 is about another protocol.
"""

from itertools import pairwise

from ...dialects.openai_completions import ReasoningField
from ...rules import Rule
from ...types import Model
from . import walk
from .walk import Found, Object, get, many, where

_TURNS = "wire/openai_completions/turns.py"
_REASONING = "wire/openai_completions/reasoning.py"
FIELDS: tuple[ReasoningField | str, ...] = ("reasoning_content", "reasoning", "reasoning_details", "reasoning_text")


def _reasons(message: Object) -> bool:
    """Whether there is reasoning that is not empty."""
    return any(message.get(name) for name in FIELDS)


def _reasoned_calls(body: Object, model: Model | None) -> Found:
    for path, message in () if walk.is_off(body) else walk.answers(body):
        if walk.calls(message) and not _reasons(message):
            yield path, "calls without reasoning, or with empty reasoning"


def _reasoned_loop(body: Object, model: Model | None) -> Found:
    listed = list(walk.messages(body))
    start = max((at for at, (_, message) in enumerate(listed) if message.get("role") == "user"), default=-1)
    for path, message in () if walk.is_off(body) else listed[start + 1 :]:
        if walk.calls(message) and not _reasons(message):
            yield path, "calls of the running loop without reasoning"


def _reasoned_always(body: Object, model: Model | None) -> Found:
    for path, message in () if walk.is_off(body) else walk.answers(body):
        if all(message.get(name) is None for name in FIELDS):
            yield path, "an answer without its reasoning field"


def _unreasoned(body: Object, model: Model | None) -> Found:
    for path, message in walk.answers(body):
        for name in FIELDS:
            if message.get(name) is not None:
                yield f"{path}.{name}", "reasoning must not be sent back to this model"


def _empty_answers(body: Object, model: Model | None) -> Found:
    for path, message in walk.answers(body):
        has_calls = bool(walk.calls(message)) or message.get("function_call") is not None
        instead = message.get("refusal") or message.get("audio")
        if walk.is_empty(message.get("content")) and not has_calls and not instead:
            yield path, "neither text nor calls"
        for index, part in enumerate(many(message.get("content"))):
            if has_calls and get(part, "type") == "text" and not get(part, "text"):
                yield f"{path}.content[{index}]", "an empty text part"


def _empty_content(body: Object, model: Model | None) -> Found:
    for path, message in walk.messages(body):
        if (
            message.get("role") != "assistant"
            and message.get("content") is not None
            and walk.is_empty(message["content"])
        ):
            yield f"{path}.content", "empty"


def _counted_ids(body: Object, model: Model | None) -> Found:
    for number, (path, call) in enumerate(walk.history_calls(body)):
        expected = f"functions.{get(call, 'function', 'name')}:{number}"
        if get(call, "id") != expected:
            yield f"{path}.id", f"{get(call, 'id')!r}, expected {expected!r}"


def _images(body: Object, model: Model | None) -> Found:
    for path, _, part in walk.parts(body):
        if part.get("type") in ("image_url", "image") and (model is None or "image" not in model.input):
            yield path, "this model does not read images"


def _text_only(body: Object, model: Model | None) -> Found:
    for path, _, part in walk.parts(body):
        if part.get("type") != "text":
            yield path, f"{part.get('type')!r}, but only text is accepted"
    for path, message in walk.messages(body):
        if "content" not in message:
            yield f"{path}.content", "missing"


def _alternating(body: Object, model: Model | None) -> Found:
    listed = walk.dialogue(body)
    for (_, before), (path, message) in pairwise(listed):
        if message.get("role") in ("user", "assistant") and before.get("role") == message["role"]:
            yield path, f"a second {message['role']} message in a row"


def _developer(body: Object, model: Model | None) -> Found:
    for path, message in walk.messages(body):
        if message.get("role") == "developer":
            yield f"{path}.role", "the role developer, which this provider does not have"


def _one_system(body: Object, model: Model | None) -> Found:
    for at, (path, message) in enumerate(walk.messages(body)):
        if at > 0 and message.get("role") in ("system", "developer"):
            yield path, "a system message that is not the first message"


def _nulls(body: Object, model: Model | None) -> Found:
    for path, message in walk.answers(body):
        for name, value in message.items():
            if value is None and name != "content":
                yield f"{path}.{name}", "null; leave it out"


def _two_answers_at_the_end(body: Object, model: Model | None) -> Found:
    listed = walk.dialogue(body)
    if len(listed) > 1 and all(message.get("role") == "assistant" for _, message in listed[-2:]):
        yield listed[-1][0], "two answers at the end"


def _answer_at_the_end(body: Object, model: Model | None) -> Found:
    for path, message in walk.dialogue(body)[-1:]:
        if message.get("role") == "assistant":
            yield path, "the last message is an answer: it is treated as a prefill, or refused"


def _details(body: Object, model: Model | None) -> Found:
    for path, message in walk.answers(body):
        entries = many(message.get("reasoning_details"))
        if walk.calls(message) and not any(get(entry, "type") == "reasoning.encrypted" for entry in entries):
            yield path, "calls without an encrypted entry of reasoning_details"


def _detail_ids(body: Object, model: Model | None) -> Found:
    for path, message in walk.answers(body):
        ids = walk.call_ids(message)
        for index, entry in enumerate(many(message.get("reasoning_details"))):
            named = get(entry, "id")
            if ids and get(entry, "type") == "reasoning.encrypted" and named is not None and named not in ids:
                yield f"{path}.reasoning_details[{index}].id", f"{named!r} is not the id of a call in this message"


RULES: tuple[Rule, ...] = (
    Rule(
        number="KIM-01",
        title="Calls have reasoning that is not empty",
        answers="thinking is enabled but reasoning_content is missing in assistant tool call message",
        source="continue#11600 and #11711, litellm#22374; '' counts as missing: pi#4178; 2026",
        prevented_by=_REASONING,
        check=_reasoned_calls,
        only=where(lambda dialect: dialect.reasoning_required == "calls"),
    ),
    Rule(
        number="KIM-05",
        title="An answer has text or calls, and no empty text part",
        answers="the message with role 'assistant' must not be empty",
        source="AstrBot#7200, opencode#6056, litellm#42186; DeepSeek ProxyAI#830, Z.ai workers#449, llama.cpp; 2026",
        prevented_by=_TURNS,
        check=_empty_answers,
        only=where(lambda dialect: not dialect.empty_messages),
    ),
    Rule(
        number="KIM-06",
        title="Call ids have the form functions.{name}:{index}, counted over the conversation",
        answers="",
        source="kimchi#1063 and #1066, kimi-code#2503, llxprt-code#713, 2026: K2 stalls on other ids",
        prevented_by="projection/passes/ids.py",
        check=_counted_ids,
        severity="warning",
        only=where(lambda dialect: dialect.id_form == "kimi"),
    ),
    Rule(
        number="KIM-07",
        title="Images only for models that read them",
        answers="the message with role 'user' contains an invalid part type",
        source='kimi-cli#788, 2026; llama.cpp server: "image input is not supported"',
        prevented_by="projection/passes/images.py",
        check=_images,
        only=lambda model: "image" not in model.input,
    ),
    Rule(
        number="DSK-01",
        title="Reasoning is not sent back",
        answers="if the reasoning_content field is included in the sequence of input messages, the API will return a "
        "400 error",
        source="documentation of DeepSeek R1 until 2025-11",
        prevented_by="projection/passes/reasoning.py",
        check=_unreasoned,
        only=where(lambda dialect: dialect.own_reasoning == "none" and dialect.reasoning_field is not None),
    ),
    Rule(
        number="DSK-02",
        title="Calls of a running tool loop have reasoning",
        answers="Missing `reasoning_content` field in the assistant message",
        source="documentation of DeepSeek V3.2; GitNexus#43, Everywhere#287, 9router#355, 2026",
        prevented_by=_REASONING,
        check=_reasoned_loop,
        only=where(lambda dialect: dialect.reasoning_required == "loop"),
    ),
    Rule(
        number="DSK-03",
        title="Every answer has its reasoning field",
        answers="The `reasoning_content` in the thinking mode must be passed back to the API.",
        source="documentation of DeepSeek V4; pi#3636, openclaw#73417, kimi-cli#2141, 2026",
        prevented_by=_REASONING,
        check=_reasoned_always,
        only=where(lambda dialect: dialect.reasoning_required == "always"),
    ),
    Rule(
        number="DSK-07",
        title="User and assistant alternate",
        answers="deepseek-reasoner does not support successive user or assistant messages",
        source="DeepSeek-R1#21, open-webui#9266, aider#2974, collected 2026-10; templates of Mistral and gemma-2",
        prevented_by=_TURNS,
        check=_alternating,
        only=where(lambda dialect: dialect.alternate_roles),
    ),
    Rule(
        number="DSK-08",
        title="Every message has content, and it is text",
        answers="Failed to deserialize the JSON body: unknown variant `image_url`, expected `text`",
        source="DeepSeek-Reasonix#7859, deepseek4j#41, web-ui#17, until 2026",
        prevented_by=_TURNS,
        check=_text_only,
        only=where(lambda dialect: not dialect.image_parts),
    ),
    Rule(
        number="GRQ-05",
        title="In an answer, only content may be null",
        answers="",
        source="litellm#5839, collected 2026-10",
        prevented_by=_TURNS,
        check=_nulls,
        severity="warning",
        only=where(lambda dialect: dialect.strict_keys),
    ),
    Rule(
        number="XAI-01",
        title="Every message has content",
        answers="Invalid request content: Each message must have at least one content element.",
        source="crush#964, collected 2026-10",
        prevented_by=_TURNS,
        check=_empty_content,
        only=where(lambda dialect: not dialect.empty_messages),
    ),
    Rule(
        number="ORT-01",
        title="Calls are sent back with their reasoning_details",
        answers="Gemini models require OpenRouter reasoning details to be preserved in each request.",
        source="LibreChat agents#37, agent-framework#2947; documentation of OpenRouter, 2026",
        prevented_by=_REASONING,
        check=_details,
        only=where(lambda dialect: dialect.dummy_signature is not None),
    ),
    Rule(
        number="ORT-02",
        title="Encrypted entries of reasoning_details have the id of a call in the same message",
        answers="(400; its text is not recorded)",
        source="inspect_ai#3986, 2026",
        prevented_by=_REASONING,
        check=_detail_ids,
        only=where(lambda dialect: dialect.dummy_signature is not None),
    ),
    Rule(
        number="ZAI-03",
        title="No developer role",
        answers="Incorrect role information",
        source='pi#547; DeepSeek 9router#773: "unknown variant `developer`"; seven templates; 2026',
        prevented_by=_TURNS,
        check=_developer,
        only=where(lambda dialect: not dialect.developer_role),
    ),
    Rule(
        number="MMX-04",
        title="One system message, and it is the first",
        answers="invalid params, chat content has invalid message role: system (2013)",
        source='note-gen#918, CodexPlusPlus#267; six templates: "System message must be at the beginning."; 2026',
        prevented_by=_TURNS,
        check=_one_system,
        only=where(lambda dialect: not dialect.system_anywhere),
    ),
    Rule(
        number="LCP-06",
        title="At most one answer at the end",
        answers="Cannot have 2 or more assistant messages at the end of the list.",
        source="llama.cpp tools/server, 2026",
        prevented_by=_TURNS,
        check=_two_answers_at_the_end,
        only=where(lambda dialect: dialect.alternate_roles),
    ),
    Rule(
        number="X-07",
        title="The last message is from the user or a tool",
        answers="",
        source="common to several protocols and the templates of Mistral models, 2026",
        prevented_by=_TURNS,
        check=_answer_at_the_end,
        severity="warning",
        only=where(lambda dialect: dialect.ends_with_user),
    ),
)
