"""Detect from a finished or failed answer that a conversation is too long for its model.

Providers report this with different texts, and some not at all. ``OVERFLOW`` has one row of patterns for each provider.
``LOOKALIKES`` has similar texts that mean something else; they take precedence. A new phrase is a new row, or one more
alternative in the row of its provider. A phrase that other errors use as well belongs in neither table.

A body that is too large counts as an overflow: the remedy is the same, a shorter conversation. A 413 without a body has
only this meaning. A 400 without a body has it from one provider only (``FROM_ONE``): gateways return it for any fault,
and compacting because of it has cost users intact conversations (earendil-works/pi#9482, 2026-09). It is an overflow
for ``is_context_overflow``, which only answers a question, but segue never compacts because of it.
"""

import re
from functools import cache

from msgspec import Struct

from ..types import AssistantMessage
from ..types.secret import LONGEST_TEXT


class Phrase(Struct, frozen=True):
    """The texts of one provider, or of one kind of look-alike."""

    who: str
    # A regular expression that is searched in the text, ignoring case.
    pattern: str
    # An example that was seen.
    example: str
    # Where it was seen, and when last.
    source: str
    seen: str


def is_context_overflow(message: AssistantMessage, context_window: int | None = None) -> bool:
    """Whether ``message`` shows that the conversation no longer fits the model.

    There are three cases. The answer failed with the text of an overflow, and not with a look-alike. It succeeded
    although its input, including cached parts, exceeds ``context_window``: the provider has silently cut it. Or it
    stopped for length without any output, and its input fills at least 99 % of the window. The last two cases need
    ``context_window``: what may be sent, usually ``Model.input_limit()``.
    """
    if message.stop_reason == "aborted":
        return False
    if message.stop_reason == "error":
        text = message.error_message or ""
        return is_overflow_text(text, message.provider) or _BARE.match(text) is not None
    if context_window is None or context_window <= 0:
        return False
    usage = message.usage
    read = usage.input + usage.cache_read + usage.cache_write
    if message.stop_reason == "length" and usage.output == 0 and read * 100 >= context_window * 99:
        return True
    return read > context_window


_BARE = re.compile(r"\W*400 (?:status code )?\(no body\)\W*$", re.IGNORECASE)


def is_overflow_text(text: str, provider: str = "") -> bool:
    """Whether a provider's error text means an overflow. Only the start of a long text is searched: the reason comes
    first, and every pattern is tried at every character."""
    own = FROM_ONE.get(provider)
    if own is not None and re.match(own.pattern, text, re.IGNORECASE):
        return True
    overflow, lookalike = _compiled()
    text = text[:LONGEST_TEXT]
    return overflow.search(text) is not None and lookalike.search(text) is None


@cache
def _compiled() -> tuple[re.Pattern[str], re.Pattern[str]]:
    """Compile one expression for each table, when the first failed answer is examined."""
    overflow, lookalike = ("|".join(row.pattern for row in rows) for rows in (OVERFLOW, LOOKALIKES))
    return re.compile(overflow, re.IGNORECASE), re.compile(lookalike, re.IGNORECASE)


