"""How answers of the Chat Completions family differ from provider to provider: one row each, in ``QUIRKS``.

A row has the form and the texts of errors, where a stream reports usage, and other pitfalls for clients. The defaults
are OpenAI's. Sources are at the rows (issues of public clients, SDKs; until 2026-11); unverified facts are marked.
"""

from collections.abc import Callable, Mapping
from typing import Any, Literal

import msgspec
from msgspec import Struct

from ...wire.common.openai_errors import TYPES, openai_error
from ..script import FaultKind
from ..voice import Body, Refusal
from .common import sse

# -- shapes of errors ------------------------------------------------------------------------------------------------

_CODES = TYPES | {
    "invalid_parameter_error": "invalid_request_error",
    "wrong_api_format": "invalid_request_error",
    "wrong_api_key": "invalid_request_error",
    "limit_requests": "limit_requests",
    "token_quota_exceeded": "too_many_requests_error",
    "queue_exceeded": "too_many_requests_error",
}
"""The type of an error by its code."""


def _openai(refusal: Refusal) -> Body:
    return openai_error(refusal.kind, refusal.text, _CODES, refusal.code, refusal.param)


def _deepseek(refusal: Refusal) -> Body:
    error = {"message": refusal.text, "type": refusal.kind, "param": None, "code": "invalid_request_error"}
    return {"error": error}


def _moonshot(refusal: Refusal) -> Body:
    return {"error": {"message": refusal.text, "type": refusal.kind}}


def _fireworks(refusal: Refusal) -> Body:
    return {"error": {"object": "error", "type": refusal.kind, "message": refusal.text}}


def _dashscope(refusal: Refusal) -> Body:
    return {**_openai(refusal), "request_id": "standin"}


def _zai(refusal: Refusal) -> Body:
    return {"error": {"code": refusal.kind, "message": refusal.text}}


def _minimax(refusal: Refusal) -> Body:
    error = {"type": refusal.kind, "message": refusal.text, "http_code": str(refusal.status)}
    return {"type": "error", "error": error, "request_id": "standin"}


def _xai(refusal: Refusal) -> Body:
    return {"code": refusal.kind, "error": refusal.text}


def _cerebras(refusal: Refusal) -> Body:
    """A flat error, in which `param` is the part of the service that refused."""
    params = {"wrong_api_format": "validation_error", "wrong_api_key": "api_key"}
    params |= {"token_quota_exceeded": "quota", "queue_exceeded": "queue"}
    error: Body = _openai(refusal)["error"]
    return error | {"param": params.get(refusal.kind)}


UPSTREAM = "upstream"


def _openrouter(refusal: Refusal) -> Body:
    """An error of the router; the text of the provider behind it is in `metadata`."""
    if refusal.kind != UPSTREAM:
        return {"error": {"message": refusal.text, "code": _status(refusal)}}
    raw = msgspec.json.encode({"message": refusal.text}).decode()
    metadata = {"raw": raw, "provider_name": "Stand-in", "is_byok": False}
    error = {"message": "Provider returned error", "code": _status(refusal), "metadata": metadata}
    return {"error": error, "user_id": "user_standin"}


def _vllm(refusal: Refusal) -> Body:
    if refusal.status == 401:  # from a layer in front of the API
        return {"error": refusal.text}
    return {"error": {"message": refusal.text, "type": refusal.kind, "param": None, "code": _status(refusal)}}


def _llamacpp(refusal: Refusal) -> Body:
    return {"error": {"code": _status(refusal), "message": refusal.text, "type": refusal.kind}}


def _status(refusal: Refusal) -> int:
    """The status of an error; for an error in mid-stream, the one that it would have had at the start."""
    return refusal.status if refusal.status != 200 else 502


# -- errors in a stream ----------------------------------------------------------------------------------------------


def _groq_event(error: Body) -> bytes:
    return sse(error, "error")


def _cerebras_event(error: Body) -> bytes:
    return sse({"error": error, "status_code": 503})


def _openrouter_event(error: Body) -> bytes:
    choice = {"index": 0, "delta": {"role": "assistant", "content": ""}, "finish_reason": "error"}
    chunk = {"id": "gen-standin", "object": "chat.completion.chunk", "created": 0, "model": "", "choices": [choice]}
    return sse(chunk | error)


# -- the rows --------------------------------------------------------------------------------------------------------


