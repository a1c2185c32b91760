"""What a tool is: a definition that the model sees, and the function that answers its calls."""

import inspect
import math
from collections.abc import Callable
from typing import Any, overload

from msgspec import Struct

from ..errors import SettingError
from ..types import ToolDefinition


class Tool(Struct, frozen=True, eq=False):
    """A tool: what the model is told of it, and what runs.

    ``handler`` is called with the arguments by name. A plain function runs in a thread of its own, an async one on the
    event loop, where it must not block.
    """

    definition: ToolDefinition
    handler: Callable[..., Any]
    alone: bool = False
    """Whether no other call of the batch runs beside it."""
    approval: bool = False
    """Whether a person is asked before it runs."""
    timeout: float | None = None
    """Seconds; ``None``: as the scheduler has it, ``math.inf``: no limit."""
    process: bool = False
    """Whether a plain function runs in a worker process of its own, where it may hang or die without harm."""
    types: dict[str, Any] = {}
    """The Python types of its parameters: values are given to the handler as these."""

    def __post_init__(self) -> None:
        if self.timeout is not None and (math.isnan(self.timeout) or self.timeout <= 0):
            raise SettingError(f"tool {self.name!r}: a timeout is more than 0 seconds, not {self.timeout}")

        if self.process:
            _found_by_a_worker(self.name, self.handler)

    @property
    def name(self) -> str:
        return self.definition.name


def _found_by_a_worker(name: str, handler: Callable[..., Any]) -> None:
    """Refuse a function that a worker process could not run."""
    if inspect.iscoroutinefunction(handler):
        raise SettingError(f"tool {name!r} is async; only a plain function runs in a worker process")
    if not inspect.isfunction(handler) or "<" in handler.__qualname__:
        raise SettingError(
            f"tool {name!r} cannot be found by a worker process: define it with def at the top level of a module"
        )


ToolLike = Tool | Callable[..., Any]


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

    The schema comes from the signature, the descriptions from the docstring; ``Annotated[int, "how many"]`` describes a
    parameter, too.
    """
    from .schema import described

    def made(function: Callable[..., Any]) -> Tool:
        definition, types = described(function, name, description)
        return Tool(definition, function, alone, approval, timeout, process, types)

    return made if function is None else made(function)


def as_tool(given: ToolLike) -> Tool:
    """A tool as it is, or one made of a typed function."""
    return given if isinstance(given, Tool) else tool(given)
