"""Write a conversation so that a tool resumes it: made valid for the tool's provider, written under a temporary name,
read back, compared, and renamed. What the tool cannot hold is reported."""

import os
import time
import uuid
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

from msgspec import Struct
from msgspec.structs import replace

from ..catalog import get_model
from ..errors import FormatError, SettingError
from ..projection import project
from ..types import (
    AssistantMessage,
    Change,
    Context,
    ImageContent,
    Message,
    Model,
    TextContent,
    ThinkingContent,
    ToolCall,
    ToolResultMessage,
    UserMessage,
)
from .format import Format, Target
from .reading import ENDPOINT
from .registry import format_named
from .source import Source
from .tool_names import as_text, translated
from .values import Remark, Report, Transcript

OPENING = "Continue the conversation."
DEFAULT_MODEL = "anthropic/claude-sonnet-4-5"
ToolNames = Literal["keep", "translate", "text"]
"""What happens to calls of another agent's tools: their names stay, the common ones are translated, or calls and
results become texts."""


class Written(Struct, frozen=True):
    """A conversation that was written, or, of a dry run, would be.

    ``changes`` lists what was left out or adapted; ``projected`` are the changes that the tool's provider needs.
    """

    path: Path
    id: str
    resume: str
    context: Context
    changes: tuple[Remark, ...] = ()
    projected: tuple[Change, ...] = ()


def write(
    conversation: Context | Transcript,
    tool: str,
    *,
    directory: str | os.PathLike[str] | None = None,
    cwd: str | None = None,
    title: str | None = None,
    model: str | None = None,
    provider: str = "",
    id: str | None = None,  # noqa: A002 # the word of every tool
    names: ToolNames = "keep",
    dry_run: bool = False,
    now: int | None = None,
) -> Written:
    """Write a conversation for a tool, so that it can resume it. Existing files are never changed.

    ``directory`` is the folder in which the tool keeps its files; by default where it is on this machine. ``cwd`` is
    the project's directory. ``provider`` is the one that the tool is set to use, by its own name for it: Codex resumes
    only sessions of that one (``openai`` by default). ``names`` says what happens to calls of another agent's tools:
    ``keep`` their names, ``translate`` the common ones, or show all calls as ``text``.
    """
    form = format_named(tool)
    if form.write is None:
        raise SettingError(f"segue does not write the format of {form.title}")
    read = conversation if isinstance(conversation, Transcript) else None
    context = read.context if read is not None else conversation
    assert isinstance(context, Context)
    report = Report()
    prepared, projected = prepare(context, form, read.tool if read is not None else None, names, report)
    if read is not None and read.branches:
        report.add("branch-left-out", f"{len(read.branches)} other branches and sub-agents")
    target = Target(
        id=id or _new_id(form.sorted_ids),
        now=int(time.time() * 1000) if now is None else now,
        cwd=os.path.abspath(cwd or (read.cwd if read is not None and read.cwd else os.getcwd())),
        title=title or (read.title if read is not None else None),
        provider=provider,
        model=model or (read.model if read is not None and read.model else "") or "",
    )
    draft = form.write(prepared, target)
    folder = Path(directory) if directory is not None else form.home() if form.home is not None else Path.cwd()
    path = folder / draft.name
    if not dry_run:
        _save(path, draft.data, form, prepared)
    resume = draft.resume.format(path=path, cwd=target.cwd)
    return Written(path, target.id, resume, prepared, (*report, *draft.changes), projected)


