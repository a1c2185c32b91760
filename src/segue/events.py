"""Every event that a stream or a turn emits. They are loaded when they are first used.

The events of an answer are defined in ``types/events.py``; ``Event`` is the union of them. A turn also emits those of
``agent/events.py``; ``TurnEvent`` is the union of all.
"""

TYPE_CHECKING = False  # type checkers treat this name like the one in `typing`, which takes time to import

if TYPE_CHECKING:
    from .agent.events import *
    from .types.events import *
else:

    def __getattr__(name: str) -> object:
        from .types import events

        if name not in events.__all__:
            if name.startswith("__") and name != "__all__":
                raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
            from .agent import events as turn_events  # loads the whole client

            if name == "__all__":
                return sorted({*events.__all__, *turn_events.__all__})
            if name not in turn_events.__all__:
                raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
            events = turn_events
        return getattr(events, name)

    def __dir__() -> list[str]:
        return __getattr__("__all__")