class Quirks(Struct, frozen=True, kw_only=True):
    """How the answers of one provider differ."""

    # The body of an error, and the event that carries it in mid-stream.
    error: Callable[[Refusal], Body] = _openai
    error_event: Callable[[Body], bytes] = sse
    # The refusal of a request that violates a rule: `{}` is the rule's text.
    invalid: Refusal = Refusal(400, "invalid_request_error", "{}")
    faults: Mapping[FaultKind, Refusal] = {}
    # Where a stream reports usage: in its own chunk, on request or always; in the last chunk, in the choice of it, or
    # in its `x_groq`.
    usage: Literal["requested", "always", "last", "choice", "x_groq"] = "requested"
    # The bytes at the start of a stream, before the answer.
    opening: bytes = b""
    # Whether a call is sent in one chunk.
    whole_calls: bool = False
    # Whether a refusal has its own field; otherwise the answer ends with `content_filter`.
    refusals: bool = False
    # Additional fields of every chunk.
    marks: Mapping[str, Any] = {}


_OVERLOADED = "The engine is currently overloaded, please try again later."
FAULTS: dict[FaultKind, Refusal] = {
    "rate-limit": Refusal(
        429,
        "rate_limit_exceeded",
        "Rate limit reached for organization org-standin on tokens per min (TPM): Limit 250000, Used 250000, "
        "Requested 143071. Please try again in 34.337s.",
    ),
    "server-error": Refusal(
        500, "server_error", "The server had an error while processing your request. Sorry about that!"
    ),
    "unavailable": Refusal(503, "service_unavailable_error", "Service Unavailable"),
    "overloaded": Refusal(503, "server_is_overloaded", _OVERLOADED),  # only MiniMax has 529
    "wrong-key": Refusal(401, "invalid_api_key", "Incorrect API key provided."),
    "overflow": Refusal(
        400,
        "context_length_exceeded",
        "This model's maximum context length is 128000 tokens. However, your messages resulted in 204308 tokens. "
        "Please reduce the length of the messages.",
    ),
    "error-event": Refusal(200, "server_is_overloaded", _OVERLOADED),
}
"""OpenAI's texts (webtimemachine/wtm2#579 for the overflow, 2024-11)."""

_NOTHING_FILTERED = [{"prompt_index": 0, "content_filter_results": {"hate": {"filtered": False, "severity": "safe"}}}]
_AZURE_FIRST = {"choices": [], "created": 0, "id": "", "model": "", "object": ""}

