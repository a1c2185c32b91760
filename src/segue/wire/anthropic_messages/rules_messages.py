"""Rules about messages: roles, which blocks are allowed where, and empty content."""

from ...dialects import AnthropicMessages
from ...rules import Rule
from ...types import Model
from . import shapes
from .walk import Found, Json, blocks, content, items, kind, messages, nested, of_type, text, turns

MOST_MESSAGES = 100_000
# Each row of its tests was measured against the live API.
PROBED = "kangminlee-maker/local-OAuth-CLI-API-adapter (validation parity tests), 2026-09"
UNQUOTED = "(refused with status 400; the error text was not recorded)"
ENCODER = "wire/anthropic_messages/encode.py"
TEXTS = "projection/passes/text.py"


def dialect(model: Model) -> AnthropicMessages:
    """The dialect of a model, or the default if it uses another protocol."""
    return model.dialect if isinstance(model.dialect, AnthropicMessages) else AnthropicMessages()


# -- envelope --------------------------------------------------------------------------------------------------------


def _some_messages(body: Json, model: Model | None) -> Found:
    value = body.get("messages")
    if not isinstance(value, list) or not value:
        yield "messages", "messages must be a list with at least one message"
    elif len(value) > MOST_MESSAGES:
        yield "messages", f"{len(value)} messages; at most {MOST_MESSAGES} are allowed"
    for path, message in items(value, "messages"):
        if not isinstance(message, dict):
            yield path, "a message must be an object"


def _roles(body: Json, model: Model | None) -> Found:
    for path, message in messages(body):
        if message.get("role") not in ("user", "assistant", "system"):
            yield f"{path}.role", f"role {message.get('role')!r} is not user or assistant"


def _alternation(body: Json, model: Model | None) -> Found:
    before = None
    for path, message in messages(body):
        role = message.get("role")
        if role == before and role in ("user", "assistant"):
            yield path, f"a second {role} message in a row"
        before = role


def _user_first(body: Json, model: Model | None) -> Found:
    for path, message in messages(body):
        found = list(content(message, path))
        compacted = bool(found) and all(kind(block) == "compaction" for _, block in found)
        if message.get("role") == "assistant" and not compacted:
            yield path, "the conversation begins with an answer"
        return


def _placement(body: Json, model: Model | None) -> Found:
    for path, role, block in blocks(body):
        allowed, name = shapes.BY_ROLE.get(role), kind(block)
        if allowed is not None and role != "system" and name and name not in allowed:
            yield path, f"a {name} block is not allowed in a message of the {role}"


def _newer_placement(body: Json, model: Model | None) -> Found:
    for path, role, block in nested(body):
        if role == "user" and kind(block) == "text" and block.get("citations"):
            yield f"{path}.citations", "texts of the user must not have citations"
    for path, role, block in blocks(body):
        if role == "assistant" and kind(block) == "document":
            yield path, "a document block is not allowed in a message of the assistant"


def newest_version(model: Model) -> bool:
    """Whether requests to this model use the API version that removed these features."""
    return dialect(model).api_version >= "2026-10-21"


# -- emptiness -------------------------------------------------------------------------------------------------------


def _empty_texts(body: Json, model: Model | None) -> Found:
    for path, role, block in nested(body):
        bare = path.endswith(".content")  # content that is a plain text: ANT-10 and ANT-12
        if role != "system" and kind(block) == "text" and block.get("text") == "" and not bare:
            yield path, "an empty text"


def _blank_texts(body: Json, model: Model | None) -> Found:
    for path, role, block in nested(body):
        if role != "system" and kind(block) == "text" and text(block, "text").isspace():
            yield path, "a text that is only white space"


def _empty_users(body: Json, model: Model | None) -> Found:
    for turn in turns(body):
        if turn.role == "user" and all(kind(block) == "text" and not block.get("text") for _, block in turn.blocks):
            yield turn.path, "a user message without content"


def _empty_results(body: Json, model: Model | None) -> Found:
    for path, block in of_type(body, "tool_result", "search_result"):
        if block.get("content") == []:
            yield f"{path}.content", "a result with an empty list of blocks"


# -- the end ---------------------------------------------------------------------------------------------------------


def _trailing_space(body: Json, model: Model | None) -> Found:
    last = turns(body)[-1:]
    if last and last[0].role == "assistant" and last[0].blocks:
        path, block = last[0].blocks[-1]
        if text(block, "text") != text(block, "text").rstrip():
            yield path, "the last answer ends in white space"


