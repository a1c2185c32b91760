"""The limits of a scheduler and its tools."""

import math

from msgspec import Struct

from ..errors import SettingError


class ToolLimits(Struct, frozen=True):
    """Limits that apply to every tool of a scheduler."""

    parallel: int = 8
    """How many calls of a batch may run at the same time."""
    timeout: float = 600
    """Seconds for a call whose tool has no timeout of its own; ``math.inf``: no limit."""
    output: int = 50_000
    """Characters of text in a result. A longer text is cut in the middle, and the whole is kept in a file."""
    images: int = 5_000_000
    """Characters of the data (base64) of images and files in a result; further ones are kept in files."""
    grace: float = 2.0
    """Seconds that running tools get after a cancellation or a timeout before they are abandoned."""
    directory: str | None = None
    """The folder for whole outputs; ``None``: ``segue-outputs`` in the temporary folder, private to the user."""
    kept_seconds: float = 7 * 24 * 3600
    """How long whole outputs are kept; older ones are deleted when another is written. ``math.inf``: no limit."""
    kept_bytes: float = 1_000_000_000
    """How many bytes of whole outputs are kept; the oldest are deleted first. ``math.inf``: no limit."""

    def __post_init__(self) -> None:
        for name in ("parallel", "timeout", "output", "images", "grace", "kept_seconds", "kept_bytes"):
            value = getattr(self, name)
            minimum = 1 if name == "parallel" else 0
            if math.isnan(value) or value < minimum or (name == "timeout" and value == 0):
                raise SettingError(f"the limit {name} cannot be {value}")
