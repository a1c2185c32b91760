"""Write a session of pi: version 3 of its format, whose messages are nearly those of segue (0.74.2, 2026-11-16)."""

import hashlib

import msgspec

from ..types import AssistantMessage, Context, Message
from ..types.codec import write as write_value
from .format import Draft, Target
from .reading import iso_time
from .rows import lines_of
from .source import Object

_OWN = ("meta", "endpoint", "prefixDigest", "injected", "synthetic", "diagnostics")
_NO_COST = {"input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0, "total": 0}


def write(context: Context, target: Target) -> Draft:
    """The file of a new session."""
    began = iso_time(target.now)
    rows: list[Object] = [{"type": "session", "version": 3, "id": target.id, "timestamp": began, "cwd": target.cwd}]
    before: str | None = None
    taken: set[str] = set()
    entries = [{"type": "message", "message": _message(each, target)} for each in context.messages]
    if target.title:
        entries.append({"type": "session_info", "name": target.title})
    for number, entry in enumerate(entries):
        name = _unused(f"{target.id}/{number}", taken)
        rows.append({**entry, "id": name, "parentId": before, "timestamp": iso_time(target.now + number)})
        before = name
    folder = "--" + target.cwd.strip("/").replace("/", "-").replace("\\", "-").replace(":", "-") + "--"
    name = f"{folder}/{began.replace(':', '-').replace('.', '-')}_{target.id}.jsonl"
    return Draft(name, lines_of(rows), f"cd {target.cwd} && pi --session {{path}}")


def _unused(seed: str, taken: set[str]) -> str:
    """Eight hexadecimal digits that no entry has yet."""
    digits = hashlib.sha256(seed.encode()).hexdigest()
    name = next(digits[at : at + 8] for at in range(0, 56, 8) if digits[at : at + 8] not in taken)
    taken.add(name)
    return name


def _message(message: Message, target: Target) -> Object:
    value: Object = msgspec.json.decode(write_value(message))
    value = {name: found for name, found in value.items() if name not in _OWN}
    if isinstance(message, AssistantMessage):
        value["api"] = value.pop("protocol")
        value["usage"].setdefault("cost", _NO_COST)
        value["timestamp"] = value["timestamp"] or target.now
    else:
        value["timestamp"] = target.now
    return value
