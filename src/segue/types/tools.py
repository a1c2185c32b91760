"""Tool definitions. ``parameters`` is raw JSON text, so that numbers and the order of keys stay as they were written;
only white space between tokens is removed, so that the schema fits on one line."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec import Raw, Struct, field
from msgspec.structs import force_setattr

from ..errors import FormatError
from .numbers import refuse_non_finite
from .text import scrub, scrub_escapes, scrub_json


class ToolDefinition(Struct, frozen=True, rename="camel"):
    """A tool that the model may call. ``parameters`` is a JSON Schema, passed as a dict or as JSON text."""

    name: str
    description: str = field(default_factory=str)
    parameters: Raw = field(default_factory=lambda: Raw(b'{"type":"object","properties":{}}'))

    if TYPE_CHECKING:

        def __init__(
            self, name: str, description: str = "", parameters: Mapping[str, Any] | Raw | bytes | str = ...
        ) -> None: ...

    def __post_init__(self) -> None:
        force_setattr(self, "parameters", Raw(_minified(self.name, self.parameters)))

    def __hash__(self) -> int:
        return hash((self.name, self.description, bytes(self.parameters)))

    @property
    def schema(self) -> Any:
        """``parameters`` as a new Python value."""
        return msgspec.json.decode(self.parameters)


def _minified(name: str, schema: Any) -> bytes:
    """Write a schema on one line. Raises ``FormatError`` if it is not JSON."""
    try:
        if isinstance(schema, Mapping):
            refuse_non_finite(schema)
            return msgspec.json.encode(scrub_json(dict(schema)))
        if not isinstance(schema, str | bytes | Raw):
            raise TypeError(f"parameters of tool {name!r} must be a dict or JSON text, not {type(schema).__name__}")
        data = scrub(schema).encode() if isinstance(schema, str) else bytes(schema)
        data.decode()
        return msgspec.json.format(scrub_escapes(data), indent=-1)
    except FormatError as error:
        raise FormatError(f"parameters of tool {name!r}: {error}") from None
    except UnicodeDecodeError:
        raise FormatError(f"parameters of tool {name!r} are not UTF-8") from None
    except RecursionError:
        raise FormatError(f"parameters of tool {name!r} are nested too deeply") from None
    except msgspec.DecodeError as error:
        raise FormatError(f"parameters of tool {name!r} are not JSON: {error}") from None
