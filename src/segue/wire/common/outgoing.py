"""What an encoder works on: a projection, the options, and the report, with messages counted as they are stored."""

from typing import Generic, TypeVar

from ...dialects import Dialect
from ...projection import Projection
from ...projection.step import Report
from ...types import ChangeCode, Message, Options, ToolDefinition

D = TypeVar("D", bound=Dialect)


class Outgoing(Generic[D]):
    """One conversation on its way to the wire."""

    def __init__(self, projection: Projection, dialect: type[D], options: Options, report: Report) -> None:
        if not isinstance(projection.model.dialect, dialect):
            found = type(projection.model.dialect).__name__
            raise TypeError(f"this encoder needs a model with a {dialect.__name__} dialect, not {found}")
        self.model = projection.model
        self.dialect: D = projection.model.dialect
        self.system: str | None = projection.context.system_prompt
        self.messages: list[Message] = projection.context.messages
        self.tools: list[ToolDefinition] = projection.context.tools
        self.stubbed = projection.stubbed
        self.options = options
        self._name = projection.rendered_name
        self._sources = projection.sources
        self._report = report

    def tell(self, code: ChangeCode, message: int | None = None, detail: str = "") -> None:
        """Report a change of the rendered message at this index, or of the request as a whole."""
        self._report.add(code, None if message is None else self._sources[message], None, detail)

    def drop_option(self, name: str, why: str) -> None:
        self.tell("option-dropped", None, f"{name}: {why}")

    def forced_tool(self) -> str | None:
        """The rendered name of the one tool that must be called, if the options name one that is defined."""
        choice = self.options.tool_choice
        if choice is None or choice in ("auto", "none", "required"):
            return None
        name = self._name(choice)
        return name if any(tool.name == name for tool in self.tools) else None