QUIRKS: dict[str, Quirks] = {
    "openai": Quirks(refusals=True),
    # A first chunk without choices, id and model (OpenAI-DotNet#274; pydantic-ai, 2026).
    "azure": Quirks(refusals=True, opening=sse(_AZURE_FIRST | {"prompt_filter_results": _NOTHING_FILTERED})),
    # MoonshotAI/kimi-code#3176 and kimi-cli#2011, kaichen/kimicc#20; usage in the choice: pi#2017. The text of the
    # rate limit is unverified.
    "moonshot": Quirks(
        error=_moonshot,
        usage="choice",
        faults={
            "wrong-key": Refusal(401, "invalid_authentication_error", "Invalid Authentication"),
            "rate-limit": Refusal(
                429,
                "rate_limit_reached_error",
                "Your account request reached organization max RPM: 3, please try again after 1 seconds",
            ),
            "overloaded": Refusal(429, "engine_overloaded_error", _OVERLOADED),
            "overflow": Refusal(
                400,
                "invalid_request_error",
                "Invalid request: Your request exceeded model token limit: 262144 (requested: 269030)",
            ),
        },
    ),
    # BerriAI/litellm#10403, netease-youdao/LobsterAI#60; comments while it waits are unverified.
    "deepseek": Quirks(
        error=_deepseek,
        opening=b": keep-alive\n\n",
        faults={
            "wrong-key": Refusal(
                401, "authentication_error", "Authentication Fails, Your api key: ****-key is invalid"
            ),
            "overflow": Refusal(
                400,
                "invalid_request_error",
                "This model's maximum context length is 131072 tokens. However, you requested 141403 tokens (133211 "
                "in the messages, 8192 in the completion). Please reduce the length of the messages or completion.",
            ),
        },
    ),
    # elizaOS/eliza#4040, continuedev/continue#11714; SDK groq 1.7.0 for `x_groq` and the error event.
    "groq": Quirks(
        error_event=_groq_event,
        usage="x_groq",
        whole_calls=True,
        faults={
            "wrong-key": Refusal(401, "invalid_api_key", "Invalid API Key"),
            "rate-limit": Refusal(
                429,
                "rate_limit_exceeded",
                "Rate limit reached for model `standin` in organization `org_standin` service tier `on_demand` on "
                "tokens per minute (TPM): Limit 6000, Used 5034, Requested 1443. Please try again in 4.77s.",
            ),
            "overflow": Refusal(
                400, "context_length_exceeded", "Please reduce the length of the messages or completion."
            ),
        },
    ),
    # nocmt/LLMSearchPlus#2 for the form, continuedev/continue#10778 (a wrong key is a 400), chenyme/grok2api#693.
    # The texts of the rate limit and of overload, and calls in one chunk, are unverified.
    "xai": Quirks(
        error=_xai,
        whole_calls=True,
        invalid=Refusal(400, "Client specified an invalid argument", "{}"),
        faults={
            "wrong-key": Refusal(
                400,
                "Client specified an invalid argument",
                "Incorrect API key provided: st***ey. You can obtain an API key from https://console.x.ai.",
            ),
            "rate-limit": Refusal(429, "Some resource has been exhausted", "Too many requests for this team."),
            "overloaded": Refusal(503, "The service is currently unavailable", "Service temporarily unavailable."),
            "overflow": Refusal(
                400,
                "Client specified an invalid argument",
                "This model's maximum prompt length is 500000 but the request contains 907154 tokens.",
            ),
        },
    ),
    # Alishahryar1/free-claude-code#1136, anomalyco/opencode#13019, cline/cline#5140; cerebras-cloud-sdk 1.91.0 for
    # the error in a stream and `system_fingerprint`. The texts for a wrong key and for the queue are unverified.
    "cerebras": Quirks(
        error=_cerebras,
        error_event=_cerebras_event,
        usage="last",
        whole_calls=True,
        marks={"system_fingerprint": "fp_standin"},
        invalid=Refusal(400, "wrong_api_format", "{}"),
        faults={
            "wrong-key": Refusal(401, "wrong_api_key", "Wrong API Key"),
            "rate-limit": Refusal(
                429, "token_quota_exceeded", "Tokens per minute limit exceeded - too many tokens processed."
            ),
            "overloaded": Refusal(
                429, "queue_exceeded", "We're experiencing high traffic right now! Please try again soon."
            ),
            "overflow": Refusal(
                400,
                "context_length_exceeded",
                "Please reduce the length of the messages or completion. Current length is 40009 while limit is 32768",
            ),
        },
    ),
    # xtekky/gpt4free#3032, earendil-works/pi (packages/ai/src/utils/overflow.ts).
    "together": Quirks(
        faults={
            "rate-limit": Refusal(
                429,
                "rate_limit",
                "You have reached the rate limit specific to this model. The maximum rate limit for this model is 9.0 "
                "queries per minute.",
            ),
            "overflow": Refusal(
                400,
                "invalid_request_error",
                "The input (516368 tokens) is longer than the model's context length (262144 tokens).",
            ),
        },
    ),
    # can1357/oh-my-pi#1618; the form, and usage without a request for it, are unverified.
    "fireworks": Quirks(
        error=_fireworks,
        usage="last",
        faults={
            "overflow": Refusal(
                400,
                "invalid_request_error",
                "The prompt is too long: 267657, model maximum context length: 262143",
            ),
        },
    ),
    # linanwx/nagobot#21, OpenRouterTeam/ai-sdk-provider#418, anomalyco/opencode#14252, MoonshotAI/kimi-code#476; errors
    # in mid-stream: damianvtran/local-operator#223. Comments, and usage without a request for it, are unverified.
    "openrouter": Quirks(
        error=_openrouter,
        error_event=_openrouter_event,
        usage="always",
        opening=b": OPENROUTER PROCESSING\n\n",
        invalid=Refusal(400, UPSTREAM, "{}"),
        faults={
            "wrong-key": Refusal(401, "", "User not found."),
            "rate-limit": Refusal(429, UPSTREAM, "standin is temporarily rate-limited upstream."),
            "overloaded": Refusal(502, UPSTREAM, "Overloaded"),
            "overflow": Refusal(
                400,
                "",
                "This endpoint's maximum context length is 262144 tokens. However, you requested about 264896 tokens. "
                "Please reduce the length of either one.",
            ),
            "error-event": Refusal(200, UPSTREAM, "Overloaded"),
        },
    ),
    # Aider-AI/aider#4712, agentscope-ai/QwenPaw#6255; the text of the rate limit is unverified.
    "dashscope": Quirks(
        error=_dashscope,
        invalid=Refusal(400, "invalid_parameter_error", "{}"),
        faults={
            "rate-limit": Refusal(429, "limit_requests", "Requests rate limit exceeded, please try again later."),
            "overflow": Refusal(
                400,
                "invalid_parameter_error",
                "<400> InternalError.Algo.InvalidParameter: Range of input length should be [1, 983616]",
            ),
        },
    ),
    # nanobot#3082, autohandai/code-cli#206, zeroclaw-labs/zeroclaw#4124, openclaw/openclaw#107940 (1302 and 1305, whose
    # texts are unverified, like 1261).
    "zai": Quirks(
        error=_zai,
        invalid=Refusal(400, "1214", "{}"),
        faults={
            "wrong-key": Refusal(401, "401", "token expired or incorrect"),
            "rate-limit": Refusal(429, "1302", "Rate limit reached for requests"),
            "server-error": Refusal(500, "500", "Internal Error"),
            "overloaded": Refusal(429, "1305", "The service may be temporarily overloaded, please try again later"),
            "overflow": Refusal(400, "1261", "Prompt exceeds max length"),
        },
    ),
    # BigPizzaV3/CodexPlusPlus#267, nearai/ironclaw#1742, NousResearch/hermes-agent#10210, MiniMax-AI/MiniMax-M2#119.
    # The text of the rate limit is unverified.
    "minimax": Quirks(
        error=_minimax,
        invalid=Refusal(400, "bad_request_error", "invalid params, {} (2013)"),
        faults={
            "wrong-key": Refusal(
                401,
                "authorized_error",
                "login fail: Please carry the API secret key in the 'Authorization' field of the request header (1004)",
            ),
            "rate-limit": Refusal(429, "rate_limit_error", "rate limit exceeded (1002)"),
            "overloaded": Refusal(529, "overloaded_error", "The server cluster is currently under high load (2064)"),
            "overflow": Refusal(400, "bad_request_error", "invalid params, context window exceeds limit (2013)"),
        },
    ),
    # earendil-works/pi#2626, continuedev/continue#11223; a wrong key, and calls in one chunk, are unverified.
    "ollama": Quirks(
        whole_calls=True,
        faults={
            "wrong-key": Refusal(401, "authentication_error", "unauthorized"),
            "server-error": Refusal(500, "api_error", "llama runner process has terminated"),
            "overflow": Refusal(
                400, "invalid_request_error", "prompt too long; exceeded max context length by 100918 tokens"
            ),
        },
    ),
    # chflame163/ComfyUI_Qwen_H3_Prompt#5, ggml-org/llama.cpp#22232 and #15780; the form: gpustack/gpustack#1845.
    # "Loading model" is unverified.
    "llamacpp": Quirks(
        error=_llamacpp,
        faults={
            "wrong-key": Refusal(401, "authentication_error", "Invalid API Key"),
            "unavailable": Refusal(503, "unavailable_error", "Loading model"),
            "overflow": Refusal(
                400,
                "exceed_context_size_error",
                "request (35999 tokens) exceeds the available context size (32768 tokens), try increasing it",
            ),
        },
    ),
    # harbor-framework/harbor#996 for the form and the overflow, modal-labs/modal-examples#1105 for a wrong key.
    "vllm": Quirks(
        error=_vllm,
        invalid=Refusal(400, "BadRequestError", "{}"),
        faults={
            "wrong-key": Refusal(401, "", "Unauthorized"),
            "server-error": Refusal(500, "InternalServerError", "Internal server error"),
            "overflow": Refusal(
                400,
                "BadRequestError",
                "You passed 35999 input tokens and requested 10 output tokens. However, the model's context length is "
                "only 32768 tokens, resulting in a maximum input length of 32758 tokens. Please reduce the length of "
                "the input prompt. (parameter=input_tokens, value=35999)",
            ),
        },
    ),
}
