"""Turns in the form of ShareGPT (``from`` and ``value``) as messages of a chat completion.

Calls have no ids in this form: they are numbered, and results answer the calls before them in order. Calls inside the
text of an answer (``<tool_call>…</tool_call>``, as the Hermes datasets have them) become calls, and ``<tool_response>``
results.
Seen 2026-11: LLaMA-Factory, `data/README.md` (function_call, observation, tools as text); NousResearch's
hermes-function-calling-v1 (tags inside gpt and tool turns).
"""

import re
from collections import deque
from typing import Any

from ..errors import FormatError
from ..types.codec import UNREADABLE, json_text, read_json

Object = dict[str, Any]

ROLES = {
    "system": "system",
    "human": "user",
    "user": "user",
    "gpt": "assistant",
    "assistant": "assistant",
    "chatgpt": "assistant",
    "bing": "assistant",
    "bard": "assistant",
    "model": "assistant",
    "function_call": "call",
    "tool_call": "call",
    "observation": "result",
    "function_response": "result",
    "function": "result",
    "tool": "result",
}
"""Who speaks, by the word in ``from``."""
_CALL = re.compile(r"<tool_call>\s*(.*?)\s*</tool_call>", re.DOTALL)
_RESULT = re.compile(r"<tool_response>\s*(.*?)\s*</tool_response>", re.DOTALL)


def is_sharegpt(turns: list[Any]) -> bool:
    """Whether a list of turns has this form."""
    return any(isinstance(turn, dict) and "from" in turn and "role" not in turn for turn in turns)


def as_messages(turns: list[Any]) -> list[Object]:
    """The turns as messages of a chat completion."""
    reader = _Turns()
    for at, turn in enumerate(turns):
        speaker = turn.get("from") if isinstance(turn, dict) else None
        if speaker not in ROLES:
            raise FormatError(f"a turn is from {speaker!r}, which is not one of {', '.join(ROLES)}", path=f"[{at}]")
        value = turn.get("value")
        if value is not None and not isinstance(value, str):
            value = json_text(value)
        reader.add(ROLES[speaker], value or "", at)
    return reader.messages


class _Turns:
    """The messages so far, and the ids of the calls that wait for their results."""

    def __init__(self) -> None:
        self.messages: list[Object] = []
        self._waiting: deque[str] = deque()
        self._count = 0

    def add(self, role: str, text: str, at: int) -> None:
        if role == "call":
            self._answer("", [text], at)
        elif role == "result":
            for result in _RESULT.findall(text) or [text]:
                # A result without a call keeps an id of its own, so that it is seen to be one.
                call_id = self._waiting.popleft() if self._waiting else f"none_{at}"
                self.messages.append({"role": "tool", "tool_call_id": call_id, "content": result})
        elif role == "assistant" and (calls := _CALL.findall(text)):
            self._answer(_CALL.sub("", text).strip(), calls, at)
        else:
            self.messages.append({"role": role, "content": text})

    def _answer(self, text: str, calls: list[str], at: int) -> None:
        self._waiting.clear()
        made = [made for call in calls for made in self._calls(call, at)]
        self._waiting.extend(call["id"] for call in made)
        self.messages.append({"role": "assistant", "content": text, "tool_calls": made})

    def _calls(self, text: str, at: int) -> list[Object]:
        try:
            parsed = read_json(text.encode("utf-8", "replace"))
        except UNREADABLE:
            raise FormatError("a call is not JSON", path=f"[{at}].value") from None
        return [self._call(call, at) for call in (parsed if isinstance(parsed, list) else [parsed])]

    def _call(self, call: Any, at: int) -> Object:
        if not isinstance(call, dict) or not isinstance(call.get("name"), str):
            raise FormatError("a call is not an object with a name", path=f"[{at}].value")
        self._count += 1
        arguments = call.get("arguments", call.get("parameters", {}))
        written = arguments if isinstance(arguments, str) else json_text(arguments)
        return {
            "id": f"call_{self._count}",
            "type": "function",
            "function": {"name": call["name"], "arguments": written},
        }
