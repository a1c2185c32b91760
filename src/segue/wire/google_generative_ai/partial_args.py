"""Convert streamed arguments of a call, which arrive as values at JSON paths, to JSON text.

Vertex streams them in this form on request (``streamFunctionCallArguments``): a ``PartialArg`` has a path (RFC 9535,
"e.g. $.foo.bar[0].data") and one value, strings in pieces (google-genai 3.1.0, types.PartialArg; vercel/ai#13929,
2026-03). A model writes its arguments from left to right. If a path does not continue where the last one ended, the
text stays incomplete, so the call is not run.
"""

import re
from collections.abc import Callable, Mapping
from typing import Any

from ...types.codec import json_text, read_json
from ...types.text import scrub, whole_number

Step = str | int

_STEP = re.compile(r"""\.([^.\[\]]+)|\[(\d+)\]|\['((?:[^'\\]|\\.)*)'\]|\["((?:[^"\\]|\\.)*)"\]""")


class Writer:
    """Partial arguments in, JSON text out."""

    def __init__(self, add: Callable[[str], None]) -> None:
        self.out_of_order = False
        self._add = add
        self._path = ""  # path of the last value
        self._steps: list[Step] = []  # the same, split: the position in each open container
        self._names: list[set[Step]] = []  # the names that each of these containers has
        self._in_string = False
        self._waiting = False  # more of the last value is expected

    def add(self, argument: Mapping[str, Any]) -> None:
        """Add one ``PartialArg``."""
        text, path = argument.get("stringValue"), argument.get("jsonPath") or ""
        if text is not None and self._in_string and path == self._path:
            self._add(_inside(text))
        elif text is not None:
            self._place(path, '"' + _inside(text))
            self._in_string = True
        elif argument.get("numberValue") is not None:
            self._place(path, json_text(argument["numberValue"]))
        elif argument.get("boolValue") is not None:
            self._place(path, "true" if argument["boolValue"] else "false")
        elif "nullValue" in argument:  # "NULL_VALUE", or null: the JSON form of that enum
            self._place(path, "null")
        self._waiting = argument.get("willContinue") is True

    def close(self, complete: bool) -> None:
        """End the arguments. ``complete``: the last part of the call has arrived, not just the end of the answer."""
        if not self.out_of_order and (complete or not self._waiting):
            self._add(self._quote() + self._closed(0) if self._steps else "")

    def _place(self, path: str, value: str) -> None:
        if self.out_of_order:
            return
        steps = _steps(path)
        shared = 0
        while shared < min(len(steps), len(self._steps)) and steps[shared] == self._steps[shared]:
            shared += 1
        if not self._continues(steps, shared):
            self.out_of_order = True
            self._add("" if self._steps else "{")  # incomplete, not empty
            return
        before = self._quote() + (self._closed(shared + 1) + "," if self._steps else "")
        del self._names[shared + 1 :]
        self._add(before + self._opened(steps, shared) + value)
        self._path, self._steps = path, steps

    def _continues(self, steps: list[Step], shared: int) -> bool:
        """Whether a value at ``steps`` can come next: a new name in an object, or the next position in a list."""
        if any(step != 0 for step in steps[shared + 1 :] if isinstance(step, int)) or shared >= len(steps):
            return False
        step = steps[shared]
        if not self._steps:
            return isinstance(step, str)
        if shared >= len(self._steps):
            return False
        last = self._steps[shared]
        if isinstance(last, int):
            return step == last + 1
        return isinstance(step, str) and step not in self._names[shared]

    def _quote(self) -> str:
        quote = '"' if self._in_string else ""
        self._in_string = False
        return quote

    def _closed(self, depth: int) -> str:
        return "".join("}" if isinstance(step, str) else "]" for step in reversed(self._steps[depth:]))

    def _opened(self, steps: list[Step], shared: int) -> str:
        text = ""
        for depth in range(shared, len(steps)):
            step = steps[depth]
            if depth == len(self._names):
                self._names.append(set())
                text += "{" if isinstance(step, str) else "["
            self._names[depth].add(step)
            if isinstance(step, str):
                text += json_text(step) + ":"
        return text


def _inside(text: str) -> str:
    """``text`` as it is written between the quotes of a JSON string."""
    return json_text(text)[1:-1]


def _steps(path: str) -> list[Step]:
    """The names and positions on a path; empty if it is not a path to one value."""
    steps: list[Step] = []
    at = 1
    while path.startswith("$") and at < len(path):
        found = _STEP.match(path, at)
        if found is None:
            return []
        name, place, single, double = found.groups()
        if place is not None:
            number = whole_number(place)
            if number is None:
                return []
            steps.append(number)
        elif name is not None:
            steps.append(name)
        else:
            quoted = double if double is not None else single.replace("\\'", "'").replace('"', '\\"')
            steps.append(str(read_json(scrub(f'"{quoted}"').encode())))
        at = found.end()
    return steps
