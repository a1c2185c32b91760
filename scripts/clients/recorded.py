"""Bodies that clients sent, without the words of their vendors: for cases in ``tests/cases/clients``.

Prompts, descriptions and injected texts are replaced, most tools left out. Names, shapes and options stay as they are.
"""

import json
from pathlib import Path
from typing import Any

from clients.homes import CACHE
from clients.rows import SHELLS

TEXTS = ("text", "content", "description", "instructions", "definition", "summary")
"""Fields with texts."""
OWN = ("shell", "word-", "tern", "words are said", "Reasoning:", "The end of")
"""What occurs in texts of the scripts."""
TOOLS = 3


def save(client: str, body: dict[str, Any]) -> Path:
    """Keep a body of a client, for somebody who makes a case of it."""
    path = CACHE / "bodies" / f"{client}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(anonymous(body), indent=1, ensure_ascii=False))
    return path


def anonymous(body: dict[str, Any]) -> dict[str, Any]:
    """A body with own words."""
    count = iter(range(1, 10_000))

    def walk(value: Any, name: str) -> Any:
        if isinstance(value, dict):
            return {key: walk(each, key) for key, each in value.items()}
        if isinstance(value, list):
            kept = _some(value) if name in ("tools", "functionDeclarations") else value
            return [walk(each, name) for each in kept]
        if isinstance(value, str) and name == "description":
            return "What it is for."
        if isinstance(value, str) and name in TEXTS and " " in value and not _is_own(value):
            return f"Text {next(count)}."
        return value

    found: dict[str, Any] = walk(body, "")
    return found


def _is_own(text: str) -> bool:
    return len(text) < 200 and any(word in text for word in OWN)


def _some(tools: list[Any]) -> list[Any]:
    """The shell, and one tool of each kind."""
    kept: dict[str, Any] = {}
    for tool in tools:
        name = _name(tool)
        kept.setdefault(name if name in SHELLS else str(tool.get("type")), tool)
    return list(kept.values())[:TOOLS] if kept else tools


def _name(tool: dict[str, Any]) -> str:
    inner = tool.get("function")
    return str(tool.get("name") or (inner.get("name") if isinstance(inner, dict) else ""))
