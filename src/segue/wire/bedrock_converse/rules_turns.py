"""Rules about the order of turns, and about blocks that are empty or in the wrong turn."""

from collections.abc import Iterator
from itertools import pairwise
from typing import Any

from ...rules import Rule
from ...types import Model
from ..common.checks import shown
from .dialect import claude, dialect_of, where
from .shapes import items, of_kind, part, turns, with_results

Found = Iterator[tuple[str, str]]
Body = dict[str, Any]
ENCODER = "wire/bedrock_converse/encode.py"


def _no_messages(body: Body, model: Model | None) -> Found:
    """Check that there are messages; a stored prompt, which has variables, may contain all of them."""
    if not items(body.get("messages")) and not ("promptVariables" in body and "messages" not in body):
        yield "messages", "there is no message"


def _begins_with_another(body: Body, model: Model | None) -> Found:
    for turn in turns(body)[:1]:
        if turn.role == "assistant":
            yield turn.path, "the first message is of the assistant"


def _neighbours(body: Body, model: Model | None) -> Found:
    for before, turn in pairwise(turns(body)):
        if turn.role == before.role and turn.role in ("user", "assistant"):
            yield turn.path, f"two {turn.role} messages in a row"


def _roles(body: Body, model: Model | None) -> Found:
    for turn in turns(body):
        if turn.role not in ("user", "assistant", "system"):
            yield f"{turn.path}.role", f"{shown(turn.role)!r} is not a valid role"


def _system_turns(body: Body, model: Model | None) -> Found:
    for turn in turns(body):
        if turn.role == "system":
            yield turn.path, "a system message, which this model does not accept"


def _misplaced_system_turns(body: Body, model: Model | None) -> Found:
    found = turns(body)
    roles = [turn.role for turn in found]
    before = None  # the last role that is not system
    for index, turn in enumerate(found):
        if turn.role != "system":
            before = turn.role
            continue
        if before != "user":
            yield turn.path, "a system message must follow a user message"
        if roles[index + 1 : index + 2] not in ([], ["system"], ["assistant"]):
            yield turn.path, "a system message must be last or come before an answer"
        for at, kind in enumerate(turn.kinds()):
            if kind and kind not in IN_SYSTEM:
                yield f"{turn.path}.content[{at}]", f"{kind} is not allowed in a system message"


IN_SYSTEM = frozenset({"text", "cachePoint", "toolAddition", "toolRemoval"})


def _system_prompt(body: Body, model: Model | None) -> Found:
    if items(body.get("system")):
        yield "system", "a system prompt, which this model does not accept"


def _is_blank(text: Any) -> bool:
    return isinstance(text, str) and not text.strip()


def _blank_texts(body: Body, model: Model | None) -> Found:
    for placed in with_results(body):
        if _is_blank(placed.block.get("text")):
            yield f"{placed.path}.text", "a blank text"
    for index, block in enumerate(items(body.get("system"))):
        if isinstance(block, dict) and _is_blank(block.get("text")):
            yield f"system[{index}].text", "a blank text"
    for placed, result in of_kind(body, "searchResult"):
        texts = [part(block).get("text") for block in items(result.get("content"))]
        if not texts or any(_is_blank(text) for text in texts):
            yield f"{placed.path}.searchResult.content", "a search result without text, or with a blank one"


def _empty_turns(body: Body, model: Model | None) -> Found:
    for turn in turns(body):
        if not turn.content:
            yield f"{turn.path}.content", "a message without content"


def _mixed(body: Body, model: Model | None) -> Found:
    for turn in turns(body):
        kinds = {kind for kind in turn.kinds() if kind not in ("", "cachePoint", "reasoningContent")}
        tool = kinds & {"toolUse", "toolResult"}
        if tool and kinds - tool:
            yield f"{turn.path}.content", f"{', '.join(sorted(kinds - tool))} together with {', '.join(sorted(tool))}"


def _files_beside_results(body: Body, model: Model | None) -> Found:
    for turn in turns(body):
        if "toolResult" not in turn.kinds():
            continue
        for path, document in turn.of("document"):
            if document.get("format") != "pdf":
                yield path, "only a pdf is allowed together with results"
        for path, _ in turn.of("video"):
            yield path, "a video is not allowed together with results"


def _wrong_side(body: Body, model: Model | None) -> Found:
    for turn in turns(body):
        if turn.role != "system":
            for kind in ("toolAddition", "toolRemoval"):
                yield from ((path, "a change of tools outside a system message") for path, _ in turn.of(kind))
        if turn.role == "user":
            yield from ((path, "a call in a user message") for path, _ in turn.of("toolUse"))
        elif turn.role == "assistant":
            yield from (
                (path, "a result in an assistant message")
                for path, result in turn.of("toolResult")
                if not result.get("type")
            )


def _ends_with_assistant(body: Body, model: Model | None) -> Found:
    for turn in turns(body)[-1:]:
        if turn.role == "assistant":
            yield turn.path, "the conversation ends with the assistant"


