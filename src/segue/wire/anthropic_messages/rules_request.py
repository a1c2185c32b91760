"""Rules about images and documents, cache markers, limits, and the rest of a request."""

from collections.abc import Iterator
from typing import Any

from ...rules import Rule
from ...types import Model
from .media import MEDIA_TYPES, kind_of
from .rules_messages import ENCODER, dialect
from .shapes import SAMPLING
from .walk import Found, Json, kind, messages, nested, objects, of_type, text, tools

OPTIONS = "wire/anthropic_messages/options.py"
MOST_MARKERS = 4


# -- images and documents --------------------------------------------------------------------------------------------


def _images(body: Json, model: Model | None) -> Found:
    known = dialect(model) if model is not None else None
    found = list(of_type(body, "image"))
    most = known.max_images if known is not None else 600
    if most is not None and len(found) > most:
        yield "messages", f"{len(found)} images; at most {most} are allowed"
    for path, block in found:
        source = block.get("source")
        if not isinstance(source, dict) or source.get("type") not in ("base64", "url", "file"):
            yield f"{path}.source", "the source of an image is base64, url or file"
        elif source["type"] == "base64":
            yield from _base64(f"{path}.source", source, known.max_image_bytes if known is not None else None)


def _base64(path: str, source: Json, most: int | None) -> Found:
    label, data = source.get("media_type"), text(source, "data")
    if label not in MEDIA_TYPES:
        yield f"{path}.media_type", f"{label!r} is none of {', '.join(MEDIA_TYPES)}"
    elif kind_of(data) not in (None, label):
        yield f"{path}.data", f"the image is no {label}"
    size = len(data) * 3 // 4
    if most is not None and size > most:
        yield f"{path}.data", f"{size} bytes; at most {most} are allowed"
    if not data:
        yield f"{path}.data", "an image has data"


def _documents(body: Json, model: Model | None) -> Found:
    for path, message in messages(body):
        found = [(where, kind(block)) for where, block in objects(message.get("content"), f"{path}.content")]
        documents = [where for where, name in found if name == "document"]
        if documents and message.get("role") == "user" and "text" not in [name for _, name in found]:
            yield documents[0], ""


# -- cache markers ---------------------------------------------------------------------------------------------------


def _marked(body: Json) -> Iterator[tuple[str, Json, Any]]:
    """Path, holder and marker of everything that is marked, in the order in which the API reads."""
    holders = [
        *tools(body),
        *objects(body.get("system"), "system"),
        *((path, block) for path, _, block in nested(body)),
    ]
    for path, holder in [*holders, ("", body)]:
        if holder.get("cache_control") is not None:
            yield f"{path}.cache_control".lstrip("."), holder, holder["cache_control"]


def _few_markers(body: Json, model: Model | None) -> Found:
    found = [path for path, _, _ in _marked(body)]
    if len(found) > MOST_MARKERS:
        yield found[MOST_MARKERS], f"{len(found)} cache markers; at most {MOST_MARKERS} are allowed"


def _good_markers(body: Json, model: Model | None) -> Found:
    short = False
    for path, holder, marker in _marked(body):
        ttl = marker.get("ttl", "5m") if isinstance(marker, dict) else None
        if ttl not in ("5m", "1h") or marker.get("type") != "ephemeral":
            yield path, "a marker is of type ephemeral, with a ttl of 5m or 1h"
        if kind(holder) in ("thinking", "redacted_thinking"):
            yield path, "thinking cannot be marked"
        if kind(holder) == "text" and holder.get("text") == "":
            yield path, "an empty text cannot be marked"
        if ttl == "1h" and short and holder is not body:
            yield path, "a marker of 1h must not come after one of 5m"
        short = short or ttl == "5m"


# -- the rest --------------------------------------------------------------------------------------------------------


def _sampling(body: Json, model: Model | None) -> Found:
    for name in SAMPLING:
        if name in body:
            yield name, "gone from API version 2026-10-21 on, and refused by newer models on the old one"


def _limit(body: Json, model: Model | None) -> Found:
    value = body.get("max_tokens")
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        yield "max_tokens", "a number of tokens is required"
    elif model is not None and value > model.max_tokens:
        yield "max_tokens", f"{value} is more than the {model.max_tokens} that the model can put out"


def _half_characters(body: Json, model: Model | None) -> Found:
    waiting: list[tuple[str, Any]] = [("", body)]
    while waiting:
        path, value = waiting.pop()
        if isinstance(value, str):
            if _is_torn(value):
                yield path, ""
        elif isinstance(value, dict):
            for name, below in reversed(value.items()):
                where = f"{path}.{name}".lstrip(".")
                if isinstance(name, str) and _is_torn(name):
                    yield path, "half a character in a name"
                elif isinstance(below, str | dict | list):
                    waiting.append((where, below))
        elif isinstance(value, list):
            waiting += [(f"{path}[{at}]", item) for at, item in reversed(list(enumerate(value)))]


def _is_torn(value: str) -> bool:
    if value.isascii():
        return False
    try:
        value.encode()
    except UnicodeEncodeError:
        return True
    return False


REQUEST: tuple[Rule, ...] = (
    Rule(
        number="ANT-44",
        title="Images are JPEG, PNG, GIF or WebP, as they say they are, and neither too many nor too large.",
        answers="image.source.base64: Image does not match the provided media type",
        source="SDK anthropic 2.8.0, 2026-11; claude-code#46656",
        prevented_by="wire/anthropic_messages/media.py",
        check=_images,
    ),
    Rule(
        number="ANT-45",
        title="Beside a document stands a text; certain on Bedrock.",
        answers="A text block must be included when using documents",
        source="source of bifrost, 2026",
        prevented_by=ENCODER,
        check=_documents,
        severity="warning",
    ),
    Rule(
        number="ANT-46",
        title="At most four cache markers.",
        answers="A maximum of 4 blocks with cache_control may be provided.",
        source="lisette#34; source of bifrost, 2026",
        prevented_by=OPTIONS,
        check=_few_markers,
    ),
    Rule(
        number="ANT-47",
        title="Cache markers stand on blocks that can be marked, the longer-lived first.",
        answers="a ttl='1h' cache_control block must not come after a ttl='5m' cache_control block",
        source="SDK anthropic 2.8.0, 2026-11",
        prevented_by=OPTIONS,
        check=_good_markers,
    ),
    Rule(
        number="ANT-48",
        title="No temperature, top_p or top_k.",
        answers="temperature: Extra inputs are not permitted",
        source="documentation, Migrating to API version 2026-10-21; MinusPod#926",
        prevented_by=OPTIONS,
        check=_sampling,
    ),
    Rule(
        number="ANT-49",
        title="max_tokens is required, and at most what the model can put out.",
        answers="max_tokens: Field required",
        source="SDK anthropic 2.8.0, 2026-11",
        prevented_by=OPTIONS,
        check=_limit,
    ),
    Rule(
        number="ANT-51",
        title="No half characters.",
        answers="The request body is not valid JSON: no low surrogate in string",
        source="seen in public source code, 2026",
        prevented_by="projection/passes/text.py",
        check=_half_characters,
    ),
)
