"""Rules about images and documents, cache markers, limits, and the rest of a request."""

import re
from collections.abc import Iterator
from typing import Any

from ...dialects import AnthropicMessages
from ...rules import Rule, shared
from ...types import Model
from ..common.checks import half_characters, shown
from ..common.images import data_fault, image_size
from .media import MEDIA_TYPES
from .rules_messages import ENCODER, UNQUOTED, dialect, newest_version
from .shapes import SAMPLING
from .walk import Found, Json, kind, messages, nested, objects, of_type, text, tools, turns

OPTIONS = "wire/anthropic_messages/options.py"
MOST_MARKERS = 4


# -- images and documents --------------------------------------------------------------------------------------------


LARGEST = 10_485_760
"""The most bytes of an image on any host: Anthropic's own API accepts 10 MB (documentation, Vision, 2026-10)."""


_ADDRESS = re.compile(r"https?://[^\s/]", re.IGNORECASE).match


def _images(body: Json, model: Model | None) -> Found:
    known = dialect(model) if model is not None else None
    found = list(of_type(body, "image"))
    most = known.max_images if known is not None else 600
    if most is not None and len(found) > most:
        yield "messages", f"{len(found)} images; at most {most} are allowed"
    for path, block in found:
        source = block.get("source")
        if not isinstance(source, dict) or source.get("type") not in ("base64", "url", "file"):
            yield f"{path}.source", "the source of an image must be base64, url or file"
        elif source["type"] == "base64":
            yield from _base64(f"{path}.source", source, known.max_image_bytes if known is not None else LARGEST)
        else:
            yield from _address(f"{path}.source", source)


def _base64(path: str, source: Json, most: int | None) -> Found:
    label, data = source.get("media_type"), text(source, "data")
    if label not in MEDIA_TYPES:
        yield f"{path}.media_type", f"{shown(label)!r} is not one of {', '.join(MEDIA_TYPES)}"
    elif fault := data_fault(data, label):
        yield f"{path}.data", fault
    size = len(data) * 3 // 4
    if most is not None and size > most:
        yield f"{path}.data", f"{size} bytes; at most {most} are allowed"


def _address(path: str, source: Json) -> Found:
    if source.get("type") == "url" and not _ADDRESS(text(source, "url")):
        yield f"{path}.url", "a url must begin with https:// or http://"
    elif source.get("type") == "file" and not text(source, "file_id"):
        yield f"{path}.file_id", "a file must have an id"


MANY = 20
"""Requests with more images than this have a lower limit of pixels."""


def _pixels(body: Json, model: Model | None) -> Found:
    known = dialect(model) if model is not None else AnthropicMessages()
    found = list(of_type(body, "image"))
    limit = known.max_image_pixels_of_many if len(found) > MANY else known.max_image_pixels
    for path, block in found:
        source = block.get("source")
        size = image_size(text(source, "data")) if isinstance(source, dict) and kind(source) == "base64" else None
        if limit is not None and size is not None and max(size) > limit:
            yield f"{path}.source.data", f"{size[0]} x {size[1]} pixels; at most {limit} are allowed in this request"


def _document_sources(body: Json, model: Model | None) -> Found:
    for path, block in of_type(body, "container_upload"):
        if not text(block, "file_id"):
            yield f"{path}.file_id", "a file must have an id"
    for path, block in of_type(body, "document"):
        source = block.get("source")
        if not isinstance(source, dict):
            continue
        where, name = f"{path}.source", kind(source)
        if name == "base64" and (fault := data_fault(text(source, "data"), "application/pdf")):
            yield f"{where}.data", fault
        elif name == "text" and not text(source, "data").strip():
            yield f"{where}.data", "a document must not be blank"
        elif name == "content" and not (text(source, "content").strip() or source.get("content")):
            yield f"{where}.content", "a document must not be empty"
        elif name in ("url", "file"):
            yield from _address(where, source)


def _cited(block: Json) -> bool:
    citations = block.get("citations")
    return isinstance(citations, dict) and citations.get("enabled") is True


def _citations(body: Json, model: Model | None) -> Found:
    """Check citations. Documents that the web fetch tool found have citations of their own."""
    output = body.get("output_config")
    for name in ("document", "search_result"):
        found = [(path, _cited(block)) for path, block in of_type(body, name)]
        cited = [path for path, enabled in found if enabled]
        if cited and len(cited) < len(found):
            yield cited[0], f"citations must be enabled for all blocks of type {name}, or for none"
        if cited and isinstance(output, dict) and output.get("format") is not None:
            yield cited[0], "citations are enabled, and the answer must be JSON"


