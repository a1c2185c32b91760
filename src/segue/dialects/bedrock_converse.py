"""Amazon Bedrock Converse. Families differ a lot; the defaults are the strictest of all of them."""

from typing import Literal

from .base import Dialect, ForeignReasoning, IdForm
from .schemas import SchemaForm

ReasoningSwitch = Literal[
    "none", "thinking-budget", "thinking-adaptive", "reasoning_config", "reasoning_effort", "reasoningConfig"
]


class BedrockConverse(Dialect, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """State of the rules: 2026-11, botocore 1.44.0 and the API's error texts."""

    id_form: IdForm = "plain-64"
    foreign_reasoning: ForeignReasoning = "drop"
    # Nova's; Claude accepts more.
    schema_form: SchemaForm = "nova"
    needs_tools: bool = True
    # The formats of botocore 1.44.0 (DocumentFormat, VideoFormat, AudioFormat). Files of text are sent as text:
    # documents are limited in number, and their names in characters (BED-19). In results only some families read them.
    files: tuple[str, ...] = (
        "application/pdf",
        "application/msword",
        "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
        "application/vnd.ms-excel",
        "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
        "video/*",
        "audio/*",
    )
    # toolResult.status: Claude and Nova; "This model doesn't support the status field." (Writer)
    error_flag: bool = False
    # "The format of the value at messages.262.content.1.toolUse.input is invalid. Provide a json object for the field
    # and try again." for {"": ""}, also deep inside, and also where the model itself wrote it (pi#7782, 2026-08;
    # opencode#46296, 2026-08: only keys that are exactly empty, at any depth).
    empty_keys: bool = False
    # At most 20 images, each of at most 3.75 MB and 8,000 pixels on a side (Converse API reference, 2026).
    max_images: int | None = 20
    max_image_bytes: int | None = 3_932_160
    max_image_pixels: int | None = 8_000

    # Converse also reports what Claude's own API checks ("The model returned the following errors: …").
    anthropic_backend: bool = False
    # "A conversation must alternate between user and assistant roles." Claude and Nova merge consecutive messages of
    # one role (pydantic-ai, 2026); segue never sends them.
    alternates: bool = True
    # "A conversation must start with a user message." Claude, Qwen, GLM and Kimi accept a leading assistant
    # (pydantic-ai, verified 2026-07-03).
    starts_with_user: bool = True
    prefill: bool = False
    # "Conversation blocks and tool result blocks cannot be provided in the same turn." (Llama, Mistral, Writer)
    mixed_turns: bool = False
    # "This model doesn't support system messages." (Mistral 7B, Mixtral, Titan)
    system_prompt: bool = True
    # A `system` role inside messages (botocore 1.44): Claude Opus 4.8 and later; segue never sends one.
    system_in_messages: bool = False
    # "This model doesn't support tool use." (DeepSeek R1)
    tools: bool = True
    # "This model doesn't support tool use in streaming mode." (Llama 3 and 4, GPT-OSS)
    tools_while_streaming: bool = True
    tool_choice: tuple[Literal["auto", "any", "tool"], ...] = ("auto",)
    # Tool results as `json`, for families that read it better (Mistral).
    json_results: bool = False
    # "This model doesn't support the reasoningContent.reasoningText.signature field." (all but Claude)
    reasoning_signature: bool = False
    # Reasoning comes only as `redactedContent` and is sent back unchanged; "This model doesn't support the
    # reasoningContent.reasoningText.text field for assistant messages." (GPT-5.6 and later, inspect_ai#5217, 2026-09)
    redacted_reasoning: bool = False
    # cachePoint blocks: Claude and Nova; one hour only on Claude.
    cache_points: Literal["none", "5m", "1h"] = "none"
    sampling: bool = True
    stop: bool = True
    # The field of additionalModelRequestFields that sets the reasoning level.
    reasoning_switch: ReasoningSwitch = "none"
    # How thinking is turned off: not at all, without the field, or with `thinking: {type: disabled}`.
    reasoning_off: Literal["none", "leave-out", "disabled"] = "none"
    # The supported levels: Claude up to `xhigh` behind Converse, GPT-OSS low, medium and high, Qwen low and high.
    effort: tuple[str, ...] = ()
