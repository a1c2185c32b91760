"""OpenAI Chat Completions and the large family of providers that speak it, each a little differently.

The defaults suit a self-hosted server with an unknown chat template: plain strings, ids of nine characters, alternating
roles, one system message, no field that a strict server could refuse (templates of 68 models rendered, 2026-10).
"""

from typing import Literal

from .base import Dialect, IdForm
from .schemas import SchemaRefs

EmptyContent = Literal["null", "empty", "omit"]
ReasoningSwitch = Literal[
    "none",
    "reasoning_effort",
    "thinking",
    "thinking-and-effort",
    "enable_thinking",
    "reasoning-effort-object",
    "reasoning-enabled-object",
]
ReasoningField = Literal["reasoning_content", "reasoning", "reasoning_text", "reasoning_details", "think-tags"]


class OpenAICompletions(Dialect, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """State of the rules: 2026-11, SDK openai 3.49.0 and the error texts of the family's members."""

    id_form: IdForm = "nine"
    signatures: Literal["opaque", "details"] = "details"
    schema_refs: SchemaRefs | None = "inline"  # an unknown model may misread references

    # The role of the system prompt. `developer` is refused outside OpenAI, OpenRouter, Cerebras and Groq ("unknown
    # variant `developer`, expected one of `system`, `user`, `assistant`, `tool`", DeepSeek, 9router#773). `user` if
    # neither is accepted: "System role not supported" (template of gemma-2), "'messages[0].role' does not support
    # 'system' with this model" (o1-mini, in recordings of pydantic-ai).
    system_role: Literal["system", "developer", "user"] = "system"
    # Whether `developer` is accepted as well, and whether several system messages may appear anywhere ("chat content
    # has invalid message role: system", MiniMax, note-gen#918; "System message must be at the beginning.", template of
    # Qwen3.5). Only lint reads these.
    developer_role: bool = False
    system_anywhere: bool = False
    # "Conversation roles must alternate": templates of Mistral and Gemma; "deepseek-reasoner does not support
    # successive user or assistant messages" (DeepSeek-R1#21).
    alternate_roles: bool = True
    # An answer may not come first: templates of Mistral and Gemma. Z.ai (nanobot#3082) and Qwen3.5 refuse a
    # conversation without a user message ("No user query found in messages."). OpenAI accepts any order.
    starts_with_user: bool = True
    # "Unexpected role 'user' after role 'tool'": templates of Mistral models, and its API until spring 2026.
    user_after_tool: bool = False
    # An assistant message at the end is refused; otherwise it is a prefill.
    ends_with_user: bool = True
    # The content beside tool calls if there is no text: `""` breaks GLM and MiniMax (pi#3365), null breaks nine
    # templates, and Ollama accepts null only beside calls.
    empty_content: EmptyContent = "empty"
    # Whether content with images may be a list of parts. A list breaks 22 of 68 templates, so text alone is always sent
    # as a string.
    image_parts: bool = True
    # An answer with neither text nor calls, and an empty text: "the message at position 8 with role 'assistant' must
    # not be empty" (Kimi, AstrBot#7200); "Each message must have at least one content element" (xAI, crush#964).
    empty_messages: bool = False
    # "This model only supports single tool-calls at once!" (templates of Llama 3.1 to 3.3).
    parallel_calls: bool = True
    # The template of gpt-oss refuses "both content and thinking on a message with tool calls".
    text_with_reasoned_calls: bool = True
    # The tool template of command-r-plus fails on a parameter without a description.
    parameter_descriptions: bool = False
    # `name` on tool messages; strict servers refuse unknown fields (Groq, Fireworks, OpenRouter).
    tool_name_field: bool = False

    # The field in which reasoning of earlier answers is sent back; strict servers refuse any other ("property
    # 'reasoning_content' is unsupported", Groq and Cerebras).
    reasoning_field: ReasoningField | None = None
    # Other fields that are also accepted, if the reasoning came in them.
    reasoning_accepts: tuple[ReasoningField, ...] = ()
    # Thinking may come in <think> tags at the beginning of the content: servers without a reasoning parser for a model
    # pass its text through (vLLM without `--reasoning-parser`, llama.cpp with `--reasoning-format none`, Ollama with a
    # template without thinking; documentation of each, 2026-11). It is sent back as `reasoning_field` states.
    tagged_reasoning: bool = False
    # Which assistant messages must have the field (`loop`: those with calls after the last user message; it is then
    # sent on all with calls), and the shortest accepted placeholder ("thinking is enabled but reasoning_content is
    # missing in assistant tool call message", Kimi, where "" counts as missing: pi#4178; "The `reasoning_content` in
    # the thinking mode must be passed back to the API", DeepSeek V4, where "" is accepted).
    reasoning_required: Literal["never", "loop", "calls", "always"] = "never"
    reasoning_placeholder: str = " "
    # The field of an answer that names the upstream behind a router. Signed and encrypted `reasoning_details` are sent
    # back for one upstream only, the first in the history: "Encrypted payloads can only be replayed to the endpoint
    # that created them", a 404 of OpenRouter with `pinned_endpoint_slug` "openai/gpt-5.6-luna-20260709|azure" (pi#8874,
    # open-webui#28240, 2026-08). OpenRouter pins the request to that endpoint itself, if it has the model.
    upstream_field: Literal["provider"] | None = None
    # The placeholder for the signature of an unsigned call in `reasoning_details`, whose encrypted entries have the id
    # of their call ("Gemini models require OpenRouter reasoning details to be preserved in each request", LibreChat
    # agents#37; Google's documented dummy, in the form that Roo-Code#10759 sends, 2026-01).
    dummy_signature: str | None = None
    # Where the placeholder goes. Gemini's own OpenAI endpoint reads signatures in `extra_content` of the first call
    # ("Function call is missing a thought_signature", openhuman#3548, 2026-06).
    dummy_in: Literal["reasoning_details", "extra_content"] = "reasoning_details"

    # "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead."
    max_tokens_field: Literal["max_tokens", "max_completion_tokens"] = "max_tokens"
    # The field that sets the reasoning level, and the supported levels.
    reasoning_switch: ReasoningSwitch = "none"
    effort: tuple[str, ...] = ()
    # `thinking_budget` beside `enable_thinking` (documentation of DashScope; @ai-sdk/alibaba 1.0.61, 2026-11).
    thinking_budget: bool = False
    # "parameter.enable_thinking must be set to false for non-streaming calls" (DashScope: new-api#1109,
    # langchain4j#3974, 2025-26). Also sent if no level is wanted, because open-weight models think by default.
    thinking_streams_only: bool = False
    # The switch without which earlier reasoning is sent back in vain: `thinking.clear_thinking: false` (Z.ai, where
    # true is the default of the standard endpoint: opencode and pi sources, opencrabs#1348) or `preserve_thinking:
    # true` (DashScope: @ai-sdk/alibaba 1.0.61, 2026-11).
    keeps_thinking: Literal["clear_thinking", "preserve_thinking"] | None = None
    # `tool_stream: true`, without which long arguments come after minutes of silence (Z.ai: pi 1.5.2, opencrabs#1347).
    tool_stream: bool = False
    # Send `reasoning_format: parsed`, so that reasoning does not come as text of the answer (Groq).
    parsed_reasoning: bool = False
    # "Unsupported value: 'temperature' does not support 0.5 with this model." (OpenAI reasoning models, Kimi K2.5+)
    sampling: bool = True
    # Whether the model reasons if the request does not say whether. If it reasons only on request, sampling options are
    # accepted then, too ("Logprobs, temperature and top-p are controllable parameters on gpt-5.1 when reasoning effort
    # is set to none", which is its default: vercel/ai#10932). Only lint reads this.
    reasons_by_default: bool = True
    # `stop` is refused by OpenAI's 5.6 and xAI's grok-4 class; how many sequences it may have ("Up to 4", SDK openai
    # 3.49.0).
    stop: bool = True
    max_stops: int = 4
    # Forced tool_choice: refused with thinking on by Kimi and DeepSeek.
    forced_tool_choice: bool = True
    # "Function tools with reasoning_effort are not supported … in /v1/chat/completions … or set reasoning_effort to
    # 'none'." (GPT-5.5 and later); gpt-6-astra refuses 'none' too and has no tools here at all.
    tools_with_reasoning: bool = True
    # Tools and calls of the type `builtin_function`, whose names begin with "$" (Kimi's `$web_search`, documentation of
    # Moonshot, "Use web search", 2025). Only lint reads this.
    builtin_functions: bool = False
    # `strict` in tools; and `stream_options`, which requests the usage of a stream: some gateways need it, older
    # servers refuse it ("extra_forbidden … stream_options, include_usage", Mistral's API, avante.nvim#2347, 2025).
    strict_tools: bool = False
    stream_usage: bool = True
    # The field for the id of the end user. `metadata` itself "is only allowed when 'store' is enabled" (OpenAI, in
    # public clients), and segue does not decide whether anything is stored.
    user_field: Literal["user", "safety_identifier"] | None = None
    # How prompts are cached: automatically, automatically with `prompt_cache_retention: 24h` on request, or at markers.
    caching: Literal["automatic", "24h", "markers"] = "automatic"
    # `prompt_cache_key` (SDK openai 3.49.0), and a header by which a router keeps a conversation on one server (pi
    # 1.5.2, openai-completions.js; documentation of Fireworks, "Prompt caching", 2026).
    cache_key: bool = False
    affinity_header: Literal["x-session-id", "x-session-affinity"] | None = None
    # Only lint reads these four. Whether unknown keys are refused (400 or 422), in messages ("property
    # 'reasoning_content' is unsupported", Groq, jan#8136) and at the top ("body.store: property 'body.store' is
    # unsupported", Cerebras, openclaude#740); whether the top may have fields that only OpenAI's SDK has (`store`,
    # `verbosity` …); further fields that are accepted at the top, and in answers.
    strict_keys: bool = True
    openai_fields: bool = False
    body_fields: tuple[str, ...] = ()
    message_fields: tuple[str, ...] = ()
    # The Python SDK that is used for this provider.
    sdk: Literal["openai", "groq", "cerebras"] = "openai"