def _prefilled_json(body: Json, model: Model | None) -> Found:
    output, last = body.get("output_config"), turns(body)[-1:]
    wanted = isinstance(output, dict) and output.get("format") is not None
    if (
        wanted
        and last
        and last[0].role == "assistant"
        and [kind(block) for _, block in last[0].blocks][-1:] == ["text"]
    ):
        yield last[0].path, "an answer to be continued, and the answer must be JSON"


def _documents(body: Json, model: Model | None) -> Found:
    for path, message in messages(body):
        found = [(where, kind(block)) for where, block in objects(message.get("content"), f"{path}.content")]
        documents = [where for where, name in found if name == "document"]
        if documents and message.get("role") == "user" and "text" not in [name for _, name in found]:
            yield documents[0], "a document in a message without a text"


# -- cache markers ---------------------------------------------------------------------------------------------------


@shared
def _marked(body: Json) -> list[tuple[str, Json, Any]]:
    """Path, holder and marker of everything that has a cache marker, in the order in which the API reads them."""
    return [
        (f"{path}.cache_control".lstrip("."), holder, holder["cache_control"])
        for path, holder in _holders(body)
        if holder.get("cache_control") is not None
    ]


def _holders(body: Json) -> Iterator[tuple[str, Json]]:
    yield from tools(body)
    yield from objects(body.get("system"), "system")
    for path, _, block in nested(body):
        yield path, block
    yield "", body


def _few_markers(body: Json, model: Model | None) -> Found:
    found = [path for path, _, _ in _marked(body)]
    if len(found) > MOST_MARKERS:
        yield found[MOST_MARKERS], f"{len(found)} cache markers; at most {MOST_MARKERS} are allowed"


def _good_markers(body: Json, model: Model | None) -> Found:
    short = False
    for path, holder, marker in _marked(body):
        ttl = marker.get("ttl", "5m") if isinstance(marker, dict) else None
        if ttl not in ("5m", "1h") or marker.get("type") != "ephemeral":
            yield path, "a marker must be of type ephemeral, with a ttl of 5m or 1h"
        if kind(holder) in ("thinking", "redacted_thinking"):
            yield path, "thinking cannot be marked"
        if kind(holder) == "text" and holder.get("text") == "":
            yield path, "an empty text cannot be marked"
        if ttl == "1h" and short and holder is not body:
            yield path, "a marker of 1h must not come after one of 5m"
        short = short or ttl == "5m"


# -- the rest --------------------------------------------------------------------------------------------------------


def _sampling(body: Json, model: Model | None) -> Found:
    """Check sampling options of models that accept only the default temperature, and this on the old API version."""
    for name in SAMPLING:
        if name in body and (name != "temperature" or body[name] != 1):
            yield name, "a sampling option, which newer models refuse"


def _sampling_of_version(body: Json, model: Model | None) -> Found:
    """Check sampling options. A body with ``anthropic_version`` is for Bedrock or Vertex, on the old API version."""
    if "anthropic_version" not in body:
        yield from ((name, "removed in API version 2026-10-21") for name in SAMPLING if name in body)


def _sampling_while_thinking(body: Json, model: Model | None) -> Found:
    thinking, top_p = body.get("thinking"), body.get("top_p")
    if not isinstance(thinking, dict) or kind(thinking) not in ("enabled", "adaptive"):
        return
    if body.get("temperature") not in (None, 1):
        yield "temperature", "only 1 is allowed while the model thinks"
    if body.get("top_k") is not None:
        yield "top_k", "not allowed while the model thinks"
    if isinstance(top_p, int | float) and top_p < 0.95:
        yield "top_p", "at least 0.95 while the model thinks"


def _limit(body: Json, model: Model | None) -> Found:
    value = body.get("max_tokens")
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        yield "max_tokens", "a number of tokens is required"
    elif model is not None and value > model.max_tokens:
        yield "max_tokens", f"{value} is more than the {model.max_tokens} that the model can generate"


def _stops(body: Json, model: Model | None) -> Found:
    stops = body.get("stop_sequences")
    for at, stop in enumerate(stops if isinstance(stops, list) else []):
        if isinstance(stop, str) and not stop.strip():
            yield f"stop_sequences[{at}]", "a blank stop sequence"


def _half_characters(body: Json, model: Model | None) -> Found:
    return half_characters(body)