def _new_id(is_sorted: bool) -> str:
    """A UUID of version 7, which sorts by time (RFC 9562, section 5.7), or of version 4; Codex reads the time of it."""
    if not is_sorted:
        return str(uuid.uuid4())
    value = (time.time_ns() // 1_000_000 << 80) | (uuid.uuid4().int & ((1 << 80) - 1))
    value = value & ~(0xF << 76) | (7 << 76)
    return str(uuid.UUID(int=value & ~(0x3 << 62) | (2 << 62)))


# -- preparing --------------------------------------------------------------------------------------------------------


def prepare(
    context: Context, form: Format, source: str | None, names: ToolNames, report: Report
) -> tuple[Context, tuple[Change, ...]]:
    """The conversation as the tool can hold it."""
    if not form.resumes:
        return context, ()
    own = f"{ENDPOINT}{form.name}"
    source = source or _source_of(context.messages)
    messages = list(context.messages)
    if source != form.name:
        messages = _without_injected(messages, report)
        if names == "translate":
            messages, count = translated(messages, source, form.name)
            _count(report, "tool-renamed", count, "calls with the names of the other tool")
        elif names == "text":
            messages, count = as_text(messages)
            _count(report, "call-as-text", count, "calls as texts")
    if context.system_prompt:
        report.add("system-left-out", "the system prompt: every tool has its own")
    _count(report, "tools-left-out", len(context.tools), "definitions of tools: every tool has its own")
    messages = [_without_addresses(message, report) for message in messages]
    model = get_model(form.speaks or DEFAULT_MODEL).replace(endpoint=own, input=("text", "image"))
    rendered, changes = _projected(messages, model, own)
    if rendered and not isinstance(rendered[0], UserMessage):
        report.add("opening-added", "the conversation begins with an answer; a message of the user was added before it")
        rendered.insert(0, UserMessage(OPENING, injected=True))
    if not form.error_flags:
        rendered = [_with_error_text(message) for message in rendered]
    return Context(rendered), changes


def _projected(messages: list[Message], model: Model, own: str) -> tuple[list[Message], tuple[Change, ...]]:
    """The messages as the provider accepts them. Answers of the same tool are treated as the model's own, so that
    their signatures stay; their origin is restored."""
    claimed = [_claimed(each, model, own) if isinstance(each, AssistantMessage) else each for each in messages]
    done = project(Context(claimed), model)
    rendered: list[Message] = []
    for message, at in zip(done.context.messages, done.sources, strict=True):
        stored = messages[at]
        if isinstance(message, AssistantMessage) and isinstance(stored, AssistantMessage):
            origin = {"provider": stored.provider, "protocol": stored.protocol, "model": stored.model}
            message = replace(message, **origin, endpoint=stored.endpoint)
        rendered.append(message)
    return rendered, tuple(each for each in done.changes if each.code != "tools-stubbed")  # tools are not written


def _claimed(message: AssistantMessage, model: Model, own: str) -> AssistantMessage:
    if message.endpoint == own:
        return replace(message, provider=model.provider, protocol=model.protocol, model=model.id)
    return replace(message, provider="", endpoint=None)  # which account it came from is not known


def _source_of(messages: Sequence[Message]) -> str | None:
    """The tool that the answers were read from, if it is one."""
    ends = {each.endpoint for each in messages if isinstance(each, AssistantMessage)}
    only = ends.pop() if len(ends) == 1 else None
    return only.removeprefix(ENDPOINT) if only is not None and only.startswith(ENDPOINT) else None


def _without_injected(messages: list[Message], report: Report) -> list[Message]:
    kept = [each for each in messages if not (isinstance(each, UserMessage) and each.injected)]
    _count(report, "injected-left-out", len(messages) - len(kept), "messages that the other tool wrote itself")
    return kept


def _without_addresses(message: Message, report: Report) -> Message:
    if isinstance(message, AssistantMessage):
        return message
    urls = [block for block in message.content if isinstance(block, ImageContent) and block.url]
    if not urls:
        return message
    report.add("block-left-out", f"{len(urls)} images that are only addresses; segue.inline downloads them")
    blocks = [TextContent(f"(image not attached: {b.url})") if b in urls else b for b in message.content]
    return replace(message, content=blocks)


def _with_error_text(message: Message) -> Message:
    """A failed result for a tool that has no flag for it."""
    if not isinstance(message, ToolResultMessage) or not message.is_error:
        return message
    first = message.content[0] if message.content else None
    if isinstance(first, TextContent):
        if first.text.startswith("Error:"):
            return message
        return replace(message, content=[TextContent(f"Error: {first.text}"), *message.content[1:]])
    return replace(message, content=[TextContent("Error:"), *message.content])


def _count(report: Report, code: Any, count: int, text: str) -> None:
    if count:
        report.add(code, f"{count} {text}")


# -- saving -----------------------------------------------------------------------------------------------------------


def _save(path: Path, data: bytes, form: Format, context: Context) -> None:
    """Write under a temporary name, read it back, compare, and rename."""
    if path.exists():
        raise SettingError(f"{path} exists already; segue does not change existing files")
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    unfinished = path.with_name(f".{uuid.uuid4().hex}{path.suffix}")
    try:
        descriptor = os.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        if form.resumes:
            difference = compare(context.messages, form.read(Source(unfinished), None).context.messages, form)
            if difference:
                raise FormatError(f"what was written for {form.title} reads differently: {difference}")
        os.replace(unfinished, path)
    finally:
        unfinished.unlink(missing_ok=True)


def compare(written: Sequence[Message], found: Sequence[Message], form: Format) -> str:
    """How two conversations differ, in a few words; empty if they do not."""
    one, other = (_shape(messages, form) for messages in (written, found))
    for at, (left, right) in enumerate(zip(one, other, strict=False)):
        if left != right:
            return f"turn {at + 1} is {left[0]} with {len(left[1])} blocks, and {right[0]} with {len(right[1])}"
    return "" if len(one) == len(other) else f"{len(one)} turns, and {len(other)}"


def _shape(messages: Sequence[Message], form: Format) -> list[tuple[str, list[Any]]]:
    """What must be equal: turns of one role with their texts, signatures, calls and results."""
    turns: list[tuple[str, list[Any]]] = []
    for message in messages:
        blocks: list[Any] = []
        for block in message.content:
            if isinstance(block, TextContent) and blocks and isinstance(blocks[-1], str):
                blocks[-1] += f"\n{block.text}"
            else:
                blocks.append(_value(block))
        if isinstance(message, ToolResultMessage):
            failed = message.is_error and form.error_flags
            blocks = [(message.tool_call_id, message.tool_name, failed, blocks)]
        if turns and turns[-1][0] == message.role:
            for block in blocks:
                last = turns[-1][1]
                if isinstance(block, str) and last and isinstance(last[-1], str):
                    last[-1] += f"\n{block}"
                else:
                    last.append(block)
        elif blocks:
            turns.append((message.role, blocks))
    return turns


def _value(block: Any) -> Any:
    if isinstance(block, TextContent):
        return block.text
    if isinstance(block, ThinkingContent):
        return ("thinking", block.thinking, block.thinking_signature, block.redacted)
    if isinstance(block, ToolCall):
        return ("call", block.id, block.name, block.arguments)
    return block
