"""Parts and metadata of an answer that only the API can read back: what a person would read of them, and sending them
back as they came."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import msgspec

from ...types import AssistantContent, ProviderContent
from ..common.stored import accepted_by
from .shapes import SOURCES, get, is_base64, kinds

_LONGEST = 2_000
"""Characters of a text; the part itself is kept whole."""
_is_valid = accepted_by(
    Path(__file__).with_name("shape.json"), lambda part: {"contents": [{"role": "model", "parts": [part]}]}
)


def kind_of_part(part: Mapping[str, Any]) -> str:
    """The name of what a part holds; of an unknown part, its first field."""
    found = kinds(part)
    return found[0] if found else next((name for name in part if name not in _EVERYWHERE), "")


_EVERYWHERE = frozenset({"thought", "thoughtSignature", "thought_signature"})


def is_kept(part: Mapping[str, Any]) -> bool:
    """Whether only the API can read a part of an answer back: it holds no text and no call."""
    return kinds(part) not in ([], ["text"], ["functionCall"]) or (not kinds(part) and bool(part.keys() - _EVERYWHERE))


def readable(part: Mapping[str, Any]) -> str:
    """The text of a part."""
    for name, field in (("executableCode", "code"), ("codeExecutionResult", "output"), ("fileData", "fileUri")):
        text = get(get(part, name), field)
        if isinstance(text, str):
            return text[:_LONGEST]
    mime_type = get(get(part, "inlineData"), "mimeType")
    return mime_type if isinstance(mime_type, str) else ""


def readable_sources(metadata: Any) -> str:
    """The text of metadata: the searches, and the pages with their titles."""
    queries = get(metadata, "webSearchQueries")
    asked = [each for each in queries if isinstance(each, str)] if isinstance(queries, list) else []
    return "\n".join(dict.fromkeys([*asked, *_pages(metadata)]))[:_LONGEST]


def _pages(value: Any) -> Iterator[str]:
    """Every address in the metadata, with its title if it has one."""
    if isinstance(value, list):
        for each in value:
            yield from _pages(each)
    elif isinstance(value, dict):
        title = value.get("title")
        for name in ("uri", "retrievedUrl"):
            if isinstance(value.get(name), str):
                yield f"{title} ({value[name]})" if isinstance(title, str) and title else value[name]
        yield from _pages([inner for inner in value.values() if isinstance(inner, dict | list)])


def sent_back(block: ProviderContent) -> dict[str, Any] | None:
    """The part as it came, or ``None`` if the API would refuse it."""
    raw = bytes(block.raw)
    if not raw.startswith(b"{") or not _is_valid(raw):
        return None
    part: dict[str, Any] = msgspec.json.decode(raw)
    signature = get(part, "thoughtSignature")
    if kinds(part) != [block.kind] or not (signature is None or is_base64(signature)):
        return None
    data = get(get(part, "inlineData"), "data")
    return part if block.kind != "inlineData" or (isinstance(data, str) and data and is_base64(data)) else None


def is_source(block: ProviderContent) -> bool:
    """Whether it is metadata of a candidate."""
    return block.kind in SOURCES


def paired(content: Sequence[AssistantContent]) -> set[int]:
    """Code with its output directly after it, and those outputs, by their numbers among the blocks of the provider.
    Neither goes back alone: no source states that the API accepts it."""
    found: set[int] = set()
    number = -1
    for block, after in pairwise((*content, None)):
        if type(block) is not ProviderContent:
            continue
        number += 1
        if (
            type(after) is ProviderContent
            and (block.kind, after.kind) == ("executableCode", "codeExecutionResult")
            and sent_back(block) is not None
            and sent_back(after) is not None
        ):
            found |= {number, number + 1}
    return found