REQUEST: tuple[Rule, ...] = (
    Rule(
        number="ANT-44",
        title="Images are JPEG, PNG, GIF or WebP, correctly labelled base64 or an address; their number is limited.",
        answers="image.source.base64: Image does not match the provided media type / invalid base64 data / "
        "image cannot be empty",
        source="claude-code#15746 and #12750, 2025-12; anthropic-sdk-typescript#603; gajae-code#2813, 2026-07; SDK "
        "anthropic 2.8.0, 2026-11",
        prevented_by="wire/anthropic_messages/media.py",
        check=_images,
        by_model=True,
    ),
    Rule(
        number="ANT-44b",
        title="An image has at most 8000 pixels on a side, and 2000 in a request with more than 20 images.",
        answers="At least one of the image dimensions exceed max allowed size: 8000 pixels / for many-image requests: "
        "2000 pixels",
        source="claude-code#46656; charmbracelet/crush#3810, 2026-09",
        prevented_by="render/preview.py",
        check=_pixels,
        by_model=True,
    ),
    Rule(
        number="ANT-45",
        title="A message with a document also has a text (certain on Bedrock).",
        answers="A text block must be included when using documents",
        source="source of bifrost, 2026",
        prevented_by=ENCODER,
        check=_documents,
        severity="warning",
    ),
    Rule(
        number="ANT-45b",
        title="A document has data of the type that its label states, or an address.",
        answers="document.source.base64: PDF cannot be empty / invalid base64 data",
        source="as for images (ANT-44); SDK anthropic 2.8.0 (DocumentBlockParam), 2026-11",
        prevented_by=ENCODER,
        check=_document_sources,
    ),
    Rule(
        number="ANT-45c",
        title="Citations are enabled for all documents or for none, and not for JSON answers.",
        answers=UNQUOTED,
        source="documentation, Citations and Structured outputs, 2026-11",
        prevented_by=ENCODER,
        check=_citations,
    ),
    Rule(
        number="ANT-61",
        title="An answer in JSON is not begun by a prefill.",
        answers=UNQUOTED,
        source="documentation, Structured outputs, 2026-11",
        prevented_by=OPTIONS,
        check=_prefilled_json,
    ),
    Rule(
        number="ANT-46",
        title="There are at most four cache markers.",
        answers="A maximum of 4 blocks with cache_control may be provided.",
        source="lisette#34; source of bifrost, 2026",
        prevented_by=OPTIONS,
        check=_few_markers,
    ),
    Rule(
        number="ANT-47",
        title="Cache markers are on blocks that accept them, longer lifetimes first.",
        answers="a ttl='1h' cache_control block must not come after a ttl='5m' cache_control block",
        source="SDK anthropic 2.8.0, 2026-11",
        prevented_by=OPTIONS,
        check=_good_markers,
    ),
    Rule(
        number="ANT-48",
        title="Newer models have no top_p or top_k, and no temperature other than 1.",
        answers="temperature: Extra inputs are not permitted",
        source="documentation, Thinking, 'Sampling parameters', 2026-11; MinusPod#926",
        prevented_by=OPTIONS,
        check=_sampling,
        only=lambda model: not dialect(model).sampling,
    ),
    Rule(
        number="ANT-48b",
        title="From API version 2026-10-21 on, which is a header, there is no temperature, top_p or top_k.",
        answers="temperature: Extra inputs are not permitted",
        source="documentation, Migrating to API version 2026-10-21; MinusPod#926",
        prevented_by=OPTIONS,
        check=_sampling_of_version,
        only=newest_version,
        in_header=True,
    ),
    Rule(
        number="ANT-48c",
        title="While the model thinks, there is no top_k, the temperature is 1, and top_p is at least 0.95.",
        answers="`temperature` may only be set to 1 when thinking is enabled.",
        source="documentation, Extended thinking, 'Feature compatibility', 2026-11",
        prevented_by=OPTIONS,
        check=_sampling_while_thinking,
    ),
    Rule(
        number="ANT-49",
        title="max_tokens is required and is at most the model's limit.",
        answers="max_tokens: Field required",
        source="SDK anthropic 2.8.0, 2026-11",
        prevented_by=OPTIONS,
        check=_limit,
        by_model=True,
    ),
    Rule(
        number="ANT-51",
        title="There are no half characters.",
        answers="The request body is not valid JSON: no low surrogate in string",
        source="seen in public source code, 2026",
        prevented_by="projection/passes/text.py",
        check=_half_characters,
    ),
    Rule(
        number="ANT-56",
        title="A stop sequence is not blank.",
        answers="stop_sequences: each stop sequence must contain non-whitespace",
        source="documentation; seen in public source code, 2026",
        prevented_by=OPTIONS,
        check=_stops,
    ),
)