OVERFLOW: tuple[Phrase, ...] = (
    Phrase(
        "Anthropic",
        r"prompt is too long|input length and .?max_tokens.? exceed context limit"
        r"|request size exceeds model context window|request_too_large|request exceeds the maximum size",
        "prompt is too long: 219898 tokens > 200000 maximum",
        "earendil-works/pi#102, continuedev/continue#6080, anthropics/claude-code#6368 and #14567",
        "2025-12",
    ),
    Phrase(
        "Amazon Bedrock",
        r"\binput is too long\b|expected maxLength: \d{5,}|number of input tokens exceeds maximum length",
        "Input is too long for requested model.",
        "continuedev/continue#9592, ryanadoty/Amazon-Bedrock-Amazon-RDS-POC#9; the last in tests of public clients",
        "2026-11",
    ),
    Phrase(
        "OpenAI",
        r"maximum context length is [\d,]+ tokens|exceeds? (?:the|this|the model.?s|this model.?s) context window"
        r"|input tokens exceed the configured limit|exceeded request buffer limit"
        r"|(?:content|text|output|input|instructions)(?:\[\d+\])?.?: string too long\b.{0,40}maximum length \d{6,}",
        "Your input exceeds the context window of this model. Please adjust your input and try again.",
        "code-yeongyu/oh-my-openagent#96, code-yeongyu/senpi#1466, cline/cline#5474, Shopify/roast#52, "
        "earendil-works/pi#7867",
        "2026-09",
    ),
    Phrase(
        "Azure OpenAI",
        r"your messages resulted in [\d,]+ tokens",
        "This model's maximum context length is 4096 tokens. However, your messages resulted in 5818 tokens.",
        "microsoft/kernel-memory#278",
        "2024-01",
    ),
    Phrase(
        "Google Gemini, Vertex AI",
        r"input token count(?: \([\d,]+\))?\s+exceeds the maximum number of tokens"
        r"|request payload size exceeds the limit|maximum request body size \d+ exceeded",
        "The input token count (81881) exceeds the maximum number of tokens allowed (65536).",
        "googleapis/python-genai#2466, google-gemini/gemini-cli#13776, "
        "google-gemini/deprecated-generative-ai-android#26",
        "2026-05",
    ),
    Phrase(
        "Mistral",
        r"too large for model with [\d,]+ maximum context length"
        r"|prompt plus .?max_tokens.? cannot exceed the model.?s context length"
        r"|prompt [\d,]+ > [\d,]+ maximum context length",
        "Prompt contains 152960 tokens and 0 draft tokens, too large for model with 131072 maximum context length",
        "jupyterlite/ai#291; documentation of max_tokens in mistralai 3.7.0",
        "2026-11",
    ),
    Phrase(
        "Moonshot Kimi",
        r"exceeded model token limit|total message size [\d,]+ exceeds limit",
        "Invalid request: Your request exceeded model token limit: 262144 (requested: 269030)",
        "MoonshotAI/kimi-cli#2011, MoonshotAI/kimi-code#1862",
        "2026-07",
    ),
    Phrase(
        "DeepSeek",
        r"requested [\d,]+ tokens \([\d,]+ in (?:the messages|your prompt)",
        "However, you requested 141403 tokens (133211 in the messages, 8192 in the completion).",
        "netease-youdao/LobsterAI#60",
        "2026-02",
    ),
    Phrase(
        "Groq",
        r"reduce the length of the (?:input )?(?:messages|prompt)\b",
        "Please reduce the length of the messages or completion.",
        "thepersonalaicompany/amurex-backend#51",
        "2025-03",
    ),
    Phrase(
        "Cerebras",
        r"current length is [\d,]+ while limit is [\d,]+|\b413 (?:status code )?\(no body\)",
        "413 status code (no body)",
        "cline/cline#5140, openclaw/openclaw#119596",
        "2026-08",
    ),
    Phrase(
        "Perplexity",
        r"total length of all messages is too long|too_many_prompt_tokens",
        "The total length of all messages is too long.",
        "recorded in tests of public clients of its API, with the type too_many_prompt_tokens",
        "2026-11",
    ),
    Phrase(
        "xAI",
        r"maximum prompt length is [\d,]+|sent message larger than max\b",
        "This model's maximum prompt length is 500000 but the request contains 907154 tokens.",
        "chenyme/grok2api#693, cline/cline#3120; gRPC's text for a message over its limit",
        "2026-07",
    ),
    Phrase(
        "Together AI",
        r"input \([\d,]+ tokens\) is longer than the model.?s context length"
        r"|.inputs. must have less than [\d,]+ tokens",
        "The input (516368 tokens) is longer than the model's context length (262144 tokens).",
        "earendil-works/pi (packages/ai/src/utils/overflow.ts), stanford-crfm/helm#1820",
        "2026-08",
    ),
    Phrase(
        "Fireworks",
        r"prompt is too long: [\d,]+, model maximum context length",
        "The prompt is too long: 267657, model maximum context length: 262143",
        "can1357/oh-my-pi#1618, fw-ai/cookbook#134",
        "2026-06",
    ),
    Phrase(
        "OpenRouter",
        r"endpoint.?s maximum context length is",
        "This endpoint's maximum context length is 262144 tokens. However, you requested about 264896 tokens",
        "MoonshotAI/kimi-code#476",
        "2026-06",
    ),
    Phrase(
        "Poolside",
        r"exceeds (?:the )?maximum allowed input length of [\d,]+",
        "Input length 131393 exceeds the maximum allowed input length of 131040 tokens.",
        "earendil-works/pi#4943, mario-andreschak/FLUJO#291",
        "2026-07",
    ),
    Phrase(
        "Alibaba DashScope",
        r"range of input length should be|string value length \([\d,]+\) exceeds the maximum allowed",
        "<400> InternalError.Algo.InvalidParameter: Range of input length should be [1, 983616]",
        "agentscope-ai/QwenPaw#6255, QwenLM/qwen-code#747",
        "2026-07",
    ),
    Phrase(
        "Z.ai",
        r"prompt exceeds max length|input tokens exceeds the model.?s maximum context length"
        r"|model_context_window_exceeded|model has reached its context window limit"
        r"|tokens in request more than max tokens allowed",
        "Prompt exceeds max length",
        "zeroclaw-labs/zeroclaw#4124, foreveryh/claude-code-switch#12, modu-ai/moai-adk#676, anomalyco/opencode#35920",
        "2026-07",
    ),
    Phrase(
        "MiniMax",
        r"context window exceeds limit",
        "invalid params, context window exceeds limit (2013)",
        "MiniMax-AI/MiniMax-M2#119",
        "2026-05",
    ),
    Phrase(
        "Cohere",
        r"too many tokens: (?:size limit exceeded|(?:the )?total number of tokens)",
        "too many tokens: size limit exceeded by 1502 tokens. Try using shorter or fewer inputs",
        "Quansight/ragna#351, cohere-ai/sandbox-topically#4; docs.cohere.com, Errors",
        "2026-11",
    ),
    Phrase(
        "Volcengine (Doubao)",
        r"input length [\d,]+ exceeds the maximum length|exceed max message tokens",
        "Total tokens of image and text exceed max message tokens.",
        "langgenius/dify#32221, sipeed/picoclaw (tests of the agent loop)",
        "2026-02",
    ),
    Phrase(
        "SiliconFlow",
        r"must be less than (?:or equal to )?max_seq_len|has exceeded max_prompt_tokens",
        "length of prompt_tokens (68957) must be less than max_seq_len (65536).",
        "chatboxai/chatbox#2060, continuedev/continue#10993, leookun/cursor-byok#129",
        "2026-06",
    ),
    Phrase(
        "Baidu Qianfan",
        r"prompt tokens too long",
        "prompt tokens too long",
        "PaddlePaddle/ERNIE-SDK#336",
        "2024-04",
    ),
    Phrase(
        "GitHub Copilot",
        r"prompt token count of [\d,]+ exceeds the limit of [\d,]+|model_max_prompt_tokens_exceeded",
        "prompt token count of 288361 exceeds the limit of 168000",
        "charmbracelet/crush#2678, microsoft/vscode#289219",
        "2026-04",
    ),
    Phrase(
        "GitHub Models",
        r"request body too large for|tokens_limit_reached",
        "Request body too large for gpt-4.1 model. Max size: 8000 tokens.",
        "tashfeenahmed/freellmapi#426, eslint/tsc-meetings#593",
        "2026-06",
    ),
    Phrase(
        "Cloudflare Workers AI, SGLang",
        r"requested token count exceeds the model.?s maximum context length"
        r"|input length \([\d,]+ tokens\) exceeds the maximum allowed length",
        "Requested token count exceeds the model's maximum context length of 256000 tokens.",
        "anomalyco/models.dev#4422, databufflabs/databuff#76, sgl-project/sglang#4048",
        "2026-09",
    ),
    Phrase(
        "Snowflake Cortex",
        r"max tokens of [\d,]+ exceeded",
        "max tokens of 200000 exceeded",
        "posit-dev/positron#11737",
        "2026-02",
    ),
    Phrase(
        "Salesforce",
        r"input tokens exceed model token limit",
        "Request input tokens exceed model token limit. Reduce the input size.",
        "forcedotcom/Einstein-GPT-for-Developers#228",
        "2026-03",
    ),
    Phrase(
        "Hugging Face TGI",
        r".?inputs.? tokens \+ .?max_new_tokens.? must be <=",
        "`inputs` tokens + `max_new_tokens` must be <= 4096. Given: 8740 `inputs` tokens and 500 `max_new_tokens`",
        "huggingface/huggingface_hub#2763",
        "2025-01",
    ),
    Phrase(
        "NVIDIA NIM, TensorRT-LLM",
        r"input length [\d,]+ exceeds maximum allowed token size"
        r"|prompt length \([\d,]+\) exceeds maximum (?:input|sequence) length",
        "Prompt length (5056) exceeds maximum sequence length (2048)",
        "NVIDIA/nim-anywhere#58, triton-inference-server/tensorrtllm_backend#141 and #565",
        "2024-10",
    ),
    Phrase(
        "vLLM",
        r"prompt contains (?:at least )?[\d,]+ input tokens|your request has [\d,]+ input tokens"
        r"|longer than the maximum model length|too long to fit into the model"
        r"|model.?s context length is only [\d,]+ tokens",
        "However, you requested 0 output tokens and your prompt contains at least 262145 input tokens",
        "earendil-works/pi#5930, anomalyco/opencode#17746, xorbitsai/inference#3785, vllm-project/vllm#12165",
        "2026-06",
    ),
    Phrase(
        "Ollama",
        r"prompt too long; exceeded (?:max )?context length|prompt is longer than the context length"
        r"|input length \([\d,]+ tokens\) exceeds the model.?s maximum context length",
        "prompt too long; exceeded max context length by 100918 tokens",
        "earendil-works/pi#2626, openclaw/openclaw#36074; ollama's server and MLX runner",
        "2026-11",
    ),
    Phrase(
        "llama.cpp",
        r"exceeds the available context size|exceed_context_size_error",
        "request (35999 tokens) exceeds the available context size (32768 tokens), try increasing it",
        "chflame163/ComfyUI_Qwen_H3_Prompt#5, ggml-org/llama.cpp#15780",
        "2026-09",
    ),
    Phrase(
        "llama-cpp-python",
        r"requested tokens \([\d,]+\) exceed context window of",
        "Requested tokens (590) exceed context window of 512",
        "fynnfluegge/doc-comments-ai#54",
        "2025-01",
    ),
    Phrase(
        "LM Studio",
        r"tokens to keep from the initial prompt is greater than the context length"
        r"|loaded with context length of only [\d,]+ tokens",
        "The number of tokens to keep from the initial prompt is greater than the context length",
        "lmstudio-ai/lmstudio-bug-tracker#2205 and #546",
        "2026-07",
    ),
    Phrase(
        "oMLX",
        r"exceeds max context window of [\d,]+ tokens",
        "Prompt too long: 32799 tokens exceeds max context window of 32768 tokens",
        "jundot/omlx#26",
        "2026-02",
    ),
    Phrase(
        "DS4",
        r"prompt has [\d,]+ tokens?, but the configured context size is|prompt tokens \([\d,]+\) exceeds context size",
        "Prompt has 256468 tokens, but the configured context size is 256000 tokens",
        "earendil-works/pi#6262, antirez/ds4#150",
        "2026-07",
    ),
    Phrase(
        "LiteLLM",
        r"ContextWindowExceededError|exceeds (?:the )?(?:model.?s )?maximum context (?:length|limit)\b",
        "litellm.ContextWindowExceededError: litellm.BadRequestError",
        "kortix-ai/suna#217, earendil-works/pi#5677 and #4563",
        "2026-06",
    ),
    Phrase(
        "any OpenAI-compatible server",
        r"context[_ ]length[_ ]exceeded|context[_ ]window[_ ]exceeded",
        "context_length_exceeded",
        "anomalyco/opencode#17746; OpenAI's code, which others have adopted",
        "2026-03",
    ),
    Phrase(
        "any server or proxy (HTTP 413)",
        r"(?:request entity|payload|413 content) too large|^\W*(?:(?:http|error|status)\W+(?:code\W+)?)?413\W*$",
        "413 Request Entity Too Large",
        "anomalyco/opencode#14064 (GitHub Copilot); RFC 9110, 15.5.14",
        "2026-02",
    ),
)

