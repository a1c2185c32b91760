"""The options that a request body asks for. A value that cannot be read as an option is reported, not refused."""

from collections.abc import Mapping, Sequence
from math import log
from typing import Any, get_args

from msgspec.structs import replace

from ...types import ReasoningLevel, ResponseFormat
from .options import BUDGETS

_WORDS: dict[str, ReasoningLevel] = {level: level for level in get_args(ReasoningLevel)} | {
    "none": "off",
    "default": "medium",  # Qwen on Groq, which has only this level
}
"""The level of reasoning for each word of a protocol."""


class Asked:
    """Options as they are read, by the names of ``Options``, and what could not be read: paths and reasons."""

    def __init__(self) -> None:
        self.options: dict[str, Any] = {}
        self.left: list[tuple[str, str]] = []

    def leave(self, path: str, why: str) -> None:
        """Report a field."""
        self.left.append((path, why))

    def set(self, option: str, value: Any) -> None:
        """Set an option."""
        self.options[option] = value

    def number(self, option: str, value: Any, path: str) -> None:
        """Read a number."""
        if value is None:
            return
        if isinstance(value, bool) or not isinstance(value, int | float):
            self.leave(path, "it is not a number")
        else:
            self.set(option, value)

    def limit(self, value: Any, path: str) -> None:
        """Read ``max_tokens``."""
        if value is None:
            return
        if isinstance(value, bool) or not isinstance(value, int) or value < 1:
            self.leave(path, "it is not a number of tokens")
        else:
            self.set("max_tokens", value)

    def flag(self, option: str, value: Any, path: str) -> None:
        """Read a flag."""
        if value is None:
            return
        if isinstance(value, bool):
            self.set(option, value)
        else:
            self.leave(path, "it is not true or false")

    def cache_key(self, value: Any, path: str) -> None:
        """Read the key of a cache; an empty one says nothing."""
        if isinstance(value, str):
            self.set("cache_key", value or None)
        elif value is not None:
            self.leave(path, "it is not a text")

    def stops(self, value: Any, path: str) -> None:
        """Read stop sequences: a text or a list of texts."""
        texts = [value] if isinstance(value, str) else value
        if texts is None:
            return
        if isinstance(texts, Sequence) and all(isinstance(text, str) for text in texts):
            self.set("stop", tuple(texts))
        else:
            self.leave(path, "it is not a list of texts")

    def effort(self, value: Any, path: str) -> None:
        """Read a level of reasoning by its word, in upper or lower case."""
        if value is None:
            return
        level = _WORDS.get(value.lower()) if isinstance(value, str) else None
        if level is None:
            self.leave(path, f"segue has no level {value!r}" if isinstance(value, str) else "it is not a level")
        else:
            self.set("reasoning", level)

    def budget(self, value: Any, path: str, budgets: Mapping[ReasoningLevel, int] = BUDGETS) -> None:
        """Read a number of tokens for thinking as the nearest level."""
        if value is None:
            return
        if isinstance(value, bool) or not isinstance(value, int):
            self.leave(path, "it is not a number of tokens")
        elif value < 0:  # Gemini: -1 lets the model decide
            self.set("reasoning", "medium")
        elif value == 0:
            self.set("reasoning", "off")
        else:
            self.set("reasoning", min(budgets, key=lambda level: abs(log(value / budgets[level]))))

    def metadata(self, value: Any, path: str) -> None:
        """Read pairs of texts."""
        for name, text in value.items() if isinstance(value, dict) else ():
            if isinstance(text, str):
                self.options.setdefault("metadata", {})[name] = text
            elif text is not None:
                self.leave(f"{path}.{name}", "it is not a text")

    def user(self, value: Any, path: str) -> None:
        """Read the id of the user."""
        self.metadata({"user_id": value}, path)

    def schema(self, value: Any, path: str, name: Any = None) -> None:
        """Read the JSON schema of the answer, and its name."""
        try:
            if not isinstance(value, dict):
                raise TypeError("it is not a JSON schema")
            form = ResponseFormat.of(value)
        except (TypeError, ValueError) as error:
            self.leave(path, str(error).removeprefix("option response_format "))
        else:
            self.set("response_format", replace(form, name=name) if isinstance(name, str) and name else form)

    def cache(self, long: bool) -> None:
        """Note a request for caching; a long one counts more than a short one."""
        if long or "cache" not in self.options:
            self.set("cache", "long" if long else "short")

    def tool(self, name: Any, path: str) -> None:
        """Read the name of the tool that must be called."""
        if isinstance(name, str) and name:
            self.set("tool_choice", name)
        else:
            self.leave(path, "it is not the name of a tool")

    def mode(self, value: Any, path: str, modes: Mapping[str, str]) -> None:
        """Read a choice of tools by its word."""
        found = modes.get(value) if isinstance(value, str) else None
        if found is None:
            self.leave(path, f"segue has no choice {value!r}" if isinstance(value, str) else "it is not a choice")
        else:
            self.set("tool_choice", found)


def as_dict(value: Any) -> dict[str, Any]:
    """An object, or an empty one in place of anything else."""
    return value if isinstance(value, dict) else {}
