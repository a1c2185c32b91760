"""What is done with one row: it is checked, converted or measured. No I/O."""

from collections import Counter
from collections.abc import Callable
from hashlib import blake2b
from typing import Literal

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from ..errors import FormatError, ProjectionError
from ..render import encode, export, lint
from ..rules import Finding
from ..tokens import guess_context
from ..types import (
    AssistantMessage,
    Change,
    Context,
    FileContent,
    ImageContent,
    Model,
    Options,
    ThinkingContent,
    ToolCall,
    ToolDefinition,
    ToolResultMessage,
    UserMessage,
)
from ..types.codec import write
from ..wire import protocol_of
from .reading import Found

Command = Literal["lint", "convert", "stats"]
DEFAULT_PROTOCOL = "openai-completions"
"""What a row is checked as if neither its own form nor the user names a protocol: most corpora have this form."""
DIGEST_BYTES = 16


class Settings(Struct, frozen=True, kw_only=True):
    """What to do with every row. ``check``: converted conversations go through the linter, too."""

    command: Command
    model: Model | None = None
    protocol: str | None = None
    policy: str = "default"
    options: Options = Options()
    column: str | None = None
    check: bool = False
    drops_duplicates: bool = False


class Sizes(Struct):
    """How large a conversation is, or all of them."""

    messages: int = 0
    user: int = 0
    assistant: int = 0
    results: int = 0
    calls: int = 0
    thinking: int = 0
    attachments: int = 0
    tools: int = 0
    tokens: int = 0

    def add(self, other: "Sizes") -> None:
        for name in self.__struct_fields__:
            setattr(self, name, getattr(self, name) + getattr(other, name))


class Outcome(Struct):
    """What became of a row: the result as JSON, and codes; or why the row was rejected.

    ``findings`` is ``None`` where nothing was checked.
    """

    result: bytes | None = None
    changes: dict[str, int] = {}
    lost: list[str] = []
    findings: dict[str, int] | None = None
    sizes: Sizes | None = None
    form: str = ""
    columns: tuple[str, ...] = ()
    digest: bytes = b""
    rejected: str | None = None
    reason: str = ""
    """Why it was rejected, without the place, so that equal reasons can be counted."""


def reject(error: FormatError | ProjectionError) -> Outcome:
    """The outcome of a row that is not a conversation, or has nothing to send."""
    reason = error.reason if isinstance(error, FormatError) else error.for_shell()
    return Outcome(rejected=error.for_shell(), reason=reason)


def work_on(read: Callable[[], Found], settings: Settings) -> Outcome:
    """Read a conversation and do what the settings say."""
    try:
        found = read()
        outcome = _WORK[settings.command](found, settings)
    except (FormatError, ProjectionError) as error:
        return reject(error)
    outcome.form, outcome.columns, outcome.digest = found.form, found.columns, digest_of(found.context)
    return outcome


def digest_of(context: Context) -> bytes:
    """A digest of what was said: the same for two conversations that differ in times, usage or metadata only."""
    said = [context.system_prompt, context.tools, [(message.role, message.content) for message in context.messages]]
    try:
        data = msgspec.json.encode(said)
    except UnicodeEncodeError:  # lone surrogates
        data = write(context)
    return blake2b(data, digest_size=DIGEST_BYTES).digest()


def _convert(found: Found, settings: Settings) -> Outcome:
    if settings.model is not None:
        request = encode(found.context, settings.model, settings.options, settings.policy)
        result, changes, protocol = request.json(), request.changes, settings.model.protocol
    else:
        protocol = settings.protocol or DEFAULT_PROTOCOL
        exported = export(found.context, protocol)
        result, changes = exported.json(), exported.changes
    findings = _errors(_lint_body(result, protocol, settings.model)) if settings.check else None
    return Outcome(result, *_codes(changes), findings)


def _lint(found: Found, settings: Settings) -> Outcome:
    """Check a conversation as it is stored: no message is changed for the target."""
    context = _with_tools(found.context)
    if settings.model is not None:
        body, protocol = encode(context, settings.model, settings.options, "off").json(), settings.model.protocol
    else:
        protocol = settings.protocol or found.protocol or DEFAULT_PROTOCOL
        body = export(context, protocol).json()
    return Outcome(findings=_errors(_lint_body(body, protocol, settings.model)))


def _stats(found: Found, settings: Settings) -> Outcome:
    return Outcome(sizes=_sizes(found.context))


_WORK: dict[Command, Callable[[Found, Settings], Outcome]] = {"lint": _lint, "convert": _convert, "stats": _stats}


def _lint_body(body: bytes, protocol: str, model: Model | None) -> list[Finding]:
    """The findings of a body. Without a model, the body has no options: only findings in the conversation count."""
    found = lint(body, protocol, model)
    if model is not None:
        return found
    return [finding for finding in found if finding.path.startswith(protocol_of(protocol).history)]


def _errors(findings: list[Finding]) -> dict[str, int]:
    return dict(Counter(finding.rule for finding in findings if finding.severity == "error"))


def _codes(changes: list[Change]) -> tuple[dict[str, int], list[str]]:
    times: dict[str, int] = {}
    for change in changes:
        times[change.code] = times.get(change.code, 0) + 1
    return dict(sorted(times.items())), sorted({change.code for change in changes if change.lossy})


def _with_tools(context: Context) -> Context:
    """The conversation with definitions of the tools that it calls, if it has none: many corpora leave them out."""
    if context.tools:
        return context
    names = {
        block.name: None
        for message in context.messages
        if isinstance(message, AssistantMessage)
        for block in message.content
        if isinstance(block, ToolCall)
    }
    if not names and any(isinstance(message, ToolResultMessage) for message in context.messages):
        names = {"tool": None}
    tools = [ToolDefinition(name, "a tool", {"type": "object", "properties": {}}) for name in names]
    return replace(context, tools=tools) if tools else context


def _sizes(context: Context) -> Sizes:
    sizes = Sizes(messages=len(context.messages), tools=len(context.tools), tokens=round(guess_context(context)))
    for message in context.messages:
        sizes.user += isinstance(message, UserMessage)
        sizes.assistant += isinstance(message, AssistantMessage)
        sizes.results += isinstance(message, ToolResultMessage)
        for block in message.content:
            sizes.calls += isinstance(block, ToolCall)
            sizes.thinking += isinstance(block, ThinkingContent)
            sizes.attachments += isinstance(block, ImageContent | FileContent)
    return sizes
