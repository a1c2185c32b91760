"""What all canonical values share: JSON in camelCase, and a check when they are made in Python.

msgspec checks what it reads, but constructors check nothing. ``Value`` calls ``_validate`` for values that are made in
Python and leaves the reader alone, which would otherwise pay for every check twice.
"""

from typing import Annotated, Any

import msgspec
from msgspec import Meta, Struct, StructMeta
from msgspec.structs import force_setattr


class _ValidatingMeta(StructMeta):
    def __call__(cls, *args: Any, **kwargs: Any) -> Any:
        value = super().__call__(*args, **kwargs)
        value._validate()
        return value


encode = msgspec.json.Encoder().encode

UNREADABLE = (msgspec.MsgspecError, UnicodeDecodeError, RecursionError)
"""What the decoder raises on bad input; the last two are not errors of msgspec."""


class Value(Struct, metaclass=_ValidatingMeta, frozen=True, rename="camel", gc=False):
    """A value of the canonical format. It holds JSON and other values, none of which points back to it, so that the
    collector of cycles need not look at it."""

    def _validate(self) -> None:
        """Check and normalise a value that was made in Python."""

    def _may_hide_nan(self) -> bool:
        """Whether numbers that JSON cannot hold may be in here: cheap, and true more often than need be."""
        return False

    def _empty_to_none(self, *names: str) -> None:
        """An empty optional and an absent one are the same value."""
        for name in names:
            if getattr(self, name) in ("", {}):
                force_setattr(self, name, None)


Optional = Annotated[str, Meta(min_length=1)] | None
"""Text that may be absent. In JSON an empty one is absent, too: ``codec`` takes it out and reads again."""