def _trailing_space(body: Body, model: Model | None) -> Found:
    for turn in turns(body)[-1:]:
        text = part(turn.content[-1] if turn.content else None).get("text")
        if turn.role == "assistant" and isinstance(text, str) and text != text.rstrip():
            yield f"{turn.path}.content[{len(turn.content) - 1}].text", "the last answer ends in white space"


def _refuses_prefill(model: Model) -> bool:
    return not dialect_of(model).prefill


TURNS = (
    Rule(
        number="BED-01",
        title="the first message is a user message",
        answers="A conversation must start with a user message.",
        source="pydantic-ai providers/bedrock.py, by family, 2026-07",
        prevented_by=ENCODER,
        check=_begins_with_another,
        only=where(lambda dialect: dialect.starts_with_user),
    ),
    Rule(
        number="BED-01b",
        title="a request has at least one message",
        answers="A conversation must start with a user message.",
        source="pydantic-ai providers/bedrock.py, 2026-07",
        prevented_by="projection/pipeline.py",
        check=_no_messages,
    ),
    Rule(
        number="BED-02",
        title="user and assistant messages alternate",
        answers="A conversation must alternate between user and assistant roles.",
        source="Converse's error text; pydantic-ai models/bedrock.py on the families that merge, as known 2026-11",
        prevented_by=ENCODER,
        check=_neighbours,
        only=where(lambda dialect: dialect.alternates),
    ),
    Rule(
        number="BED-03",
        title="the role of a message is user, assistant or system",
        answers="Value at 'messages.0.member.role' failed to satisfy constraint: Member must satisfy enum value set",
        source="botocore 1.44.0, ConversationRole, 2026-11; wording not seen",
        prevented_by=ENCODER,
        check=_roles,
    ),
    Rule(
        number="BED-04",
        title="a text is not blank",
        answers="The text field in the ContentBlock object is blank. Add text to the text field, and try again.",
        source="OpenHands#5339, boto/botocore#3525, hermes-agent#55092, #63983, as known 2026-11",
        prevented_by="projection/passes/text.py",
        check=_blank_texts,
    ),
    Rule(
        number="BED-05",
        title="a message has content",
        answers="The content field in the Message object is empty. Add a ContentBlock object to the content field",
        source="archestra-ai/archestra#4220, as known 2026-11",
        prevented_by=ENCODER,
        check=_empty_turns,
    ),
    Rule(
        number="BED-15",
        title="tool blocks are not mixed with other blocks in a turn",
        answers="Conversation blocks and tool result blocks cannot be provided in the same turn.",
        source="browser-use#710, quarkus-langchain4j#1983, as known 2026-11",
        prevented_by=ENCODER,
        check=_mixed,
        only=where(lambda dialect: not dialect.mixed_turns),
    ),
    Rule(
        number="BED-16",
        title="the only files together with results are pdf",
        answers="`tool_use` ids were found without `tool_result` blocks immediately after",
        source="pydantic-ai#6098, #6081, #3253, as known 2026-11",
        prevented_by=ENCODER,
        check=_files_beside_results,
        only=claude,
    ),
    Rule(
        number="BED-22",
        title="some models accept no system prompt",
        answers="This model doesn't support system messages. Try again without a system message",
        source="Converse's error text, measured by family, 2026-10",
        prevented_by=ENCODER,
        check=_system_prompt,
        only=where(lambda dialect: not dialect.system_prompt),
    ),
    Rule(
        number="BED-22b",
        title="some models accept no system role in messages",
        answers="This model doesn't support system messages. Try again without a system message",
        source="Converse's error text; botocore 1.44.0, ConversationRole, 2026-11",
        prevented_by=ENCODER,
        check=_system_turns,
        only=where(lambda dialect: not dialect.system_in_messages),
    ),
    Rule(
        number="BED-23",
        title="the last message is a user message",
        answers="This model does not support assistant message prefill. The conversation must end with a user message.",
        source="vybestack/llxprt-code#3695, as known 2026-11",
        prevented_by=ENCODER,
        check=_ends_with_assistant,
        only=_refuses_prefill,
    ),
    Rule(
        number="ANT-07",
        title="calls are in assistant messages, results in user messages, changes of tools in system messages",
        answers="`tool_use` blocks can only be in `assistant` messages",
        source="Anthropic's error text, behind Converse, as known 2026-11; for other families the stricter reading",
        prevented_by=ENCODER,
        check=_wrong_side,
    ),
    Rule(
        number="ANT-17",
        title="a system message follows a user message, and is last or comes before an answer",
        answers="role 'system' must precede an 'assistant' message or end the array",
        source="claude-code#73821, 2026-07; Anthropic's error text, behind Converse, as known 2026-11",
        prevented_by=ENCODER,
        check=_misplaced_system_turns,
        only=where(lambda dialect: dialect.anthropic_backend and dialect.system_in_messages),
    ),
    Rule(
        number="ANT-13",
        title="a prefill does not end in white space",
        answers="messages: final assistant content cannot end with trailing whitespace",
        source="Anthropic's error text, behind Converse, as known 2026-11",
        prevented_by=ENCODER,
        check=_trailing_space,
        only=where(lambda dialect: dialect.anthropic_backend and dialect.prefill),
    ),
)
