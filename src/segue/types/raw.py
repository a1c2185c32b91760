"""Raw JSON inside a value: numbers and the order of keys stay as they were written; only white space between tokens is
removed, so that it fits on one line."""

from collections.abc import Mapping
from typing import Any

import msgspec
from msgspec import Raw

from ..errors import FormatError
from .numbers import refuse_non_finite
from .text import scrub, scrub_escapes, scrub_json


def minified(what: str, value: Any, be: str = "is") -> bytes:
    """Write ``value`` on one line. Raises ``FormatError`` if it is not JSON; ``what`` names it, ``be`` is its verb."""
    try:
        if isinstance(value, Mapping):
            refuse_non_finite(value)
            return msgspec.json.encode(scrub_json(dict(value)))
        if not isinstance(value, str | bytes | Raw):
            raise TypeError(f"{what} must be a dict or JSON text, not {type(value).__name__}")
        data = scrub(value).encode() if isinstance(value, str) else bytes(value)
        data.decode()
        return msgspec.json.format(scrub_escapes(data), indent=-1)
    except FormatError as error:
        raise FormatError(f"{what}: {error}") from None
    except UnicodeDecodeError:
        raise FormatError(f"{what} {be} not UTF-8") from None
    except RecursionError:
        raise FormatError(f"{what} {be} nested too deeply") from None
    except msgspec.DecodeError as error:
        raise FormatError(f"{what} {be} not JSON: {error}") from None