def _no_prefill(body: Json, model: Model | None) -> Found:
    last = turns(body)[-1:]
    if last and last[0].role == "assistant" and not _is_paused(last[0].blocks) and "fallback_credit_token" not in body:
        yield last[0].path, "the last message is an answer, and this model does not continue one"


def _is_paused(found: list[tuple[str, Json]]) -> bool:
    """Whether a server tool is still running, or has just run: such an answer is sent back unchanged."""
    if found and kind(found[-1][1]) in shapes.SERVER_RESULTS:
        return True
    answered = {text(block, "tool_use_id") for _, block in found if kind(block) in shapes.SERVER_RESULTS}
    return any(kind(block) == "server_tool_use" and text(block, "id") not in answered for _, block in found)


def _prefill_while_thinking(body: Json, model: Model | None) -> Found:
    thinking, last = body.get("thinking"), turns(body)[-1:]
    thinks = isinstance(thinking, dict) and kind(thinking) == "enabled"
    if thinks and last and last[0].role == "assistant" and last[0].blocks and not _is_paused(last[0].blocks):
        yield last[0].path, "the last message is an answer to be continued, and thinking is enabled"


THOUGHTS = ("thinking", "redacted_thinking")


def _thinking_at_the_end(body: Json, model: Model | None) -> Found:
    joined = turns(body)
    for at, turn in enumerate(joined):
        if turn.role != "assistant" or not turn.blocks:
            continue
        if at == len(joined) - 1 and kind(turn.blocks[-1][1]) in THOUGHTS:
            yield turn.blocks[-1][0], "the request ends with thinking"
        elif all(kind(block) in THOUGHTS for _, block in turn.blocks):
            yield turn.path, "an answer that contains only thinking"


# -- system ----------------------------------------------------------------------------------------------------------


def _system_messages(body: Json, model: Model | None) -> Found:
    found = messages(body)
    roles = [message.get("role") for _, message in found]
    is_open = False  # whether a system message may follow the last other one
    for index, (path, message) in enumerate(found):
        if roles[index] != "system":
            if roles[index + 1 : index + 2] == ["system"]:
                is_open = _may_be_interrupted(message)
            continue
        if model is not None and not dialect(model).system_in_messages:
            yield path, "this model does not accept (or ignores) a system message"
        if not message.get("content") and message.get("output_config"):
            continue  # settings alone may be anywhere
        if index == 0:
            yield path, "the first system prompt belongs in `system`"
        elif not is_open:
            yield path, "a system message must follow a user message"
        if roles[index + 1 : index + 2] not in ([], ["system"], ["assistant"]):
            yield path, "a system message must be last or come before an answer"
        yield from _system_content(path, message)


def _may_be_interrupted(message: Json) -> bool:
    """Whether a system message may follow: after a user message, or where a server tool runs or has just run."""
    return message.get("role") == "user" or _is_paused(list(content(message, "")))


def _system_content(path: str, message: Json) -> Found:
    inside = list(content(message, path))
    if not inside:
        yield path, "a system message must have at least one block"
    for where, block in inside:
        if kind(block) not in shapes.IN_SYSTEM:
            yield where, f"a {kind(block)} block is not allowed in a system message"
        elif kind(block) == "text" and not text(block, "text").strip():
            yield where, "a system text must not be blank"


def _system(body: Json, model: Model | None) -> Found:
    if "system" not in body:
        return
    value = body["system"]
    if not isinstance(value, str | list):
        yield "system", "system must be a text or a list of texts"
    elif isinstance(value, str) and value.isspace():
        yield "system", "a system prompt must not be blank"
    for path, block in items(value, "system"):
        if not isinstance(block, dict) or kind(block) != "text" or not isinstance(block.get("text"), str):
            yield path, "system may contain texts only"
        elif not block["text"].strip():
            yield path, "a text of system must not be blank"


