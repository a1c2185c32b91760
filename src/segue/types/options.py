"""The options of a request, besides the conversation: one record for all protocols."""

from collections.abc import Mapping
from typing import Any, Literal, get_args

import msgspec
from msgspec import Struct
from msgspec.structs import force_setattr

from .numbers import refuse_non_finite
from .response_format import ResponseFormat
from .text import scrub_json

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
    top_p: float | None = None
    stop: tuple[str, ...] = ()
    # "auto", "none", "required", or the name of the one tool that must be called.
    tool_choice: str | None = None
    # Whether the model may call several tools at once. Without it, the provider decides.
    parallel_tool_calls: bool | None = None
    reasoning: ReasoningLevel | None = None
    # How long the provider should cache the prompt: `short` is minutes, `long` an hour or more.
    cache: CacheRetention | None = None
    # The same text for requests with the same beginning, where a provider uses it to find its cache (at most 64
    # characters; a longer one is replaced by its digest). Sessions use their id.
    cache_key: str | None = None
    stream: bool = False
    metadata: dict[str, str] = {}
    # The JSON that the answer should consist of: a JSON schema (a dict), or a type of msgspec, pydantic or the standard
    # library. It must describe an object. `segue.parse` reads the answer.
    response_format: ResponseFormat | Mapping[str, Any] | type[Any] | None = None
    # Fields of one provider that segue does not have, added to the body as they are. Objects are merged, anything else
    # replaces what the body has. They are not checked here, and `lint` reports fields that the protocol does not have.
    extra: Mapping[str, Any] = {}

    def __post_init__(self) -> None:
        for name, choices in _CHOICES.items():
            value = getattr(self, name)
            if value is not None and value not in choices:
                raise ValueError(f"option {name} must be one of {', '.join(choices)}, not {value!r}")
        if self.max_tokens is not None and self.max_tokens < 1:
            raise ValueError("option max_tokens must be at least 1")
        if isinstance(self.stop, str):
            raise TypeError('option stop must be a tuple of strings, not one string: write stop=("…",)')
        if self.response_format is not None:
            force_setattr(self, "response_format", ResponseFormat.of(self.response_format))
        if self.extra:
            force_setattr(self, "extra", _as_json(self.extra))


def _as_json(extra: object) -> dict[str, Any]:
    """A copy of ``extra``, if it is an object of JSON."""
    if not isinstance(extra, Mapping):
        raise TypeError(f"option extra must be a dict of fields, not a {type(extra).__name__}")
    copy = scrub_json(dict(extra))
    refuse_non_finite(copy)
    try:
        msgspec.json.encode(copy)
    except (TypeError, ValueError, OverflowError, RecursionError) as error:
        raise ValueError(f"option extra is not JSON: {error}") from None
    return copy
