"""What differs between the four protocols that clients speak, as one table. How answers look is in ``wire``."""

from msgspec import Struct

from ..errors import OverloadedError, ProviderError, ServerError

ANTHROPIC, CHAT, RESPONSES, GEMINI = (
    "anthropic-messages",
    "openai-completions",
    "openai-responses",
    "google-generative-ai",
)


class ClientProtocol(Struct, frozen=True, kw_only=True):
    """A protocol of clients."""

    name: str
    # The prefix of ids of calls that the gateway makes up.
    call_prefix: str
    # Whether clients drop the ids of calls (pi and opencode do, measured 2026-11).
    drops_ids: bool = False
    # Whether a comment may be put into a stream. It ends those of Gemini CLI and google-genai (measured 2026-11).
    comments: bool = True
    # How a stream ends that fails after its first content: with the protocol's error, or by breaking the connection,
    # where clients take an error for the end and an end for an answer (Qwen Code). Gemini CLI asks again after an
    # error, but gives up after a broken connection (measured 2026-11).
    breaks_off: bool = False
    # The error with which such a stream ends: one after which clients ask again. Codex gives up after the one for an
    # overloaded model ("Selected model is at capacity", 0.169.0, run 2026-11-18).
    cut_error: type[ProviderError] = OverloadedError
    # Whether reasoning of a failed attempt is kept for the model that made it (Codex sends it back).
    keeps_attempts: bool = False
    # Fields of the request that an answer repeats or depends on.
    echoed: tuple[str, ...] = ()
    # The field, or its parent, with the name of the model in answers.
    model_at: tuple[tuple[str, ...], ...] = (("model",),)
    # The header with the version of the protocol, for the route that several protocols share.
    marker: str | None = None


# fmt: off
_RESPONSE_FIELDS = (
    "instructions", "max_output_tokens", "metadata", "parallel_tool_calls", "previous_response_id", "prompt_cache_key",
    "reasoning", "safety_identifier", "store", "temperature", "text", "tool_choice", "tools", "top_p", "user",
)
# fmt: on

CLIENTS: dict[str, ClientProtocol] = {
    ANTHROPIC: ClientProtocol(
        name=ANTHROPIC,
        call_prefix="toolu_",
        model_at=(("message", "model"), ("model",)),
        marker="anthropic-version",
    ),
    CHAT: ClientProtocol(name=CHAT, call_prefix="call_", breaks_off=True, echoed=("stream_options",)),
    RESPONSES: ClientProtocol(
        name=RESPONSES,
        call_prefix="call_",
        cut_error=ServerError,
        keeps_attempts=True,
        echoed=_RESPONSE_FIELDS,
        model_at=(("response", "model"), ("model",)),
    ),
    GEMINI: ClientProtocol(
        name=GEMINI, call_prefix="call_", drops_ids=True, comments=False, model_at=(("modelVersion",),)
    ),
}
