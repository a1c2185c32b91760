"""The forms of tool names, as a table, and adapting a name to a form."""

import re
from functools import lru_cache
from hashlib import blake2b
from typing import NamedTuple

from .base import NameForm


class NameShape(NamedTuple):
    """The pattern that the whole name must match, and the characters that are replaced in names that do not."""

    pattern: str
    refused: str
    """Matches a character that is not allowed anywhere in a name."""
    length: int = 64


NAME_SHAPES: dict[NameForm, NameShape] = {
    # "Expected a string that matches the pattern '^[a-zA-Z0-9_-]+$'", at most 64: OpenAI, Anthropic (128 on the
    # newest API, 64 elsewhere), Bedrock's service model, mistral-common.
    "dashes": NameShape(r"[A-Za-z0-9_-]{1,64}", r"[^A-Za-z0-9_-]"),
    # Nova fails in the middle of a stream on a hyphen: "Model produced invalid sequence as part of ToolUse" (2026).
    "underscores": NameShape(r"[A-Za-z0-9_]{1,64}", r"[^A-Za-z0-9_]"),
    # "Must start with a letter or an underscore. Must be alphameric (a-z, A-Z, 0-9), underscores (_), dots (.),
    # colons (:), or dashes (-), with a maximum length of 64." (Gemini, cline#7339). Colons were added later and older
    # endpoints refuse them (gemini-cli#7869), so they are replaced.
    "letter-first": NameShape(r"[A-Za-z_][A-Za-z0-9_.-]{0,63}", r"[^A-Za-z0-9_.-]"),
}


@lru_cache(maxsize=4096)
def valid_name(name: str, form: NameForm) -> str:
    """Return ``name`` if it has the form; otherwise a cleaned name that ends in a short hash of ``name``."""
    shape = NAME_SHAPES[form]
    if re.fullmatch(shape.pattern, name):
        return name
    digest = blake2b(name.encode("utf-8", "surrogatepass"), digest_size=4).hexdigest()
    cleaned = re.sub(shape.refused, "_", name)[: shape.length - len("t__") - len(digest)]
    candidate = f"{cleaned}_{digest}"
    return candidate if re.fullmatch(shape.pattern, candidate) else f"t_{candidate}"
