"""What a request asks for beside the conversation: one record, the same for all protocols."""

from typing import Literal, get_args

from msgspec import Struct

ReasoningLevel = Literal["off", "minimal", "low", "medium", "high", "xhigh", "max"]
CacheRetention = Literal["none", "short", "long"]

_CHOICES: dict[str, tuple[str, ...]] = {"reasoning": get_args(ReasoningLevel), "cache": get_args(CacheRetention)}


class Options(Struct, frozen=True, kw_only=True):
    """Options of a request. Each dialect maps them, or leaves out what its target refuses, and the report says so.

    Nothing here changes how the messages are rendered: where an option and the history exclude each other, the option
    yields.
    """

    # The most tokens of output; without it, what the target's protocol wants or a careful number.
    max_tokens: int | None = None
    temperature: float | None = None
    stop: tuple[str, ...] = ()
    # "auto", "none", "required", or the name of the one tool that must be called.
    tool_choice: str | None = None
    reasoning: ReasoningLevel | None = None
    # How long the provider should keep what it has read: minutes, or an hour and more.
    cache: CacheRetention | None = None
    stream: bool = False
    metadata: dict[str, str] = {}

    def __post_init__(self) -> None:
        for name, choices in _CHOICES.items():
            value = getattr(self, name)
            if value is not None and value not in choices:
                raise ValueError(f"option {name} {value!r} is none of {', '.join(choices)}")
        if self.max_tokens is not None and self.max_tokens < 1:
            raise ValueError("option max_tokens must be at least 1")
        if isinstance(self.stop, str):
            raise TypeError("option stop is a tuple of texts, not one text")
