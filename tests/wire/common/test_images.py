"""What the first bytes of an image show, and whether data is base64."""

import base64
import struct

import pytest

import segue
from segue.types import Context, ImageContent, UserMessage
from segue.wire.common.images import data_fault, image_size, is_base64, kind_of
from segue.wire.registry import PROTOCOLS


def encoded(data: bytes) -> str:
    return base64.b64encode(data).decode()


PNG = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR" + struct.pack(">II", 300, 200) + b"\x08\0\0\0\0"
GIF = b"GIF89a" + struct.pack("<HH", 300, 200) + b"\0\0\0;"
JPEG = b"\xff\xd8\xff\xe0\0\4\0\0\xff\xc0\0\x0b\x08" + struct.pack(">HH", 200, 300) + b"\1\1\x11\0\xff\xd9"
WEBP = b"RIFF\x1e\0\0\0WEBPVP8X\x0a\0\0\0\0\0\0\0" + (299).to_bytes(3, "little") + (199).to_bytes(3, "little")
KINDS = {"image/png": PNG, "image/gif": GIF, "image/jpeg": JPEG, "image/webp": WEBP}


@pytest.mark.parametrize("kind", KINDS)
def test_the_first_bytes_show_kind_and_size_in_base64_and_as_bytes(kind: str) -> None:
    data = KINDS[kind]
    assert kind_of(data) == kind_of(encoded(data)) == kind
    assert image_size(data) == image_size(encoded(data)) == (300, 200)


@pytest.mark.parametrize("kind", KINDS)
def test_a_header_that_is_cut_anywhere_shows_no_wrong_size(kind: str) -> None:
    data = KINDS[kind]
    for length in range(len(data)):
        assert image_size(data[:length]) in (None, (300, 200))
        assert kind_of(data[:length]) in (None, kind)


def test_another_file_in_riff_is_not_an_image() -> None:
    assert kind_of(b"RIFF\x1e\0\0\0WAVEfmt ") is None


@pytest.mark.parametrize("data", ["QQ==", "QQ", "QUI=", "QUI", "QUJD", "+/+/"])
def test_base64_may_go_without_padding(data: str) -> None:
    assert is_base64(data)


@pytest.mark.parametrize(
    "data", ["", "=", "Q", "QUJDR", "QQ=", "QU JD", "QUJD\n", "-_-_", "data:image/png;base64,QUJD"]
)
def test_other_texts_are_not_base64(data: str) -> None:
    assert not is_base64(data)


def test_faults_of_image_data_are_described() -> None:
    assert data_fault(encoded(PNG), "image/png") == ""
    assert data_fault(encoded(JPEG), "image/jpg") == ""
    assert data_fault(encoded(JPEG), "image/png") == "the data is image/jpeg, not image/png"
    assert data_fault("", "image/png") == "there is no data"
    assert data_fault("no!", None) == "the data is not base64"
    assert data_fault("AAAA", "image/png") == ""  # nothing shows what it is


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_an_image_is_sent_with_its_real_type_whatever_its_label(protocol: str) -> None:
    targets = {
        "anthropic-messages": "anthropic/claude-opus-4-8",
        "bedrock-converse": "amazon-bedrock/anthropic.claude-sonnet-4-6",
        "google-generative-ai": "google/gemini-2.5-flash",
        "mistral-chat": "mistral/mistral-medium-2505",
        "openai-completions": "openai/gpt-4.1",
        "openai-responses": "openai/gpt-5.4",
    }
    model = segue.get_model(targets[protocol], protocol=protocol)
    request = segue.encode(Context(messages=[UserMessage([ImageContent(encoded(GIF), "image/png")])]), model)
    assert "gif" in request.json().decode()
    assert "png" not in request.json().decode()
    assert [finding for finding in segue.lint(request.json(), protocol, model) if finding.severity == "error"] == []
