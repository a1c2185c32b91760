"""The options of a request, besides the conversation: one record for all protocols."""

from typing import Literal, get_args

from msgspec import Struct

ReasoningLevel = Literal["off", "minimal", "low", "medium", "high", "xhigh", "max"]
CacheRetention = Literal["none", "short", "long"]

_CHOICES: dict[str, tuple[str, ...]] = {"reasoning": get_args(ReasoningLevel), "cache": get_args(CacheRetention)}


class Options(Struct, frozen=True, kw_only=True):
    """Options of a request. An option that the target does not support is left out, and the report lists it.

    Options never change how the messages are rendered: if an option conflicts with the history, the option is dropped.
    """

    # The maximum number of output tokens. Without it, a careful number where the protocol requires one.
    max_tokens: int | None = None
    temperature: float | None = None
    stop: tuple[str, ...] = ()
    # "auto", "none", "required", or the name of the one tool that must be called.
    tool_choice: str | None = None
    reasoning: ReasoningLevel | None = None
    # How long the provider should cache the prompt: `short` is minutes, `long` an hour or more.
    cache: CacheRetention | None = None
    stream: bool = False
    metadata: dict[str, str] = {}

    def __post_init__(self) -> None:
        for name, choices in _CHOICES.items():
            value = getattr(self, name)
            if value is not None and value not in choices:
                raise ValueError(f"option {name} must be one of {', '.join(choices)}, not {value!r}")
        if self.max_tokens is not None and self.max_tokens < 1:
            raise ValueError("option max_tokens must be at least 1")
        if isinstance(self.stop, str):
            raise TypeError('option stop must be a tuple of strings, not one string: write stop=("…",)')