MESSAGES: tuple[Rule, ...] = (
    Rule(
        number="ANT-01",
        title="A request has at least one message and at most 100,000.",
        answers="messages: at least one message is required",
        source=f"{PROBED}; SDK anthropic 2.8.0, 2026-11",
        prevented_by="projection/project.py",
        check=_some_messages,
    ),
    Rule(
        number="ANT-02",
        title="Roles are user and assistant.",
        answers='messages: Unexpected role "developer". Allowed roles are "user" or "assistant"',
        source=PROBED,
        prevented_by=ENCODER,
        check=_roles,
    ),
    Rule(
        number="ANT-03",
        title="Adjacent messages of one role are joined by Anthropic and refused by some hosts and compatible servers.",
        answers='messages: roles must alternate between "user" and "assistant"',
        source="jtsang4/claude-to-chatgpt#30; SDK anthropic 2.8.0 (docstring of messages), 2026-11",
        prevented_by=ENCODER,
        check=_alternation,
        severity="warning",
    ),
    Rule(
        number="ANT-04",
        title="The first message is a user message.",
        answers='messages: first message must use the "user" role',
        source="jtsang4/claude-to-chatgpt#30; seen again in 2026",
        prevented_by=ENCODER,
        check=_user_first,
    ),
    Rule(
        number="ANT-07",
        title="Calls and thinking are in assistant messages, results and images in user messages.",
        answers="`tool_use` blocks can only be in `assistant` messages",
        source="seen in public source code, 2026; SDK anthropic 2.8.0, 2026-11",
        prevented_by="types/messages.py",
        check=_placement,
    ),
    Rule(
        number="ANT-07b",
        title="From API version 2026-10-21 on, assistant messages have no documents and user texts no citations.",
        answers=UNQUOTED,
        source="documentation, Migrating to API version 2026-10-21, 2026-11",
        prevented_by="types/messages.py",
        check=_newer_placement,
        only=newest_version,
    ),
    Rule(
        number="ANT-08",
        title="Texts are not empty.",
        answers="messages: text content blocks must be non-empty",
        source="claude-code#59812; anthropic-sdk-python#461; aliasrobotics/cai#182",
        prevented_by=TEXTS,
        check=_empty_texts,
    ),
    Rule(
        number="ANT-09",
        title="Texts are not blank.",
        answers="messages: text content blocks must contain non-whitespace text",
        source="claude-code#23440; anomalyco/opencode#31259; nick1udwig/kibitz#78",
        prevented_by=TEXTS,
        check=_blank_texts,
    ),
    Rule(
        number="ANT-10",
        title="A user turn is not empty.",
        answers="user messages must have non-empty content",
        source=PROBED,
        prevented_by=TEXTS,
        check=_empty_users,
    ),
    Rule(
        number="ANT-12",
        title="A result has content, or no content field.",
        answers=UNQUOTED,
        source="sources of pydantic-ai and litellm, 2026; documentation, Search results, 2026-11",
        prevented_by=TEXTS,
        check=_empty_results,
    ),
    Rule(
        number="ANT-13",
        title="A prefill does not end in white space.",
        answers="messages: final assistant content cannot end with trailing whitespace",
        source="documentation; seen in public source code, 2026",
        prevented_by=ENCODER,
        check=_trailing_space,
    ),
    Rule(
        number="ANT-14",
        title="The last message is a user message.",
        answers="This model does not support assistant message prefill. The conversation must end with a user message.",
        source="vybestack/llxprt-code#3695; agenticloops-ai/agentic-ai-engineering#43; SDK anthropic 2.8.0, 2026-11",
        prevented_by=ENCODER,
        check=_no_prefill,
        only=lambda model: not dialect(model).prefill,
    ),
    Rule(
        number="ANT-14b",
        title="With thinking by budget, no answer is continued.",
        answers=UNQUOTED,
        source="documentation, Extended thinking, 'Feature compatibility', 2026-11",
        prevented_by=ENCODER,
        check=_prefill_while_thinking,
    ),
    Rule(
        number="ANT-15",
        title="A request does not end with thinking, and no answer contains only thinking.",
        answers="The final block in an assistant message cannot be `thinking`.",
        source="claude-code#10199; tailcallhq/forgecode#2107; before other messages accepted in a probe of 2026-07, "
        "refused behind GitHub Copilot; for answers with only thinking, the stricter reading",
        prevented_by=ENCODER,
        check=_thinking_at_the_end,
    ),
    Rule(
        number="ANT-17",
        title="A system message in messages follows a user message, is last or precedes an answer, and has texts only.",
        answers="role 'system' must precede an 'assistant' message or end the array / role 'system' is not supported",
        source=f"claude-code#73821, 2026-07; {PROBED}; sources of litellm, pydantic-ai and bifrost, 2026",
        prevented_by=ENCODER,
        check=_system_messages,
        by_model=True,
    ),
    Rule(
        number="ANT-18",
        title="`system` is a text or a list of texts that are not empty.",
        answers="system: Input should be a valid array / system: text content blocks must contain non-whitespace text",
        source=f"{PROBED}; for a single text the stricter reading",
        prevented_by=ENCODER,
        check=_system,
    ),
)
