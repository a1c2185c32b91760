"""How much of everything the tools of a scheduler may have."""

import math

from msgspec import Struct

from ..errors import SettingError


class ToolLimits(Struct, frozen=True):
    """The limits of a scheduler: one set, the same for every tool and everywhere."""

    parallel: int = 8
    """Calls of a batch that run at the same time."""
    timeout: float = 600
    """Seconds for a call whose tool names none; ``math.inf``: no limit."""
    output: int = 50_000
    """Characters of text in a result; what is longer is cut in the middle and kept in a file."""
    images: int = 5_000_000
    """Characters of image data (base64) in a result; images beyond it are kept in files."""
    grace: float = 2.0
    """Seconds that running tools get after a cancellation or a timeout before they are abandoned."""
    directory: str | None = None
    """Where whole outputs are kept; ``None``: a folder ``segue-outputs`` in the temporary one, private to the user."""
    kept_seconds: float = 7 * 24 * 3600
    """How long whole outputs are kept there; older ones are deleted when another is kept. ``math.inf``: no limit."""
    kept_bytes: float = 1_000_000_000
    """How many bytes of whole outputs are kept there; the oldest are deleted first. ``math.inf``: no limit."""

    def __post_init__(self) -> None:
        least = {"parallel": 1, "timeout": 0, "output": 0, "images": 0, "grace": 0, "kept_seconds": 0, "kept_bytes": 0}
        for name, low in least.items():
            value = getattr(self, name)
            if math.isnan(value) or value < low or (name == "timeout" and value == 0):
                raise SettingError(f"the limit {name} cannot be {value}")
