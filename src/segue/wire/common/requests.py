"""How a protocol's requests are read, besides their conversation: a record of the protocol."""

from collections.abc import Callable
from typing import Any

from msgspec import Struct

from .asked import Asked, as_dict
from .coverage import Fields, Kinds, Left, Object, Option

SHOWN_AS_TEXT = "a conversation has no block for it; a text describes it"
HOSTED = "a tool that the provider runs itself"
STATE = "state that the provider keeps is not in the body"


class RequestForm(Struct, frozen=True, kw_only=True):
    """What a request says besides its conversation."""

    # All fields that are read, by the conversation's reader or as options.
    fields: Fields
    # Read the options.
    options: Callable[[Object, Asked], None]
    # The field with the name of the model, if it is in the body.
    model: str = "model"


def _cache_marker(asked: Asked, marker: Any) -> None:
    """A cache marker with a lifetime of an hour or more is a long one; others last some minutes."""
    asked.cache(isinstance(marker, dict) and marker.get("ttl") in ("1h", "12h", "24h"))


CACHE_MARKER = Option(_cache_marker, Fields("type", "ttl", "mode"))
"""``cache_control``, ``cachePoint`` or ``prompt_cache_breakpoint``, wherever it is: segue chooses the places itself."""


def kind_of(value: Object) -> Any:
    """The type of an object."""
    return value.get("type")


# -- chat completions, of OpenAI's family and of Mistral ---------------------------------------------------------------

CHAT_FORMAT = Kinds(
    kind_of,
    {
        "text": Fields("type"),
        "json_object": Fields("type"),
        "json_schema": Fields("type", json_schema=Fields("name", "schema", strict=Left(harmless=(True,)))),
    },
    Left(),
)


def read_chat_format(value: Any, asked: Asked) -> None:
    """Read ``response_format``. Any JSON object has the schema of an object."""
    form = as_dict(value)
    if form.get("type") == "json_object":
        asked.schema({"type": "object"}, "response_format")
    elif form.get("type") == "json_schema":
        inner = as_dict(form.get("json_schema"))
        asked.schema(inner.get("schema"), "response_format.json_schema.schema", inner.get("name"))


def read_sampling(body: Object, asked: Asked) -> None:
    """Read the options that have the same names in all chat completions."""
    asked.limit(body.get("max_tokens"), "max_tokens")
    asked.number("temperature", body.get("temperature"), "temperature")
    asked.number("top_p", body.get("top_p"), "top_p")
    asked.stops(body.get("stop"), "stop")
    asked.flag("stream", body.get("stream"), "stream")
    asked.flag("parallel_tool_calls", body.get("parallel_tool_calls"), "parallel_tool_calls")
    asked.metadata(body.get("metadata"), "metadata")
