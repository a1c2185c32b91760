"""Results that answer no call: duplicates are left out, orphans follow policy ``orphan_results``."""

from typing import Literal, assert_never

from ..types import (
    AssistantMessage,
    FileContent,
    ImageContent,
    TextContent,
    ToolCall,
    ToolResultMessage,
    UserContent,
    UserMessage,
)
from ..types.text import in_label
from ..types.texts import EMPTY_RESULT, FILES_BELOW, IMAGES_BELOW, ORPHAN, as_error
from .scan import TORN, scan
from .step import Step, Target


def stray_step(
    target: Target, index: int, result: ToolResultMessage, kind: Literal["duplicate", "orphan"]
) -> Step | None:
    """The step for a result without a call, or ``None`` if it is left out."""
    report, name = target.report, result.tool_name
    if kind == "duplicate":
        report.add("result-duplicate", index, None, f"{name} has a result already")
        return None
    choice = target.policy.orphan_results
    if choice == "drop":
        report.add("result-orphaned", index, None, f"no call of {name}: dropped", lossy=True)
        return None
    if choice == "pair":
        report.add("call-reconstructed", index, None, f"a call of {name} was added before its result")
        return _with_call(index, result)
    if choice != "text":
        assert_never(choice)
    report.add("result-orphaned", index, None, f"no call of {name}: shown as user text")
    shown, kept = _as_text(result)
    report.keep(index, kept)
    message = UserMessage(shown)
    return Step(index, index + 1, message, shown, scan(shown))


def _with_call(index: int, result: ToolResultMessage) -> Step:
    """The result after a call that is made up for it."""
    call = ToolCall(result.tool_call_id, result.tool_name, {})
    answer = AssistantMessage(content=[call], protocol="", provider="", model="", stop_reason="toolUse")
    has = scan(answer.content) | scan(result.content) | TORN
    return Step(index, index + 1, answer, answer.content, has, [call], [result], [index], made_up=True)


def _as_text(result: ToolResultMessage) -> tuple[list[UserContent], list[int]]:
    """The content of a user message that shows the result, and the position of each block in the result.

    A user message has no error flag, so the text states the error.
    """
    texts: list[str] = []
    others: list[UserContent] = []
    kept: list[int] = []
    first = 0
    for at, block in enumerate(result.content):
        if type(block) is TextContent:
            first = first if texts else at
            texts.append(block.text)
        elif type(block) is ImageContent or type(block) is FileContent:
            others.append(block)
            kept.append(at)
        else:
            assert_never(block)
    text = "\n".join(texts)
    if not text.strip():
        text = EMPTY_RESULT if not others else FILES_BELOW if FileContent in map(type, others) else IMAGES_BELOW
    if result.is_error:
        text = as_error(text)
    return [TextContent(f"{ORPHAN.format(in_label(result.tool_name))}\n{text}"), *others], [first, *kept]
