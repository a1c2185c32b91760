"""Mistral chat completions. The reference is mistral-common's validator, which the hosted API runs."""

from typing import Literal

from .base import Dialect, IdForm
from .schemas import SchemaForm


class MistralChat(Dialect, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """State of the rules: 2026-11, mistral-common 1.13 and the API's error texts."""

    id_form: IdForm = "nine"
    image_urls: bool = True  # `image_url` is an address or a data URL (mistralai 3.7.0, ImageURLChunk)
    # PDFs as `document_url`, sounds as `input_audio`: "base64 or a URL" (docs.mistral.ai, 'Document QnA', 'Audio',
    # 2026-11). Results have text only (MIS-13).
    files: tuple[str, ...] = ("application/pdf", "audio/mpeg", "audio/wav")
    file_urls: tuple[str, ...] = ("application/pdf", "audio/mpeg", "audio/wav")
    schema_form: SchemaForm = "draft-7"

    # On Vertex, the path names the model, too (mistralai 3.7.0, gcp/client/_hooks/registration.py).
    surface: Literal["mistral", "vertex"] = "mistral"
    # "Unexpected role 'user' after role 'tool'" (code 3230): relaxed in mistral-common 1.11.1, still seen on other
    # hosts (hermes-agent#20154); the filler in between does no harm.
    user_after_tool: bool = False
    # A leading thinking chunk in assistant content: tokenizer v11 and later of reasoning models; elsewhere
    # "Unexpected content chunk types in assistant message: ['ThinkChunk']".
    # (own_reasoning "any" on these rows.)
    # "reasoning_effort=... is not supported for this model" before tokenizer v15, which has `none` and `high`.
    effort: tuple[str, ...] = ()
    # `prompt_cache_key` (mistralai 3.7.0).
    cache_key: bool = True
    # Content and tool calls together: refused before tokenizer v7.
    text_with_calls: bool = True
