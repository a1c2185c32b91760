"""`segue show`: a conversation as a picture in the terminal."""

import argparse
from collections.abc import Sequence
from typing import assert_never

import msgspec

from ..projection.pairing import Pairing
from ..types import (
    AssistantMessage,
    Context,
    ImageContent,
    Message,
    TextContent,
    ThinkingContent,
    ToolCall,
    ToolResultMessage,
    Usage,
    UserContent,
    UserMessage,
)
from .files import Conversations
from .printable import flat
from .terminal import Screen, write

FOLDED_LINES = 12
FOLDED_CHARACTERS = 1_200
"""How much of a long text, and of a long line, is shown without --full."""


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", metavar="FILE", help="a conversation as JSON or JSONL; - for standard input")
    parser.add_argument("--thinking", action="store_true", help="unfold the thinking")
    parser.add_argument("--full", action="store_true", help="do not cut long texts and results")
    parser.add_argument("--json", action="store_true", help="write canonical JSON, one line for each conversation")


def run(args: argparse.Namespace) -> int:
    conversations = Conversations(args.file)
    if args.json:
        for context in conversations:
            write(context.to_json() + b"\n")
        return conversations.status

    screen = Screen()
    for number, context in enumerate(conversations):
        if number:
            screen.rule()
        Picture(screen, context, thinking=args.thinking, full=args.full).draw()
    return conversations.status


class Picture:
    """One conversation, drawn message by message; a result is drawn under the call that it answers."""

    def __init__(self, screen: Screen, context: Context, *, thinking: bool, full: bool) -> None:
        self.screen = screen
        self.context = context
        self.thinking = thinking
        self.full = full
        self.pairing = Pairing(context.messages)
        self.model = ""

    def draw(self) -> None:
        self.draw_head()
        for index, message in enumerate(self.context.messages):
            self.draw_message(index, message)
        self.draw_foot()

    def number(self, index: int) -> int:
        """The number under which a message is shown."""
        return index

    def draw_message(self, index: int, message: Message) -> None:
        match message:
            case UserMessage():
                self._title(index, "user", "bold cyan")
                self._draw_blocks(message.content)
            case AssistantMessage():
                self._draw_answer(index, message)
            case ToolResultMessage():
                self._draw_stray(index, message)
            case _:
                assert_never(message)

    def draw_head(self) -> None:
        context = self.context
        if context.system_prompt:
            self.line(0, ("system  ", "bold"), (self._fold(context.system_prompt), "dim"))
        if context.tools:
            self.line(0, ("tools   ", "bold"), (flat(", ".join(tool.name for tool in context.tools)), "dim"))

    def _title(self, index: int, role: str, style: str, *rest: tuple[str, str]) -> None:
        self.screen.line()
        self.line(0, (f"{self.number(index):>3} ", "dim"), (flat(role), style), *rest)

    def _draw_answer(self, index: int, message: AssistantMessage) -> None:
        origin = f"{message.provider}/{message.model}"
        changed = f"  ⇄ was {flat(self.model)}" if self.model and self.model != origin else ""
        self.model = origin
        facts = [fact for fact in (tokens_of(message.usage), cost_of(message.usage)) if fact]
        if message.stop_reason not in ("stop", "toolUse"):
            facts.insert(0, f"ended in {message.stop_reason}")
        self._title(
            index, origin, "bold green", (changed, "bold yellow"), (f"  {' · '.join(facts)}" if facts else "", "dim")
        )
        if message.error_message:
            self.line(4, (f"! {message.error_message}", "red"))
        calls = 0
        for block in message.content:
            if isinstance(block, ToolCall):
                self._draw_call(index, calls, block)
                calls += 1
            else:
                self._draw_blocks([block])

    def _draw_blocks(self, blocks: Sequence[UserContent | ThinkingContent], indent: int = 4, style: str = "") -> None:
        for block in blocks:
            match block:
                case TextContent():
                    self.line(indent, (self._fold(block.text), style))
                case ImageContent():
                    self.line(indent, (f"▣ {block.mime_type}, {_size(len(block.data) * 3 // 4)}", "magenta"))
                case ThinkingContent():
                    self._draw_thinking(block, indent)
                case _:
                    assert_never(block)

    def _draw_thinking(self, block: ThinkingContent, indent: int) -> None:
        traits = [name for name, has in (("redacted", block.redacted), ("signed", block.thinking_signature)) if has]
        label = f"∴ thinking ({', '.join([*traits, f'{len(block.thinking)} characters'])})"
        if self.thinking and block.thinking:
            self.line(indent, (label, "dim italic"))
            self.line(indent + 2, (block.thinking, "dim italic"))
        else:
            head = " ".join(block.thinking.split())
            room = max(self.screen.width - indent - len(label) - 4, 0)
            short = head if len(head) <= room else head[: max(room - 1, 0)] + "…"
            self.line(indent, (f"{label}  {short}", "dim italic"))

    def _draw_call(self, index: int, at: int, call: ToolCall) -> None:
        arguments = ", ".join(f"{key}={brief(value)}" for key, value in call.arguments.items())
        self.line(4, ("→ ", "yellow"), (flat(call.name), "bold yellow"), (f"({arguments})", ""))
        answer = self.pairing.batches[index].answers[at]
        if answer < 0:
            self.line(6, ("no result", "red"))
            return
        result = self.context.messages[answer]
        assert isinstance(result, ToolResultMessage)
        self._draw_result(result, "stand-in: " if result.synthetic else "")

    def _draw_stray(self, index: int, result: ToolResultMessage) -> None:
        """A result that answers no call is drawn where it is stored; all others stand under their calls."""
        stray = self.pairing.strays.get(index)
        if stray is not None:
            self._title(
                index,
                f"{stray} result",
                "bold red",
                ("  ", ""),
                (flat(f"{result.tool_name} {result.tool_call_id}"), "dim"),
            )
            self._draw_result(result, "")

    def _draw_result(self, result: ToolResultMessage, prefix: str) -> None:
        mark, style = ("✗ ", "red") if result.is_error else ("✓ ", "green")
        text = prefix + self._fold("".join(block.text for block in result.content if isinstance(block, TextContent)))
        self.line(6, (mark, style), (text.replace("\n", "\n  ") or "(no text)", ""))
        self._draw_blocks([block for block in result.content if not isinstance(block, TextContent)], 8)

    def draw_foot(self) -> None:
        answers = [message for message in self.context.messages if isinstance(message, AssistantMessage)]
        models = list(dict.fromkeys(f"{answer.provider}/{answer.model}" for answer in answers))
        usages = [answer.usage for answer in answers]
        total = Usage(*(sum(getattr(usage, name) for usage in usages) for name in Usage.__struct_fields__[:5]))
        costs = [usage.cost.total for usage in usages if usage.cost is not None]
        facts = [count_of(len(self.context.messages), "message"), count_of(len(models), "model")]
        if tokens_of(total):
            facts.append(tokens_of(total))
        if costs:
            missing = sum(usage.cost is None and usage != Usage() for usage in usages)
            facts.append(f"{dollars(sum(costs))}" + (f" (cost of {missing} not known)" if missing else ""))
        self.screen.line()
        self.line(0, (" · ".join(facts), "dim"))

    def _fold(self, text: str) -> str:
        return text if self.full else folded(text)

    def line(self, indent: int, *parts: tuple[str, str]) -> None:
        self.screen.line(*parts, indent=indent)


