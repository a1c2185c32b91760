"""A conversation as it is printed: message by message, with each result below the call that it answers."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, assert_never

from ..projection import Pairing
from ..types import (
    AssistantMessage,
    Context,
    FileContent,
    ImageContent,
    Message,
    ProviderContent,
    TextContent,
    ThinkingContent,
    ToolCall,
    ToolResultMessage,
    Usage,
    UserContent,
    UserMessage,
    dollars,
)
from ..types.text import count_of
from .formatting import UNKNOWN_MODEL, brief, cost_of, media_of, origin_of, shorten, size_of, tokens_of
from .printable import one_line
from .terminal import Part, Screen


class ConversationView:
    """Draws one conversation."""

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
        """The number that is shown for the message at ``index``."""
        return index

    def draw_head(self) -> None:
        context = self.context
        if context.system_prompt:
            self.line(0, ("system  ", "bold"), (self.shortened(context.system_prompt), "dim"))
        if context.tools:
            self.line(0, ("tools   ", "bold"), (one_line(", ".join(tool.name for tool in context.tools)), "dim"))

    def draw_message(self, index: int, message: Message) -> None:
        match message:
            case UserMessage():
                injected = ("  written by a program", "dim") if message.injected else ("", "")
                self._draw_title(index, "user", "bold cyan", injected)
                self.draw_blocks(message.content)
            case AssistantMessage():
                self._draw_answer(index, message)
            case ToolResultMessage():
                self._draw_unmatched_result(index, message)
            case _:
                assert_never(message)

    def draw_foot(self) -> None:
        answers = [message for message in self.context.messages if isinstance(message, AssistantMessage)]
        models = {origin for answer in answers if (origin := origin_of(answer)) != UNKNOWN_MODEL}
        usages = [answer.usage for answer in answers]
        total = Usage(*(sum(getattr(usage, name) for usage in usages) for name in Usage.__struct_fields__[:5]))
        costs = [usage.cost.total for usage in usages if usage.cost is not None]
        facts = [count_of(len(self.context.messages), "message"), *([count_of(len(models), "model")] if models else [])]
        if tokens_of(total):
            facts.append(tokens_of(total))
        if costs:
            missing = sum(usage.cost is None and usage != Usage() for usage in usages)
            facts.append(f"{dollars(sum(costs))}" + (f" (cost of {missing} not known)" if missing else ""))
        self.screen.line()
        self.line(0, (" · ".join(facts), "dim"))

    def draw_blocks(
        self, blocks: Sequence[UserContent | ThinkingContent | ProviderContent], indent: int = 4, style: str = ""
    ) -> None:
        for block in blocks:
            match block:
                case TextContent():
                    self.line(indent, (self.shortened(block.text), style))
                    for source in dict.fromkeys(map(source_of, block.citations)):
                        self.line(indent, ("◦ ", "dim"), (one_line(source), "dim"))
                case ImageContent():
                    self.line(indent, (f"▣ {media_of(block)}", "magenta"))
                case FileContent():
                    self.line(indent, (f"▤ {media_of(block)}", "magenta"))
                case ProviderContent():
                    text = self.shortened(block.text) or f"({size_of(len(bytes(block.raw)))})"
                    self.line(indent, (f"◇ {one_line(block.kind)}  ", "blue"), (text, "dim"))
                case ThinkingContent():
                    self._draw_thinking(block, indent)
                case _:
                    assert_never(block)

    def line(self, indent: int, *parts: Part) -> None:
        self.screen.line(*parts, indent=indent)

    def shortened(self, text: str) -> str:
        """The text, without its middle if it is long and ``full`` is not set."""
        return text if self.full else shorten(text)

    def _draw_title(self, index: int, role: str, style: str, *rest: Part) -> None:
        self.screen.line()
        self.line(0, (f"{self.number(index):>3} ", "dim"), (one_line(role), style), *rest)

    def _draw_answer(self, index: int, message: AssistantMessage) -> None:
        origin = origin_of(message)
        changed = f"  ⇄ was {one_line(self.model)}" if self.model and self.model != origin else ""
        self.model = origin
        facts = [fact for fact in (tokens_of(message.usage), cost_of(message.usage)) if fact]
        if message.stop_reason not in ("stop", "toolUse"):
            facts.insert(0, f"ended in {message.stop_reason}")
        self._draw_title(
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
                self.draw_blocks([block])

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
        self.line(4, ("→ ", "yellow"), *call_parts(call))
        answer = self.pairing.batches[index].answers[at]
        if answer < 0:
            self.line(6, ("no result", "red"))
            return
        result = self.context.messages[answer]
        assert isinstance(result, ToolResultMessage)
        self._draw_result(result, "placeholder: " if result.synthetic else "")

    def _draw_unmatched_result(self, index: int, result: ToolResultMessage) -> None:
        """Draw a result that answers no call. All others are drawn below their calls."""
        kind = self.pairing.strays.get(index)
        if kind is not None:
            self._draw_title(
                index,
                f"{kind} result",
                "bold red",
                ("  ", ""),
                (one_line(f"{result.tool_name} {result.tool_call_id}"), "dim"),
            )
            self._draw_result(result, "")

    def _draw_result(self, result: ToolResultMessage, prefix: str) -> None:
        mark, style = ("✗ ", "red") if result.is_error else ("✓ ", "green")
        text = "".join(block.text for block in result.content if isinstance(block, TextContent))
        shown = prefix + self.shortened(text)
        self.line(6, (mark, style), (shown.replace("\n", "\n  ") or "(no text)", ""))
        self.draw_blocks([block for block in result.content if not isinstance(block, TextContent)], 8)


def source_of(citation: Mapping[str, Any]) -> str:
    """The source that a citation names, in the words of any protocol: its title and address, or what is quoted."""
    fields = dict(_fields(citation))
    title = next((fields[name] for name in _TITLES if fields.get(name)), "")
    address = fields.get("url") or ""
    return f"{title} ({address})" if title and address else title or address or fields.get("cited_text") or "a source"


_TITLES = ("title", "document_title", "filename", "source", "file_id")


def _fields(value: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """The texts in a citation by their names, at any depth."""
    for name, each in value.items():
        if isinstance(each, Mapping):
            yield from _fields(each)
        elif isinstance(each, str):
            yield name, each


def call_parts(call: ToolCall) -> list[Part]:
    """A call in one line."""
    arguments = ", ".join(f"{name}={brief(value)}" for name, value in call.arguments.items())
    name = call.name if call.namespace is None else f"{call.namespace}.{call.name}"
    return [(one_line(name), "bold yellow"), (f"({arguments})", "")]
