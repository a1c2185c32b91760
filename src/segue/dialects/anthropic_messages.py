"""Anthropic Messages: Claude, and servers that speak its protocol. Defaults are those of the newest models."""

from typing import Literal

from .base import Dialect, ForeignReasoning, IdForm, OwnReasoning
from .schemas import SchemaForm

Thinking = Literal["enabled", "adaptive", "disabled"]
Effort = Literal["low", "medium", "high", "xhigh", "max"]


class AnthropicMessages(Dialect, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """State of the rules: 2026-11, SDK anthropic 2.8.0 and the API's error texts."""

    id_form: IdForm = "toolu-64"
    own_reasoning: OwnReasoning = "signed"  # "thinking.signature: Field required" (opencode#25005)
    foreign_reasoning: ForeignReasoning = "keep-signed"
    schema_form: SchemaForm = "2020-12"
    needs_tools: bool = True
    images_in_results: bool = True
    image_urls: bool = True  # URLImageSourceParam (SDK anthropic 2.8.0)
    # Base64PDFSourceParam, PlainTextSourceParam and URLPDFSourceParam; documents are allowed in tool results (SDK
    # anthropic 2.8.0).
    files: tuple[str, ...] = ("application/pdf", "text/plain")
    file_urls: tuple[str, ...] = ("application/pdf",)
    files_in_results: tuple[str, ...] = ("application/pdf", "text/plain")
    # Server tools, their results and uploaded files; the advisor's result needs its tool in the request (ANT-32).
    provider_content: tuple[str, ...] = (
        "server_tool_use",
        "web_search_tool_result",
        "web_fetch_tool_result",
        "code_execution_tool_result",
        "bash_code_execution_tool_result",
        "text_editor_code_execution_tool_result",
        "tool_search_tool_result",
        "container_upload",
    )
    error_flag: bool = True
    # 100 images on models with a window of 200k tokens, 600 on those with a million; "image exceeds 5 MB maximum:
    # 5316852 bytes > 5242880 bytes" (by now 10 MB on the direct API, still 5 MB on Bedrock and Vertex).
    max_images: int | None = 100
    max_image_bytes: int | None = 5_242_880
    # "At least one of the image dimensions exceed max allowed size: 8000 pixels", and "… for many-image requests: 2000
    # pixels" once a request has more than 20 images, history included (claude-code#46656).
    max_image_pixels: int | None = 8_000
    max_image_pixels_of_many: int | None = 2_000

    # Where the model and the version of the API are: the model in the body and the version in a header, or, on Vertex,
    # the model in the path and the version in the body (SDK anthropic 2.8.0, lib/vertex/_client.py).
    surface: Literal["anthropic", "vertex"] = "anthropic"
    # The header `anthropic-version`. Bodies are also valid for 2023-06-01 (documentation, "Versions", 2026-11).
    api_version: str = "2026-10-21"
    # "This model does not support assistant message prefill. The conversation must end with a user message."
    # Opus 4.6, Sonnet 4.6 and everything later (vybestack/llxprt-code#3695).
    prefill: bool = False
    # '"thinking.type.enabled" is not supported for this model. Use "thinking.type.adaptive"' from Opus 4.7 on;
    # '"thinking.type.disabled" is not supported for this model.' on Fable and Mythos.
    thinking: tuple[Thinking, ...] = ("adaptive",)
    effort: tuple[Effort, ...] = ("low", "medium", "high")
    # temperature, top_p and top_k do not exist in API version 2026-10-21; Opus 4.7+ and Sonnet 5+ refuse them in the
    # older version, too.
    sampling: bool = False
    # 'tool_choice: type "tool" and "any" are not supported for this model.' (Fable, Mythos, Opus 5.5)
    forced_tool_choice: bool = False
    # A `system` role inside messages: Opus 4.8 and later; Sonnet 5 accepts and ignores it.
    system_in_messages: bool = False
    # `cache_control` on blocks. Some hosts of other models refuse it.
    cache_markers: bool = True
