"""Options that several protocols map in the same way."""

from collections.abc import Callable, Sequence
from hashlib import blake2b
from typing import Any, Literal

from msgspec import Struct

from ...dialects import valid_name
from ...types import Options, ReasoningLevel
from .outgoing import Outgoing

Out = Outgoing[Any]

LEVELS = ("minimal", "low", "medium", "high", "xhigh", "max")
"""Levels of reasoning, from low to high. Dialects may also know ``none`` and ``default``, which are not levels."""
BUDGETS: dict[ReasoningLevel, int] = {
    "minimal": 1_024,
    "low": 2_048,
    "medium": 8_192,
    "high": 16_384,
    "xhigh": 32_768,
    "max": 32_768,
}
"""Tokens of thinking for each level, on models of Anthropic that think by budget."""
MAX_CACHE_KEY = 64
NOT_FORCED = "this model cannot be forced to call a tool"
NO_LIMIT = "the protocol cannot limit the number of calls"


def nearest_level(wanted: str, known: Sequence[str]) -> str | None:
    """The highest known level of reasoning that is not above ``wanted``, otherwise the lowest known one.

    A target that knows no level, but ``default``, gets that. ``None``: it knows neither.
    """
    levels = [level for level in LEVELS if level in known]
    if not levels:
        return "default" if "default" in known else None
    limit = LEVELS.index(wanted)
    below = [level for level in levels if LEVELS.index(level) <= limit]
    return below[-1] if below else levels[0]


def cache_key(options: Options) -> str | None:
    """``Options.cache_key`` in a form that all providers accept."""
    key = options.cache_key
    if key is None or (len(key) <= MAX_CACHE_KEY and key.isascii() and key.isprintable()):
        return key or None
    return blake2b(key.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()


def add_cache_key(out: Out, body: dict[str, Any]) -> None:
    """Add ``prompt_cache_key``, if the target has it. A header is added where the path is (``Protocol.headers``)."""
    if out.options.cache_key is None or (key := cache_key(out.options)) is None:
        return
    if getattr(out.dialect, "cache_key", False):
        body["prompt_cache_key"] = key
    elif not out.dialect.has_cache_key:
        out.drop_option("cache_key", "the target has no field for it")


def limited_tokens(out: Out, limit: int) -> int | None:
    """``max_tokens``, at most ``limit``; a larger number is reported. ``None`` if the options do not set it."""
    wanted = out.options.max_tokens
    if wanted is None:
        return None
    if wanted > limit:
        out.drop_option("max_tokens", f"{wanted} is more than the model's {limit}")
    return min(wanted, limit)


def number_within(out: Out, option: str, lowest: float, highest: float) -> float | None:
    """The number of an option, if it is set and in this range; one outside is reported."""
    wanted: float | None = getattr(out.options, option)
    if wanted is None or lowest <= wanted <= highest:
        return wanted
    out.drop_option(option, f"{wanted} is not between {lowest} and {highest}")
    return None


def one_call_at_a_time(out: Out, defined: bool) -> bool:
    """Whether the options forbid several calls in one answer. ``defined``: the request has tools; without any, the
    option has no meaning. Several calls are allowed by default, so nothing is written for that."""
    return defined and out.options.parallel_tool_calls is False


Mode = Literal["auto", "none", "required", "tool"]


class ToolChoice(Struct, frozen=True, gc=False):
    """Which tools the model may or must call; ``name`` is the rendered name of the tool for the mode ``tool``."""

    mode: Mode
    name: str | None = None

    @property
    def forces(self) -> bool:
        """Whether the model must call a tool."""
        return self.mode in ("required", "tool")


def _accept(choice: ToolChoice) -> str | None:
    return None


def tool_choice(out: Out, defined: bool, refusal: Callable[[ToolChoice], str | None] = _accept) -> ToolChoice | None:
    """The choice that the options ask for. ``None`` if they ask for none, or for one that cannot be sent, which is
    reported.

    ``defined``: the request has tools; ``refusal`` returns why the target does not accept a choice, or ``None``.
    """
    wanted = out.options.tool_choice
    if wanted is None:
        return None
    if not defined:
        out.drop_option("tool_choice", "no tool is defined")
        return None
    choice = _requested(out, wanted)
    why = f"no tool is called {wanted!r}" if choice is None else refusal(choice)
    if why is not None:
        out.drop_option("tool_choice", why)
        return None
    return choice


def forbid_stub(out: Out) -> ToolChoice:
    """The choice where the only tool is the placeholder for tools that are gone, which must not be called."""
    if out.options.tool_choice not in (None, "none"):
        out.drop_option("tool_choice", "no tool is defined")
    return ToolChoice("none")


_MODES = {"auto": ToolChoice("auto"), "none": ToolChoice("none"), "required": ToolChoice("required")}


def _requested(out: Out, wanted: str) -> ToolChoice | None:
    """The mode with this name, or the defined tool with this name."""
    if wanted in _MODES:
        return _MODES[wanted]
    name = valid_name(wanted, out.dialect.name_form)
    return ToolChoice("tool", name) if any(tool.name == name for tool in out.tools) else None
