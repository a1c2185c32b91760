"""A tool name that the target refuses becomes one that depends on the name alone, in tools and history alike."""

import re
from functools import lru_cache
from hashlib import blake2b

from msgspec.structs import replace

from ...dialects import NAME_SHAPES, NameForm
from ...types import AssistantMessage, ToolCall
from ..look import NAMED
from ..step import Pass, Step, Target


class Names(Pass):
    minds = NAMED

    def __init__(self, target: Target) -> None:
        super().__init__(target)
        self.form = target.dialect.name_form
        self.kept: set[str] = set()
        """The names so far that the target takes as they are."""
        self.originals: dict[str, str] = {}
        """The stored name behind each rendered one that differs, for the way back."""

    def answer(self, step: Step, message: AssistantMessage) -> None:
        for call in step.calls:
            if call.name not in self.kept and self.rendered(call.name) != call.name:
                self._rename(step)
                return

    def _rename(self, step: Step) -> None:
        number = 0
        for at, block in enumerate(step.content):
            if type(block) is not ToolCall:
                continue
            name, result = self.rendered(block.name), step.results[number]
            if name != block.name:
                self.report.add("name-projected", step.index, step.block(at), f"{block.name!r} is sent as {name!r}")
                step.put(at, replace(block, name=name))
                if result is not None:
                    step.results[number] = replace(result, tool_name=name)
            number += 1

    def rendered(self, name: str) -> str:
        """The name under which the target knows this tool."""
        rendered = valid_name(name, self.form)
        if rendered == name:
            self.kept.add(name)
        else:
            self.originals[rendered] = name
        return rendered


@lru_cache(maxsize=4096)
def valid_name(name: str, form: NameForm) -> str:
    """``name`` where it has the form; else a cleaned one and a short hash of the name."""
    shape = NAME_SHAPES[form]
    if re.fullmatch(shape.pattern, name):
        return name
    digest = blake2b(name.encode("utf-8", "surrogatepass"), digest_size=4).hexdigest()
    cleaned = re.sub(shape.refused, "_", name)[: shape.length - len("t__") - len(digest)]
    candidate = f"{cleaned}_{digest}"
    return candidate if re.fullmatch(shape.pattern, candidate) else f"t_{candidate}"
