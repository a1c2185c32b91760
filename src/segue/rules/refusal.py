"""A provider's refusal as a value, read from the body of its error, and the field of a request that it names."""

import re
from collections.abc import Mapping
from typing import Any

from msgspec import Struct

from ..types.secret import NO_SECRETS, Secrets
from ..types.text import whole_number

# fmt: off
FRAME = frozenset({
    "messages", "contents", "input", "system", "systemInstruction", "instructions", "tools", "toolConfig", "model",
})
"""Fields at the top of a body that hold the conversation. They are never left out."""

CONTENT = FRAME | {
    "content", "parts", "text", "role", "type", "id", "call_id", "tool_call_id", "tool_use_id", "toolUseId", "name",
    "arguments", "args", "input_schema", "inputSchema", "parameters", "function", "functions", "output", "response",
    "image_url", "image", "source", "data", "inlineData", "functionCall", "functionResponse", "functionDeclarations",
    "toolUse", "toolResult", "toolSpec", "thinking", "signature", "summary", "encrypted_content", "description",
    "url", "file_data", "file_id", "document", "status", "json", "bytes", "reasoningContent",
}
"""Fields further down that hold the conversation or name its parts. They are never left out either."""
# fmt: on

# fmt: off
_OPAQUE = frozenset({
    "arguments", "args", "input", "input_schema", "inputSchema", "parameters", "parametersJsonSchema", "metadata",
    "labels", "requestMetadata", "schema",
})
# fmt: on
"""Fields whose value is the user's own JSON, except for the list of a request that has the same name."""
_STEP = re.compile(r"[^.\[\]'\"]+")
_HUMP = re.compile(r"_([a-z0-9])")


class Refused(Struct, frozen=True):
    """The answer of a provider that refused a request: its status, its text, and ``code`` and ``param`` if it names
    them."""

    status: int
    text: str
    code: str | None = None
    param: str | None = None

    @classmethod
    def read(cls, status: int, error: Any, text: str, secrets: Secrets = NO_SECRETS) -> "Refused":
        """Read the body of an error, which may be any JSON; ``text`` is its text as a person reads it. What was read is
        reported and remembered, so it does not have the secrets, which a provider may repeat anywhere.
        """
        found = error[0] if isinstance(error, list) and error else error
        while isinstance(found, Mapping) and isinstance(found.get("error"), Mapping):
            found = found["error"]
        if not isinstance(found, Mapping):
            return cls(status, secrets.shown(text))
        lines = [text, *_faults(found.get("detail")), *_faults(found.get("message"))]
        code, param = (_text(found.get(name), secrets) for name in ("code", "param"))
        return cls(status, secrets.shown("\n".join(lines)), code, param)


def _text(value: Any, secrets: Secrets) -> str | None:
    return secrets.shown(value) if isinstance(value, str) and value else None


def _faults(details: Any) -> list[str]:
    """The faults that FastAPI lists, in the form ``path: text``: ``{"detail": [{"loc": ["body", "x"], "msg": …}]}``."""
    if isinstance(details, Mapping):  # Mistral: {"message": {"detail": […]}}
        details = details.get("detail")
    lines: list[str] = []
    for each in details if isinstance(details, list) else []:
        place = each.get("loc") if isinstance(each, Mapping) else None
        if isinstance(place, list):
            steps = [str(step) for step in (place[1:] if place[:1] == ["body"] else place)]
            lines.append(f"{'.'.join(steps)}: {each.get('msg', '')}")
    return lines


def body_path(body: Any, named: str) -> tuple[str, ...] | None:
    """The path of a field that an error names, as the body has it, with ``*`` for every index; ``None`` if there is no
    such field, or if it is inside JSON of the user's.

    Validators add the names of alternatives to a path (``tools.0.custom.strict``), which the body does not have, and
    Google writes names in snake case.
    """
    steps = _STEP.findall(named)
    path: list[str] = []
    for at, step in enumerate(steps):
        if isinstance(body, list) and (place := whole_number(step)) is not None:
            if place >= len(body):
                return None
            body = body[place]
            path.append("*")
        elif isinstance(body, Mapping) and (name := _spelled(body, step)) is not None:
            if at < len(steps) - 1 and not isinstance(body[name], Mapping | list):
                continue  # the name of an alternative, which is also that of a field
            path.append(name)
            body = body[name]
            if at < len(steps) - 1 and name in _OPAQUE and not isinstance(body, list):
                return None
        elif at == len(steps) - 1:
            return None
    return tuple(path) if path and path[-1] != "*" else None


def _spelled(body: Mapping[str, Any], step: str) -> str | None:
    """The field of this name, in either spelling."""
    camel = _HUMP.sub(lambda match: match[1].upper(), step)
    return next((name for name in (step, camel) if name in body), None)