def folded(text: str, most: int = FOLDED_LINES) -> str:
    """A long text without its middle."""
    lines = text.split("\n")
    if len(lines) > most:
        kept = most // 2
        lines = [*lines[:kept], f"… {len(lines) - 2 * kept} more lines …", *lines[-kept:]]
    return "\n".join(map(_shortened, lines))


def _shortened(line: str) -> str:
    kept = FOLDED_CHARACTERS // 2
    if len(line) <= FOLDED_CHARACTERS:
        return line
    return f"{line[:kept]} … {len(line) - 2 * kept:,} more characters … {line[-kept:]}"


def brief(value: object) -> str:
    """A value as JSON, in a few characters."""
    try:
        text = msgspec.json.encode(value).decode()
    except (TypeError, ValueError, RecursionError):
        text = repr(value)
    return text if len(text) <= 60 else text[:59] + "…"


def tokens_of(usage: Usage) -> str:
    """What was read and written, in words."""
    named = (
        (usage.input, "in"),
        (usage.output, "out"),
        (usage.cache_read, "cached"),
        (usage.cache_write, "to cache"),
    )
    return ", ".join(f"{count:,} {name}" for count, name in named if count)


def cost_of(usage: Usage) -> str:
    return dollars(usage.cost.total) if usage.cost is not None else ""


def dollars(amount: float) -> str:
    """An amount of money."""
    return f"${amount:.4f}" if amount < 1 else f"${amount:,.2f}"


def count_of(count: int, noun: str) -> str:
    return f"{count} {noun}" + ("" if count == 1 else "s")


def _size(count: int) -> str:
    return (
        f"{count} bytes"
        if count < 1024
        else f"{count / 1024:.0f} KB"
        if count < 1 << 20
        else f"{count / (1 << 20):.1f} MB"
    )
