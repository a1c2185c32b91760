"""An image of a kind that a target does not read, or that is no base64, becomes a text, and the report names it."""

import pytest

import segue
from segue.types import (
    AssistantMessage,
    Context,
    ImageContent,
    Message,
    TextContent,
    ToolCall,
    ToolResultMessage,
    UserMessage,
)

TARGETS = {
    # A model of each protocol, and the media types of images that it reads, as the providers document them.
    "anthropic/claude-opus-4-8": ("png", "jpeg", "gif", "webp"),
    "openai/gpt-5.6-terra": ("png", "jpeg", "gif", "webp"),
    "google/gemini-3-pro-preview": ("png", "jpeg", "webp", "heic", "heif"),
    "google-vertex/gemini-2.5-flash": ("png", "jpeg", "webp", "heic", "heif"),
    "mistral/mistral-large-latest": ("png", "jpeg", "gif", "webp"),
    "amazon-bedrock/us.amazon.nova-pro-v1:0": ("png", "jpeg", "gif", "webp"),
    "moonshot/kimi-k2.5": ("png", "jpeg", "gif", "webp"),
}
LABELS = ("png", "jpeg", "gif", "webp", "heic", "heif", "tiff", "bmp", "svg+xml", "avif", "nobody-knows")
DAMAGED = [
    ImageContent("no base64!", "image/png"),
    ImageContent("aGVs\nbG8=", "image/png"),
    ImageContent("aGVsbG8-_w==", "image/png"),
    ImageContent(b"%PDF-1.4", "image/png"),
    ImageContent("aGVsbG8=", "nonsense"),
]


def sent(ref: str, image: ImageContent, in_result: bool) -> tuple[bool, set[str]]:
    """Whether the image is in the body, which breaks no rule; and the codes of the report."""
    model = segue.get_model(ref)
    call = AssistantMessage([ToolCall("toolu_1", "look", {})])
    result = ToolResultMessage("toolu_1", "look", [TextContent("here"), image])
    shown: list[Message] = (
        [UserMessage("Look."), call, result] if in_result else [UserMessage([TextContent("Look."), image])]
    )
    request = segue.encode(Context(shown), model)
    assert segue.lint(request.body, model.protocol, model) == []
    return image.data.encode() in request.json(), {change.code for change in request.changes}


@pytest.mark.parametrize("in_result", [False, True])
@pytest.mark.parametrize("label", LABELS)
@pytest.mark.parametrize("ref", TARGETS)
def test_only_kinds_that_the_target_reads_are_sent(ref: str, label: str, in_result: bool) -> None:
    there, codes = sent(ref, ImageContent("aGVsbG8=", f"image/{label}"), in_result)
    assert there == (label in TARGETS[ref]) == ("image-downgraded" not in codes)


@pytest.mark.parametrize("in_result", [False, True])
@pytest.mark.parametrize("image", DAMAGED, ids=lambda image: f"{image.mime_type} {image.data}")
@pytest.mark.parametrize("ref", TARGETS)
def test_damaged_images_are_not_sent(ref: str, image: ImageContent, in_result: bool) -> None:
    there, codes = sent(ref, image, in_result)
    assert not there and "image-downgraded" in codes


@pytest.mark.parametrize("ref", TARGETS)
def test_base64_without_padding_is_sent(ref: str) -> None:
    there, codes = sent(ref, ImageContent("aGVsbG8", "image/png"), False)
    assert there and "image-downgraded" not in codes


@pytest.mark.parametrize("label", ["IMAGE/PNG", "image/png; name=a.png", "image/jpg"])
@pytest.mark.parametrize("ref", TARGETS)
def test_labels_are_written_as_the_providers_spell_them(ref: str, label: str) -> None:
    """ "Unsupported MIME type: image/jpg" (obsidian-smart-connections#1238, 2025)."""
    there, codes = sent(ref, ImageContent("aGVsbG8=", label), False)
    assert there and "image-downgraded" not in codes