FROM_ONE: dict[str, Phrase] = {
    "cerebras": Phrase(
        "Cerebras",
        r"\W*400 (?:status code )?\(no body\)",
        "400 status code (no body)",
        "earendil-works/pi, packages/ai/src/utils/overflow.ts (Cerebras: 400/413 with no body); pi#4940, pi#9482",
        "2026-09",
    ),
}
"""By provider: a text that means an overflow only from this provider, matched at the start."""

LOOKALIKES: tuple[Phrase, ...] = (
    Phrase(
        "rate limits",
        r"rate[ _-]?limit",
        "This request would exceed your organization's rate limit of 30,000 input tokens per minute",
        "logancyang/obsidian-copilot#2327 (Anthropic)",
        "2026-03",
    ),
    Phrase(
        "tokens or requests in a span of time",
        r"(?:tokens?|requests?)(?: |_|/)?(?:per|/|a)(?: |_)?(?:second|min(?:ute)?|hour|day|month)|\b[TR]P[MHD]\b",
        "Request too large for gpt-4o on tokens per min (TPM): Limit 30000, Requested 342389.",
        "vanna-ai/vanna-flask#11 (OpenAI), continuedev/continue#10218 (Groq, with status 413)",
        "2026-02",
    ),
    Phrase(
        "too many requests",
        r"too[ _]?many[ _]?requests",
        "429 Too Many Requests",
        "RFC 6585; google-gemini/gemini-cli#14811",
        "2026-02",
    ),
    Phrase(
        "status 429",
        r"(?:^\W*|(?:code|status|http|error)\W{1,3})429\b(?![,.]?\d)",
        "Error code: 429",
        "FoundationAgents/OpenManus#746",
        "2025-03",
    ),
    Phrase(
        "throttling",
        r"throttl",
        "ThrottlingException: Too many tokens, please wait before trying again.",
        "crewAIInc/crewAI#7377 (Amazon Bedrock)",
        "2026-09",
    ),
    Phrase(
        "being asked to wait",
        r"please wait\b|try again (?:later\b|in \d)|retry[ -](?:after|in)\b",
        "Too many tokens, please wait before trying again.",
        "ranxianglei/billion-context-pi#169 (Amazon Bedrock behind a proxy)",
        "2026-08",
    ),
    Phrase(
        "quotas",
        r"quota",
        "token_quota_exceeded: Tokens per minute limit exceeded - too many tokens processed.",
        "anomalyco/opencode#13019 (Cerebras), google-gemini/gemini-cli#13112 (Gemini)",
        "2026-02",
    ),
    Phrase(
        "exhausted resources",
        r"resource[_ ](?:has been )?exhausted",
        "RESOURCE_EXHAUSTED: Resource has been exhausted (e.g. check quota).",
        "google-gemini/gemini-cli#19976 (Gemini)",
        "2026-02",
    ),
    Phrase(
        "credits and plans",
        r"more credits|can only afford|credit balance|insufficient[ _](?:balance|credits?|funds)"
        r"|(?:monthly|weekly|daily) limit",
        "Prompt tokens limit exceeded: 230799 > 91442. To increase, create a key with a higher monthly limit",
        "anomalyco/opencode#12219 (OpenRouter), anthropics/claude-code#88711",
        "2026-08",
    ),
    Phrase(
        "a server that is overloaded",
        r"overloaded|service[ _]?(?:is )?(?:temporarily )?unavailable|capacity exceeded",
        "overloaded_error: Overloaded",
        "anthropics/claude-code#70365, continuedev/continue#6185 (Mistral: Service tier capacity exceeded)",
        "2026-06",
    ),
    Phrase(
        "an id, a name or a description that is too long",
        r"string too long\b.{0,40}maximum length \d{1,5}\b|string should have at most [\d,]+ characters"
        r"|member must have length less than or equal to",
        "Invalid 'messages[11].tool_calls[0].id': string too long. Expected a string with maximum length 40",
        "BerriAI/litellm#17343 and #4735 (OpenAI), which treated it as an overflow",
        "2025-12",
    ),
    Phrase(
        "too many tools or blocks",
        r"array too long|number of toolResult blocks",
        "Invalid 'tools': array too long. Expected an array with maximum length 128",
        "zed-industries/zed#42393 (OpenAI), langgenius/dify-official-plugins#765 (Amazon Bedrock)",
        "2025-11",
    ),
    Phrase(
        "images that are too large or too many",
        r"image exceeds|image dimensions exceed|too many images",
        "At least one of the image dimensions exceed max allowed size for many-image requests: 2000 pixels",
        "charmbracelet/crush#3810 (Anthropic)",
        "2026-09",
    ),
    Phrase(
        "an answer that is asked to be too long",
        r"supports at most [\d,]+ (?:completion|output) tokens|maximum allowed number of output tokens"
        r"|max[_ ](?:completion_|output_|new_)?tokens must be less than or equal to [\d,]+|valid range of max_tokens"
        r"|maximum tokens you requested exceeds|max_tokens.{0,16}cannot (?:exceed [\d,]+|be greater than)",
        "max_tokens: 128001 > 64000, which is the maximum allowed number of output tokens",
        "anthropics/claude-code#24451, charmbracelet/crush#946 (Amazon Bedrock), "
        "CherryHQ/cherry-studio#4377 (DeepSeek), RooCodeInc/Roo-Code#5729 (Groq)",
        "2026-02",
    ),
)
