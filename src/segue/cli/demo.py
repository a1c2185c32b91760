"""The demo models: strict stand-ins for models of providers, so that a switch can be tried without an account.

Each one checks every request with the rules of the model that it plays, and signs its thinking and calls as that model
does. Its answers are scripted: it looks at the files first, then says what it saw. Its tool calls really run.
"""

import re
from typing import NamedTuple

from msgspec.structs import replace

from ..catalog import Catalog
from ..compaction import INSTRUCTIONS
from ..errors import ModelError
from ..testing import Reply, StandIn
from ..types import (
    AssistantContent,
    AssistantMessage,
    Context,
    Model,
    ModelCost,
    TextContent,
    ThinkingContent,
    ToolCall,
    ToolDefinition,
    ToolResultMessage,
    UserMessage,
)
from ..types.text import count_of
from .formatting import text_of

PROVIDER = "demo"
MAX_REPEATED = 300
"""Characters of a message, or of a result, that are repeated."""
PAUSE = 0.01
"""Seconds between two pieces of an answer, so that the user sees it stream."""

PLAYED = {
    "Claude": "anthropic/claude-sonnet-5-5",
    "GPT": "openai/gpt-5.6",
    "Gemini": "google/gemini-pro-latest",
    "Mistral": "mistral/mistral-large-latest",
    "Kimi": "moonshot/kimi-k3",
}
"""The models that are played, by the short name of their family. The first one is used if nothing else is available."""


class Trigger(NamedTuple):
    """A phrase that leads to a call of a tool. The group that it captures is the first required argument."""

    pattern: re.Pattern[str]
    tool: str
    example: str


TRIGGERS = (
    Trigger(re.compile(r"\bread\s+(\S+)", re.IGNORECASE), "read_file", "read README.md"),
    Trigger(re.compile(r"\bsearch\s+(?:for\s+)?(\S+)", re.IGNORECASE), "search_files", "search for def"),
    Trigger(re.compile(r"^\W*(?:please\s+)?run\s+(.+)", re.IGNORECASE), "shell", "run date"),
    Trigger(re.compile(r"\b(?:list|files|folder|directory|tools?)\b", re.IGNORECASE), "list_files", "list the files"),
)
LOOK = "list_files"
"""The tool that is called for a first message without such a phrase."""


# -- the models -------------------------------------------------------------------------------------------------------


def demo_models() -> list[Model]:
    """All demo models."""
    return [_as_demo(Catalog.default().resolve(ref)) for ref in PLAYED.values()]


def find_demo(name: str) -> Model | None:
    """The demo model of that name: ``demo/claude-sonnet-5-5``, or ``demo/claude`` for short. ``None`` if the name is of
    another provider."""
    provider, _, wanted = name.strip().partition("/")
    if provider.lower() != PROVIDER:
        return None
    models = demo_models()
    found = [model for model in models if wanted and model.id.startswith(wanted.lower())]
    if not found:
        raise ModelError(f"there is no demo model {name.strip()}; there are {', '.join(each.ref for each in models)}")
    return found[0]


def played(model: Model) -> str:
    """The short name of the family that a demo model plays."""
    return next(name for name, ref in PLAYED.items() if ref.endswith(f"/{model.id}"))


def is_demo(model: Model) -> bool:
    """Whether this is a demo model."""
    return model in demo_models()


def _as_demo(model: Model) -> Model:
    free = ModelCost(0.0, 0.0, 0.0, 0.0)
    return replace(model, provider=PROVIDER, name=f"{model.name} (demo)", cost=free, retires=None)


def start_demo(model: Model) -> StandIn:
    """Start the stand-in for the model that a demo model plays."""
    name = played(model)
    real = Catalog.default().resolve(PLAYED[name])
    server = StandIn(real.provider, protocol=real.protocol, key=None)

    def answer(context: Context) -> Reply:
        server.say(answer)  # the script has one answer per request: add the next
        return reply(context, name, thinks=real.reasoning)

    server.say(answer)
    return server.start()


# -- the answers ------------------------------------------------------------------------------------------------------


def reply(context: Context, name: str, *, thinks: bool) -> Reply:
    """The answer of the stand-in for ``name`` to a conversation."""
    last = context.messages[-1]
    if isinstance(last, ToolResultMessage):
        return _reply(_about(last))
    text = text_of(last) if isinstance(last, UserMessage) else ""
    if context.system_prompt == INSTRUCTIONS:
        return _reply(_summary(text))
    if call := _call(text, context):
        thought = f"The user asks “{_short(text)}”. I call {call.name} before I answer."
        thinking: list[AssistantContent] = [ThinkingContent(thought)] if thinks else []
        return Reply([*thinking, TextContent("Let me look."), call], pause=PAUSE)
    seen = sum(isinstance(message, ToolResultMessage) for message in context.messages)
    answers = sum(isinstance(message, AssistantMessage) for message in context.messages)
    own = f"I am a stand-in for {name}, with its rules but without its mind"
    got = f"I got this conversation with {count_of(answers, 'answer')} and {count_of(seen, 'tool result')}"
    return _reply(f"{own}. {got}. You said: {_short(text)}\n\n{_hint(context.tools)}")


def _call(text: str, context: Context) -> ToolCall | None:
    offered = {tool.name: tool for tool in context.tools}
    for trigger in TRIGGERS:
        found = trigger.pattern.search(text)
        if found is not None and trigger.tool in offered:
            required = offered[trigger.tool].schema.get("required") or []
            return ToolCall("", trigger.tool, dict(zip(required, found.groups(), strict=False)))
    return ToolCall("", LOOK, {}) if LOOK in offered and len(context.messages) == 1 else None


def _hint(tools: list[ToolDefinition]) -> str:
    offered = {tool.name for tool in tools}
    examples = [f"“{trigger.example}”" for trigger in TRIGGERS if trigger.tool in offered]
    if not examples:
        return "No tools are offered, so I cannot call any."
    return f"I react to {', '.join(examples[:-1])}{' or ' if len(examples) > 1 else ''}{examples[-1]}."


def _about(result: ToolResultMessage) -> str:
    text = "".join(block.text for block in result.content if isinstance(block, TextContent))
    verb = "failed with" if result.is_error else "returned"
    return f"The call of {result.tool_name} {verb}: {_short(text) or 'nothing'}"


def _summary(transcript: str) -> str:
    """A summary of a transcript: who said what, without the marks."""
    word = re.search(r'"\[(\w+)"', transcript)
    pieces = re.split(rf"^\[{word[1]} (.*)\]$", transcript, flags=re.MULTILINE)[1:-1] if word else []
    said = [f"- {label}: {_short(text)}" for label, text in zip(pieces[::2], pieces[1::2], strict=False)]
    return "\n".join(["So far:", *(line for line in said if "thinking" not in line.partition(":")[0])])


def _short(text: str) -> str:
    words = " ".join(text.split())
    return words if len(words) <= MAX_REPEATED else f"{words[:MAX_REPEATED]} …"


def _reply(text: str) -> Reply:
    return Reply([TextContent(text)], pause=PAUSE)
