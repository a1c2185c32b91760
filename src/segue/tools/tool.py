"""A tool: a definition for the model, and the function that its calls run."""

import inspect
import math
from collections.abc import Callable
from typing import Any, overload

from msgspec import Struct

from ..errors import SettingError
from ..types import ToolDefinition


class Tool(Struct, frozen=True, eq=False):
    """A tool: its definition for the model, and its handler.

    ``handler`` is called with the arguments by name. A plain function runs in its own thread. An async function runs on
    the event loop, which it must not block. Calling the tool calls the handler, so a decorated function stays usable.
    """

    definition: ToolDefinition
    handler: Callable[..., Any]
    alone: bool = False
    """Whether no other call of the batch runs at the same time."""
    approval: bool = False
    """Whether the user is asked before it runs."""
    timeout: float | None = None
    """Seconds; ``None``: the timeout of the scheduler, ``math.inf``: no limit."""
    process: bool = False
    """Whether a plain function runs in its own worker process, where it may hang or crash without harm."""
    types: dict[str, Any] = {}
    """The Python types of its parameters. Arguments are converted to them before the handler is called."""

    def __post_init__(self) -> None:
        if self.timeout is not None and (math.isnan(self.timeout) or self.timeout <= 0):
            raise SettingError(f"tool {self.name!r}: a timeout must be more than 0 seconds, not {self.timeout}")
        if self.process:
            _check_process_handler(self.name, self.handler)

    @property
    def name(self) -> str:
        """The name that models call it by."""
        return self.definition.name

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.handler(*args, **kwargs)

    @property
    def __wrapped__(self) -> Callable[..., Any]:
        """The handler, where ``inspect.signature`` looks for it."""
        return self.handler


def _check_process_handler(name: str, handler: Callable[..., Any]) -> None:
    """Refuse a function that a worker process cannot import."""
    if inspect.iscoroutinefunction(handler):
        raise SettingError(f"tool {name!r} is async; only a plain function runs in a worker process")
    if not inspect.isfunction(handler) or "<" in handler.__qualname__:
        raise SettingError(
            f"tool {name!r} cannot be found by a worker process: define it with def at the top level of a module"
        )


ToolLike = Tool | Callable[..., Any]
"""A tool, or a function that becomes one."""


@overload
def tool(
    function: Callable[..., Any],
    *,
    name: str | None = None,
    description: str | None = None,
    alone: bool = False,
    approval: bool = False,
    timeout: float | None = None,
    process: bool = False,
) -> Tool: ...


@overload
def tool(
    function: None = None,
    *,
    name: str | None = None,
    description: str | None = None,
    alone: bool = False,
    approval: bool = False,
    timeout: float | None = None,
    process: bool = False,
) -> Callable[[Callable[..., Any]], Tool]: ...


def tool(
    function: Callable[..., Any] | None = None,
    *,
    name: str | None = None,
    description: str | None = None,
    alone: bool = False,
    approval: bool = False,
    timeout: float | None = None,
    process: bool = False,
) -> Tool | Callable[[Callable[..., Any]], Tool]:
    """Make a tool of a typed function: as a decorator, bare or with settings, or as a plain call.

    The schema comes from the signature, the descriptions from the docstring. ``Annotated[int, "how many"]`` also
    describes a parameter.
    """
    from .schema import describe_function

    def make_tool(function: Callable[..., Any]) -> Tool:
        definition, types = describe_function(function, name, description)
        return Tool(definition, function, alone, approval, timeout, process, types)

    return make_tool if function is None else make_tool(function)


def as_tool(tool_or_function: ToolLike) -> Tool:
    """Return a tool unchanged; make a tool of a typed function."""
    return tool_or_function if isinstance(tool_or_function, Tool) else tool(tool_or_function)
