"""Previews: whether a request fits, what is lost, which limits it exceeds, what it costs, and how sure that is."""

import base64
import struct
from typing import Any

import pytest
from msgspec.structs import replace

import segue
from segue.tokens import guess_messages
from segue.types import (
    AssistantMessage,
    Context,
    ImageContent,
    Message,
    Model,
    ProviderContent,
    TextContent,
    ToolDefinition,
    Usage,
    UserMessage,
)
from segue.wire.common.images import image_size

CLAUDE = segue.get_model("anthropic/claude-sonnet-4-5")
MISTRAL = segue.get_model("mistral/mistral-large-latest")


def encoded(data: bytes) -> ImageContent:
    return ImageContent(base64.b64encode(data).decode(), "image/png")


def png(width: int, height: int) -> ImageContent:
    return encoded(b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR" + struct.pack(">II", width, height))


DRAWN = base64.b64encode(b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR" + struct.pack(">II", 1024, 1024) + bytes(300_000)).decode()
"""An image that a model made."""


def answered(text: str, usage: Usage, model: Model = CLAUDE, stop: Any = "stop") -> AssistantMessage:
    return AssistantMessage(
        content=[TextContent(text)],
        protocol=model.protocol,
        provider=model.provider,
        model=model.id,
        usage=usage,
        stop_reason=stop,
    )


def talk(*messages: Message) -> Context:
    return Context(messages=[UserMessage("hello " * 1000), *messages])


class TestTheModel:
    def test_only_what_may_be_sent_counts(self) -> None:
        limited = replace(CLAUDE, context_window=400_000, max_input_tokens=1_000)
        found = segue.preview(talk(), limited)
        assert not found.fits
        assert "in a window of 400,000, of which 1,000 may be sent" in found.summary()

    def test_it_shows_when_a_model_retires(self) -> None:
        assert "anthropic/claude-sonnet-4-5 retires on 2026-11-30" in (
            segue.preview(talk(), replace(CLAUDE, retires="2026-11-30")).summary()
        )
        assert "retires" not in segue.preview(talk(), replace(CLAUDE, retires=None)).summary()

    def test_tools_for_a_model_that_cannot_call_them_are_a_limit(self) -> None:
        context = replace(talk(), tools=[ToolDefinition("a", "b", {"type": "object"})])
        assert segue.preview(context, replace(CLAUDE, tools=False)).limits == [
            "1 tools, but the model cannot call tools"
        ]
        assert segue.preview(context, CLAUDE).limits == []


class TestTokens:
    @pytest.mark.parametrize(
        ("raw", "kind", "least", "most"),
        [
            ({"type": "image_generation_call", "id": "ig_1", "result": DRAWN}, "image_generation_call", 1_000, 2_500),
            ({"inlineData": {"mimeType": "image/png", "data": DRAWN}}, "inlineData", 1_000, 2_500),
            ({"inlineData": {"mimeType": "audio/L16", "data": "A" * 400_000}}, "inlineData", 500, 1_000),
            ({"content": [{"media_type": "application/pdf", "data": "A" * 400_000}]}, "fetched", 9_000, 11_000),
            ({"encrypted_content": "A" * 40_000}, "web_search_tool_result", 10_000, 12_000),
            ({"data": "A" * 40_000, "mimeType": "text/plain"}, "kept", 10_000, 12_000),
        ],
    )
    def test_data_in_provider_content_is_not_counted_as_text(
        self, raw: dict[str, Any], kind: str, least: int, most: int
    ) -> None:
        guess = guess_messages([AssistantMessage([ProviderContent(raw, kind)])])
        assert least < guess < most

    def test_without_any_usage_it_is_a_guess_by_length(self) -> None:
        tokens = segue.preview(talk(), CLAUDE).tokens
        assert tokens.basis == "guessed"
        assert tokens.low < 1_500 < tokens.high
        assert tokens.low <= tokens.tokens <= tokens.high

    def test_the_last_measured_usage_counts_with_its_cached_parts_and_its_answer(self) -> None:
        usage = Usage(input=100, cache_read=70_000, cache_write=900, output=500)
        tokens = segue.preview(talk(answered("yes", usage), UserMessage("next")), CLAUDE).tokens
        assert tokens.basis == "measured"
        assert 71_500 < tokens.tokens < 71_520

    def test_what_came_after_it_is_added(self) -> None:
        usage = Usage(input=1_000)
        short = segue.preview(talk(answered("yes", usage), UserMessage("next")), CLAUDE).tokens
        long = segue.preview(talk(answered("yes", usage), UserMessage("next " * 10_000)), CLAUDE).tokens
        assert long.tokens - short.tokens > 10_000

    def test_another_model_counts_with_another_tokenizer_and_is_less_sure(self) -> None:
        context = talk(answered("yes", Usage(input=50_000)))
        own, other = segue.preview(context, CLAUDE).tokens, segue.preview(context, MISTRAL).tokens
        assert (own.basis, other.basis) == ("measured", "measured elsewhere")
        assert other.high - other.low > 5 * (own.high - own.low)

    def test_a_failed_answer_measures_nothing(self) -> None:
        context = talk(answered("par", Usage(input=90_000), stop="error"), UserMessage("next"))
        assert segue.preview(context, CLAUDE).tokens.basis == "guessed"

    def test_what_the_target_does_not_get_is_not_counted(self) -> None:
        context = Context(messages=[UserMessage([TextContent("look"), png(2000, 2000)])])
        text_only = segue.get_model("deepseek/deepseek-v4-pro")
        assert segue.preview(context, CLAUDE).tokens.tokens > segue.preview(context, text_only).tokens.tokens + 1_000


class TestFit:
    @pytest.mark.parametrize(
        ("window", "fits", "sure"), [(200_000, True, True), (60_500, True, False), (10_000, False, True)]
    )
    def test_it_says_whether_it_fits_and_whether_that_is_sure(self, window: int, fits: bool, sure: bool) -> None:
        model = replace(CLAUDE, context_window=window)
        ahead = segue.preview(talk(answered("yes", Usage(input=60_000))), model)
        assert (ahead.fits, ahead.sure) == (fits, sure)
        assert ("does not fit" in ahead.summary()) == (not fits)

    def test_the_cost_is_that_of_sending_all_of_it_without_a_cache(self) -> None:
        ahead = segue.preview(talk(answered("yes", Usage(cache_read=1_000_000))), CLAUDE)
        assert ahead.cost is not None
        assert ahead.cost.total == pytest.approx(ahead.tokens.tokens * 3.0 / 1e6)

    def test_the_cost_is_unknown_where_the_price_is(self) -> None:
        assert segue.preview(talk(), replace(CLAUDE, cost=segue.ModelCost())).cost is None


class TestLoss:
    def test_lossy_changes_are_counted_by_code(self) -> None:
        context = Context(messages=[UserMessage([TextContent("look"), png(1, 1), png(1, 1)])])
        ahead = segue.preview(context, segue.get_model("deepseek/deepseek-v4-pro"))
        assert ahead.lost == {"image-downgraded": 2}
        assert ahead.changes == ahead.request.changes
        assert segue.preview(context, CLAUDE).lost == {}

    def test_a_conversation_with_nothing_to_send_is_refused(self) -> None:
        with pytest.raises(segue.ProjectionError, match="there is nothing to send"):
            segue.preview(Context(messages=[]), CLAUDE)


class TestLimits:
    def limits(self, *images: ImageContent, tools: int = 0, model: Model = CLAUDE) -> list[str]:
        context = Context(
            messages=[UserMessage([TextContent("look"), *images])],
            tools=[ToolDefinition(f"tool_{at}") for at in range(tools)],
        )
        return segue.preview(context, model).limits

    def test_the_number_of_tools(self) -> None:
        openai = segue.get_model("openai/gpt-5.4")
        assert self.limits(tools=128, model=openai) == []
        assert self.limits(tools=129, model=openai) == ["129 tools, at most 128"]

    def test_the_number_of_images(self) -> None:
        assert self.limits(*[png(1, 1)] * 101) == ["101 images, at most 100"]

    def test_the_size_of_an_image(self) -> None:
        assert self.limits(ImageContent("A" * 5_242_884, "image/png")) == [
            "an image of 5,242,884 bytes of base64, at most 5,242,880"
        ]

    def test_the_twenty_first_image_makes_the_limit_on_pixels_stricter(self) -> None:
        large, small = png(3000, 100), png(10, 10)
        assert self.limits(large, *[small] * 19) == []
        assert self.limits(large, *[small] * 20) == [
            "an image of 3,000 pixels on a side, at most 2,000 when there are more than 20"
        ]
        assert self.limits(png(100, 9000)) == ["an image of 9,000 pixels on a side, at most 8,000"]


SIZES = {
    "png": b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR" + struct.pack(">II", 640, 480),
    "gif": b"GIF89a" + struct.pack("<HH", 640, 480) + b"\0",
    "jpeg": b"\xff\xd8\xff\xe0\0\x10JFIF\0" + b"\0" * 9 + b"\xff\xc0\0\x11\x08" + struct.pack(">HH", 480, 640),
    "webp lossy": b"RIFF\0\0\0\0WEBPVP8 " + b"\0" * 10 + struct.pack("<HH", 640, 480),
    "webp lossless": b"RIFF\0\0\0\0WEBPVP8L\0\0\0\0\x2f" + struct.pack("<I", 639 | 479 << 14),
    "webp extended": b"RIFF\0\0\0\0WEBPVP8X" + b"\0" * 8 + (639).to_bytes(3, "little") + (479).to_bytes(3, "little"),
}


@pytest.mark.parametrize("kind", SIZES)
def test_the_size_of_an_image_is_read_from_its_header(kind: str) -> None:
    assert image_size(encoded(SIZES[kind]).data) == (640, 480)


@pytest.mark.parametrize(
    "data", [b"", b"\x89PNG\r\n\x1a\n", b"\xff\xd8\xff", b"\xff\xd8", b"RIFF\0\0\0\0WEBPVP8?", b"BM"]
)
def test_a_broken_or_unknown_image_has_no_size(data: bytes) -> None:
    assert image_size(encoded(data).data) is None


def test_broken_base64_has_no_size() -> None:
    assert image_size("a") is None
    assert image_size("\u00e9") is None
