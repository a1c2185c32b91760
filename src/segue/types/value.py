"""The base of all canonical values: JSON in camelCase, and validation of values that are made in Python.

msgspec validates what it decodes, but its constructors do not. ``Value`` calls ``_validate`` only from the constructor,
so that decoded values are not checked twice.
"""

from collections.abc import Callable
from typing import Annotated, Any

import msgspec
from msgspec import Meta, Struct, StructMeta
from msgspec.structs import force_setattr


class _ValidatingMeta(StructMeta):
    def __call__(cls, *args: Any, **kwargs: Any) -> Any:
        value = super().__call__(*args, **kwargs)
        value._validate()
        return value


class FlexibleMeta(_ValidatingMeta):
    """The metaclass of values whose constructor accepts more than their JSON: ``_fields`` returns all fields."""

    def __call__(cls, *args: Any, **kwargs: Any) -> Any:
        fields = cls._fields(*args, **kwargs)  # type: ignore[attr-defined] # defined by each class with this metaclass
        return super().__call__(**fields)


unchecked: Callable[..., Any] = StructMeta.__call__
"""Make a value of the class that is passed first, without validation: for readers that have checked every field."""

encode = msgspec.json.Encoder().encode

UNREADABLE = (msgspec.MsgspecError, UnicodeDecodeError, RecursionError)
"""What the decoder raises on bad input; the last two are not errors of msgspec."""


class Value(Struct, metaclass=_ValidatingMeta, frozen=True, rename="camel", gc=False):
    """A value of the canonical format. It contains JSON and other values, but never a reference to itself, so the
    garbage collector does not have to track it."""

    def _validate(self) -> None:
        """Validate and normalise a value that was made in Python."""

    def _may_hide_nan(self) -> bool:
        """Whether the value may contain NaN or infinities: a quick check that may return ``True`` wrongly, but never
        ``False``."""
        return False

    def _empty_to_none(self, *names: str) -> None:
        """Replace empty optional fields by ``None``: empty and absent are the same."""
        for name in names:
            value = getattr(self, name)
            if value is not None and not value and value in ("", {}):
                force_setattr(self, name, None)


Optional = Annotated[str, Meta(min_length=1)] | None
"""Text that may be absent. In JSON an empty text counts as absent: ``codec`` removes it and reads again."""

JsonObject = Annotated[dict[str, Any], Meta(min_length=1)] | None
"""A JSON object that may be absent. An empty one counts as absent, like an empty text."""
