"""What an encoder works on: a rendered conversation, the options, and the report, with messages counted as they are
stored."""

from collections.abc import Callable
from functools import lru_cache
from typing import Any, Generic, TypeVar

from ...dialects import Dialect
from ...projection.frame import STUB_TOOL
from ...projection.pipeline import Rendering
from ...projection.step import Report
from ...types import ChangeCode, Model, Options, ToolDefinition

D = TypeVar("D", bound=Dialect)
Convert = Callable[[D, ToolDefinition], tuple[dict[str, Any], str | None]]
"""What becomes of a tool, and how its schema had to be adapted, if it had to."""


@lru_cache(maxsize=1024)
def _converted(convert: Convert[D], dialect: D, tool: ToolDefinition) -> tuple[dict[str, Any], str | None]:
    """Tools stay the same from request to request, and their schemas are what takes time."""
    return convert(dialect, tool)


class Outgoing(Generic[D]):
    """One conversation on its way to the wire."""

    def __init__(
        self, rendered: Rendering, model: Model, dialect: type[D], options: Options | None, report: Report
    ) -> None:
        if not isinstance(model.dialect, dialect):
            found = type(model.dialect).__name__
            raise TypeError(f"this encoder needs a model with a {dialect.__name__} dialect, not {found}")
        self.rendered = rendered
        self.model = model
        self.dialect: D = model.dialect
        self.system: str | None = rendered.frame.system_prompt
        self.tools: list[ToolDefinition] = rendered.frame.tools
        self.stubbed = self.tools == [STUB_TOOL]  # also of a history that was projected before
        self.report = report
        self._options = options

    @property
    def options(self) -> Options:
        """What a request asks for; turns do not depend on it, and have none."""
        assert self._options is not None
        return self._options

    def note(self, code: ChangeCode, message: int | None = None, detail: str = "") -> None:
        """Report a change of the rendered message at this index, or of the request as a whole; the last of no messages
        stands at -1."""
        source = None if message is None or message < 0 else self.rendered.sources[message]
        self.report.add(code, source, None, detail)

    def drop_option(self, name: str, why: str) -> None:
        self.note("option-dropped", None, f"{name}: {why}")

    def each_tool(self, convert: Convert[D]) -> list[dict[str, Any]]:
        """What each tool becomes. It is found out once, for as long as these are the tools of the conversation."""
        known = self.rendered.frame.tools_as.get(convert)
        if known is None:
            before = len(self.report.pending)
            entries = []
            for tool in self.tools:
                entry, adapted = _converted(convert, self.dialect, tool)
                entries.append(entry)
                if adapted is not None:
                    self.note("schema-adapted", None, f"{tool.name}: {adapted}")
            known = self.rendered.frame.tools_as[convert] = entries, self.report.pending[before:]
        else:
            self.report.pending += known[1]
        return [dict(entry) for entry in known[0]]
