"""Tool definitions. ``parameters`` is the schema as raw JSON text: it passes through with every number, key and
order as it was written; only white space between tokens goes, so that it fits on a line."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec import Raw, Struct, field
from msgspec.structs import force_setattr

from ..errors import FormatError
from .text import scrub_escapes, scrub_json


class ToolDefinition(Struct, frozen=True, rename="camel"):
    """A tool that the model may call. ``parameters`` may be given as a dict or as JSON text."""

    name: str
    description: str = field(default_factory=str)
    parameters: Raw = field(default_factory=lambda: Raw(b'{"type":"object","properties":{}}'))

    if TYPE_CHECKING:

        def __init__(
            self, name: str, description: str = "", parameters: Mapping[str, Any] | Raw | bytes | str = ...
        ) -> None: ...

    def __post_init__(self) -> None:
        given: Any = self.parameters
        if isinstance(given, Mapping):
            given = msgspec.json.encode(scrub_json(dict(given)))
        elif isinstance(given, str):
            given = given.encode()
        try:
            text = msgspec.json.format(bytes(given), indent=-1)
        except msgspec.DecodeError as error:
            raise FormatError(f"parameters of tool {self.name!r} are not JSON: {error}") from None
        force_setattr(self, "parameters", Raw(scrub_escapes(text)))

    @property
    def schema(self) -> Any:
        """``parameters`` as a fresh Python value."""
        return msgspec.json.decode(self.parameters)
