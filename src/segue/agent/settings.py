"""The settings of sessions and agents, as one record."""

import time
from collections.abc import Callable

from msgspec import Struct, field

from ..projection import PolicyLike
from ..tools import ToolLimits
from ..types import Options
from .meter import RunLimits


class Settings(Struct, frozen=True, kw_only=True):
    """How a session or an agent works. Every field has a default."""

    options: Options = field(default_factory=Options)
    """The options of its requests: temperature, reasoning, and so on."""
    policy: PolicyLike = None
    """How conversations are adapted to a model."""
    limits: RunLimits = RunLimits()
    """How many steps, tokens and dollars one run of an agent may use."""
    tool_limits: ToolLimits = ToolLimits()
    """How many calls run in parallel, how long they may take, and how much they may return."""
    clock: Callable[[], float] = time.time
    """Seconds since 1970, for the times in the log."""

    def __post_init__(self) -> None:
        for name, kind in (("options", Options), ("limits", RunLimits), ("tool_limits", ToolLimits)):
            value = getattr(self, name)
            if not isinstance(value, kind):
                raise TypeError(f"Settings.{name} must be a segue.{kind.__name__}, not a {type(value).__name__}")


def checked(settings: Settings | None) -> Settings:
    """The settings, or the defaults if there are none."""
    if settings is not None and not isinstance(settings, Settings):
        raise TypeError(f"settings must be a segue.Settings, not a {type(settings).__name__}")
    return Settings() if settings is None else settings
