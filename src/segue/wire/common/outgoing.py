"""The input of an encoder: a rendered conversation, the options, and the report.

Reports refer to messages by their index in the stored conversation.
"""

from collections.abc import Callable
from functools import lru_cache
from typing import Any, Generic, TypeVar

from ...dialects import Dialect, SchemaShape
from ...projection import STUB_TOOL, Rendering, Report
from ...types import ChangeCode, Model, Options, ToolDefinition
from .refused import without_keywords
from .schema import Adapted, adapt, shape_of

D = TypeVar("D", bound=Dialect)
Convert = Callable[[D, ToolDefinition, dict[str, Any]], dict[str, Any]]
"""Writes a tool with its schema as the target accepts it."""


@lru_cache(maxsize=1024)
def _adapted(shape: SchemaShape, refused: tuple[str, ...], tool: ToolDefinition) -> Adapted:
    """Cached, because tools rarely change between requests and schemas are slow to adapt."""
    schema = tool.schema
    smaller = without_keywords(schema, refused) if refused else schema
    adapted = adapt(smaller, shape)
    if smaller is schema:
        return adapted
    return adapted._replace(changes=(*adapted.changes, f"the target refuses the keywords {', '.join(refused)}"))


class Outgoing(Generic[D]):
    """One conversation to be encoded."""

    def __init__(self, rendered: Rendering, model: Model, dialect: type[D], options: Options, report: Report) -> None:
        if not isinstance(model.dialect, dialect):
            found = type(model.dialect).__name__
            raise TypeError(f"this encoder needs a model with a {dialect.__name__} dialect, not {found}")
        self.rendered = rendered
        self.model = model
        self.dialect: D = model.dialect
        self.system: str | None = rendered.frame.system_prompt
        self.tools: list[ToolDefinition] = rendered.frame.tools
        self.stubbed = self.tools == [STUB_TOOL]  # also if the history was projected before
        self.options = options
        """Turns must not depend on them: they are kept for requests with other options."""
        self.report = report

    def note(self, code: ChangeCode, message: int | None = None, detail: str = "", lossy: bool | None = None) -> None:
        """Report a change of the rendered message at this index, or of the whole request.

        The index is -1 if there are no messages. ``lossy``: whether it loses something, if not as its code says.
        """
        source = None if message is None or message < 0 else self.rendered.sources[message]
        self.report.add(code, source, None, detail, lossy=lossy)

    def drop_option(self, name: str, why: str) -> None:
        """Report that an option was left out or changed."""
        self.note("option-dropped", None, f"{name}: {why}")

    def each_tool(self, convert: Convert[D]) -> list[dict[str, Any]]:
        """The converted tools. They are converted once, as long as the conversation has the same tools."""
        known = self.rendered.frame.tools_as.get(convert)
        if known is None:
            before, shape = len(self.report.pending), shape_of(self.dialect)
            entries = []
            for tool in self.tools:
                adapted = _adapted(shape, self.dialect.refused_keywords, tool)
                entries.append(convert(self.dialect, tool, adapted.schema))
                if adapted.text is not None:
                    detail = f"{tool.name}: {adapted.text}"
                    self.report.add("schema-adapted", None, None, detail, lossy=bool(adapted.loosened))
            known = self.rendered.frame.tools_as[convert] = entries, self.report.pending[before:]
        else:
            self.report.pending += known[1]
        return [dict(entry) for entry in known[0]]
