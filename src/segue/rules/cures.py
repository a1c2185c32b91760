"""Cures as rows: what to change in a request that a provider has refused.

A row has the words of providers and the change that would make them accept the request: cells of the dialect, a limit
of the model, an option of this request alone, or signatures that do not belong to the endpoint. It is chosen by the
error's ``code`` and ``param`` if it has them, otherwise by its words (``treat.py``). No row changes what a user wrote,
except that an image which the target cannot read is shown as text. Numbers without a letter are those of
docs/healing.md.
"""

from .cure import Cure, Treatment
from .cure_readers import (
    EXTRA,
    UNKNOWN_NAME,
    binding,
    fields,
    id_length,
    image_limits,
    keyword,
    levels,
    most_tokens,
    unknown_names,
    without,
    without_field,
)
from .overflow import is_overflow_text

DUMMY = "skip_thought_signature_validator"
LISTED = "Supported values are"
_CLAUDE = ("anthropic-messages", "bedrock-converse")
_CHAT = ("openai-completions",)

CURES: tuple[Cure, ...] = (
    Cure(
        number="1",
        title="thinking that the endpoint did not sign is rendered like that of another model",
        protocols=_CLAUDE,
        words=r"invalid `?(?:signature|data)`? in `?(?:redacted_)?thinking`? block",
        treatment=Treatment(foreign="remembered"),
        example="messages.1.content.0: Invalid `signature` in `thinking` block",
        source="hermes-agent#24401, better-ccflare#52, vellum-assistant#31358",
        seen="2026-07",
    ),
    Cure(
        number="2",
        title="thinking is off for this request: the running tool loop began without it",
        protocols=_CLAUDE,
        words=r"expected `?thinking`? or `?redacted_thinking`?, but found"
        r"|assistant`? message must start with a thinking",
        treatment=Treatment(options={"reasoning": "off"}),
        example="messages.1.content.0.type: Expected `thinking` or `redacted_thinking`, but found `tool_use`. When "
        "`thinking` is enabled, a final `assistant` message must start with a thinking block",
        source="openai-agents-python#1704, opencode#3077, zed#33317",
        seen="2026-06",
    ),
    Cure(
        number="3",
        title="thinking is left out of this request",
        protocols=_CLAUDE,
        words=r"message in the final position cannot contain `?thinking|each thinking block must contain thinking",
        treatment=Treatment(foreign="once", once={"reasoning_as_text": False}),
        example="When thinking is disabled, an `assistant` message in the final position cannot contain `thinking`",
        source="forgecode#1853; opencode#11571 (each thinking block must contain thinking)",
        seen="2026-05",
    ),
    Cure(
        number="4",
        title="encrypted reasoning of another caller is left out, its summaries are kept",
        protocols=("openai-responses",),
        words=r"invalid_encrypted_content|encrypted[_ ]content (?:was not issued|could not be)"
        r"|encrypted content .{0,80}could not be (?:verified|decrypted)",
        codes=("invalid_encrypted_content",),
        treatment=Treatment(foreign="remembered"),
        example="encrypted_content was not issued to this caller",
        source="gentle-ai#4595, free-claude-code#1717",
        seen="2026-08",
    ),
    Cure(
        number="5",
        title="unsigned calls get the placeholder that Google documents",
        protocols=("google-generative-ai",),
        words=r"missing a `?thought_signature",
        treatment=Treatment(cells={"dummy_signature": DUMMY, "signature_required": True}),
        example="Function call is missing a thought_signature in functionCall parts.",
        source="litellm#16893, vercel/ai#15550, pipecat#5809; ai.google.dev, thought signatures",
        seen="2026-07",
    ),
    Cure(
        number="5b",
        title="unsigned calls get the placeholder that Google documents, where its OpenAI endpoint reads it",
        protocols=_CHAT,
        words=r"missing a `?thought_signature",
        treatment=Treatment(cells={"dummy_signature": DUMMY, "dummy_in": "extra_content"}),
        example="Function call is missing a thought_signature in functionCall parts.",
        source="openhuman#3548, pi#6733 (Gemini's OpenAI endpoint)",
        seen="2026-06",
    ),
    Cure(
        number="5c",
        title="signatures that the endpoint cannot read are replaced by the placeholder",
        protocols=("google-generative-ai",),
        words=r"corrupted thought signature|thought signature is not valid|base64 decoding failed",
        treatment=Treatment(foreign="remembered", cells={"dummy_signature": DUMMY, "signature_required": True}),
        example="Corrupted thought signature.",
        source="opencode#4832",
        seen="2026-06",
    ),
    Cure(
        number="6",
        title="reasoning is sent back, or an empty text",
        protocols=_CHAT,
        words=r"reasoning_content`? in the thinking mode must be passed back",
        treatment=Treatment(
            cells={
                "own_reasoning": "any",
                "reasoning_field": "reasoning_content",
                "reasoning_required": "always",
                "reasoning_placeholder": "",
            }
        ),
        example="The `reasoning_content` in the thinking mode must be passed back to the API.",
        source="pi#3636, langchain#34166, OpenHands#14177; gone again in 2026-06 (langchain)",
        seen="2026-05",
    ),
    Cure(
        number="6b",
        title="reasoning is sent back with calls, or a blank",
        protocols=_CHAT,
        words=r"reasoning_content is missing in assistant tool call message",
        treatment=Treatment(
            cells={
                "own_reasoning": "any",
                "reasoning_field": "reasoning_content",
                "reasoning_required": "calls",
                "reasoning_placeholder": " ",
            }
        ),
        example="thinking is enabled but reasoning_content is missing in assistant tool call message at index 2",
        source="pi#4178 (Kimi)",
        seen="2026-06",
    ),
    Cure(
        number="7",
        title="reasoning is left out",
        protocols=_CHAT,
        words=r"property '[^']*reasoning(?:_\w+)?' is unsupported"
        r"|reasoning(?:_content)? is not (?:allowed|supported) in",
        treatment=Treatment(
            cells={
                "own_reasoning": "none",
                "reasoning_field": None,
                "reasoning_accepts": (),
                "reasoning_required": "never",
            }
        ),
        example="property 'messages.2.assistant.reasoning_content' is unsupported",
        source="Mastra, ProviderHistoryCompat (Cerebras); jan#8136 (Groq)",
        seen="2026-06",
    ),
    Cure(
        number="7b",
        title="reasoning is left out",
        protocols=("mistral-chat",),
        words=r"reasoning input is not enabled|Unexpected content chunk types in assistant message: \['ThinkChunk'\]",
        treatment=Treatment(cells={"own_reasoning": "none"}),
        example="Reasoning input is not enabled for this model",
        source="suitenumerique/conversations#402",
        seen="2026-05",
    ),
    Cure(
        number="8",
        title="the option is renamed, or left out",
        words=r"unsupported parameter:? [`'\"]?(?P<field>[\w.\[\]]+)|unrecognized request arguments? supplied:? "
        r"[`'\"]?(?P<argument>[\w.\[\]]+)"
        r"|unknown (?:parameter|field|name):? [`'\"](?P<unknown>[\w.\[\]]+)[`'\"](?! at )",
        codes=("unsupported_parameter", "unknown_parameter"),
        read=lambda case: without(case, "field", "argument", "unknown"),
        example="Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' "
        "instead.",
        source="vscode-copilot-release#9954, tududi#1513, EuroEval#2176",
        seen="2026-08",
    ),
    Cure(
        number="9",
        title="the option is left out: the model has only its default",
        words=r"unsupported value: '(?P<field>[\w.\[\]]+)' does not support"
        r"|`?(?P<deprecated>temperature|top_p|top_k)`? (?:is deprecated|is not supported|may not be set)",
        codes=("unsupported_value",),
        read=lambda case: None if LISTED in case.refused.text else without(case, "field", "deprecated"),
        example="Unsupported value: 'temperature' does not support 0.16 with this model. Only the default (1) value is "
        "supported.",
        source="9router#560, hermes-agent#78305",
        seen="2026-08",
    ),
    Cure(
        number="9b",
        title="the nearest level of reasoning that the model has",
        protocols=("openai-completions", "openai-responses"),
        words=r"unsupported value: '(?:reasoning\.effort|reasoning_effort)' does not support .{0,80}supported values "
        r"are: (?P<levels>[^.]{0,200})",
        read=levels,
        example="Unsupported value: 'reasoning_effort' does not support 'minimal' with this model. Supported values "
        "are: 'low', 'medium', and 'high'.",
        source="the API's error texts, as families.toml cites them",
        seen="2026-11",
    ),
    Cure(
        number="10",
        title="no tool is forced",
        words=r"only a? ?(?P<field>tool_choice) of '?auto'?"
        r"|(?P<argument>tool_choice).{0,80}(?:not supported|only .{0,12}auto)",
        params=("tool_choice",),
        read=lambda case: without_field(case, "toolConfig.toolChoice" if "toolConfig" in case.body else "tool_choice"),
        example="Only a tool_choice of 'auto' is supported for this model.",
        source="oh-my-pi#4715",
        seen="2026-07",
    ),
    Cure(
        number="11",
        title="images are shown as text",
        words=r"(?:does not|doesn't|do not|cannot) (?:support|accept|process|read) (?:any )?(?:image|vision|multimodal)"
        r"|no endpoints found that support image input|unknown variant `?image|unexpected item type in content"
        r"|not a multimodal model|image input is not supported|image_url is (?:only|not) supported",
        treatment=Treatment(limits={"input": ("text",)}),
        example="No endpoints found that support image input",
        source="open-cowork#251; hermes-agent#21198 and #53901, jcode#1094, CLIProxyAPI#3728 (404); agentao#59",
        seen="2026-09",
    ),
    Cure(
        number="12",
        title="tool results are plain text, their images follow in a user message",
        words=r"\btext is not set\b|tool message content must be a string|expected (?:a )?string,? (?:but )?got (?:a )?"
        r"(?:list|array)|content of (?:a )?tool .{0,20}must be (?:a )?string",
        treatment=Treatment(cells={"images_in_results": False, "exact_form": True}),
        example="tool message content must be a string",
        source="hermes-agent source and #27344 (MiMo: text is not set)",
        seen="2026-06",
    ),
    Cure(
        number="13",
        title="images above the limit are shown as text",
        words=r"image exceeds (?P<megabytes>\d+) ?MB maximum(?:: [\d,]+ bytes > (?P<bytes>[\d,]+) bytes)?",
        read=image_limits,
        example="messages.0.content.1.image.source.base64: image exceeds 5 MB maximum: 5316852 bytes > 5242880 bytes",
        source="claude-code#46656, crush#3810",
        seen="2026-09",
    ),
    Cure(
        number="13b",
        title="images above the limit are shown as text",
        words=r"image dimensions exceed max allowed size(?: for many-image requests)?: (?P<pixels>\d+) pixels",
        read=image_limits,
        example="At least one of the image dimensions exceed max allowed size: 8000 pixels",
        source="claude-code#46656, crush#3810",
        seen="2026-09",
    ),
    Cure(
        number="14",
        title="ids of calls get the form that the words describe",
        words=r"(?:tool_use(?:\.id|_id)|toolUseId|tool_call_?id|call_id).{0,120}pattern:? '?\^\[a-zA-Z0-9_-\]\+\$",
        treatment=Treatment(cells={"id_form": "toolu-64"}),
        example="messages.3.content.0.tool_use.id: String should match pattern '^[a-zA-Z0-9_-]+$'",
        source="maple-proxy#18, Mastra",
        seen="2026-06",
    ),
    Cure(
        number="14b",
        title="ids of calls have nine letters and digits",
        words=r"must be a-z, A-Z, 0-9, with a length of 9",
        treatment=Treatment(cells={"id_form": "nine"}),
        example="Tool call id was call_123 but must be a-z, A-Z, 0-9, with a length of 9.",
        source="Mistral's API, code 3280; templates of its models",
        seen="2026-09",
    ),
    Cure(
        number="14c",
        title="ids of calls are shorter",
        words=r"(?:tool_calls?\[\d+\]\.id|call_id)'?: string too long.{0,60}maximum length (?P<length>\d+)",
        read=id_length,
        example="Invalid 'messages[11].tool_calls[0].id': string too long. Expected a string with maximum length 40",
        source="litellm#17343, fastllm#45",
        seen="2026-02",
    ),
    Cure(
        number="15",
        title="the unknown fields are left out; in a tool's schema these are keywords",
        protocols=("google-generative-ai",),
        words=UNKNOWN_NAME,
        read=unknown_names,
        example='Invalid JSON payload received. Unknown name "propertyNames" at '
        "'tools[0].function_declarations[14].parameters.properties[0].value': Cannot find field.",
        source="nodetool#4388, CLIProxyAPI#5853 (readOnly), openswarm#24",
        seen="2026-08",
    ),
    Cure(
        number="15b",
        title="keywords that the grammar of a local server cannot express are left out",
        protocols=_CHAT,
        words=r"(?:parse|parsing|compile|initialize)\w* grammar|json schema conversion failed|pattern must start with",
        treatment=Treatment(cells={"refused_keywords": ("pattern", "format")}),
        example="Failed to parse grammar",
        source="llama.cpp's server; hermes-agent, llama_cpp_grammar_pattern",
        seen="2026-06",
    ),
    Cure(
        number="15c",
        title="the keyword is left out of tool schemas",
        words=r"invalid schema for (?:function|tool) .{0,300}'(?P<keyword>[A-Za-z$]+)' is not (?:permitted|supported)",
        read=keyword,
        example="Invalid schema for function 'search': In context=('properties', 'query'), 'propertyNames' is not "
        "permitted.",
        source="the API's error texts (OpenAI)",
        seen="2026-06",
    ),
    Cure(
        number="16",
        title="the request has a form that rendering should have prevented",
        words=r"text content blocks must be non-empty|roles must alternate|ids were found without `?tool_result"
        r"|unexpected `?tool_use_id|must be followed by tool messages|must be a response to a preceeding message"
        r"|no tool (?:call|output) found for function call|number of function response parts|Unexpected role '",
        reported=True,
        example="messages: text content blocks must be non-empty",
        source="the rules ANT, OAC, OAR, GEM and MIS of docs/rules.md",
        seen="2026-11",
    ),
    Cure(
        number="17",
        title="the conversation is too long: compaction or another model, not a resend",
        words=r"(?:> ?|maximum (?:context|prompt)[^\d]{0,40}|limit of |maximum of )(?P<limit>[\d,]{4,})|$",
        applies=is_overflow_text,
        reported=True,
        example="prompt is too long: 213462 tokens > 200000 maximum",
        source="docs/overflow.md",
        seen="2026-11",
    ),
    Cure(
        number="18",
        title="max_tokens is limited to what the words allow",
        words=r"max_?tokens:? [\d,]+ > (?P<limit>[\d,]+), which is the maximum|supports at most (?P<most>[\d,]+) "
        r"(?:completion|output) tokens|max_?(?:completion_|output_|new_)?tokens.{0,40}less than or equal to "
        r"`?(?P<bound>[\d,]+)|valid range of max_tokens is \[\d+, ?(?P<range>[\d,]+)\]"
        r"|tokens you requested exceeds the model limit of (?P<last>[\d,]+)",
        read=most_tokens,
        example="max_tokens: 1000000 > 64000, which is the maximum allowed number of output tokens for "
        "claude-sonnet-4-20250514",
        source="OpenHands#11090, claude-code#11302, hermes-agent#90376; crush#946 (Bedrock), Roo-Code#5729 (Groq)",
        seen="2026-02",
    ),
    Cure(
        number="19",
        title="the prompt is not marked for caching",
        words=r"did not allow prompt caching|does(?: not|n't) support (?:prompt )?caching"
        r"|cache_?(?:point|control).{0,80}not (?:supported|allowed)",
        treatment=Treatment(cells={"cache_points": "none", "caching": "automatic", "cache_markers": False}),
        example="You invoked an unsupported model or your request did not allow prompt caching.",
        source="bifrost#3151",
        seen="2026-05",
    ),
    Cure(
        number="20",
        title="exactly the field that is named is left out, unless it is content",
        words=EXTRA,
        read=fields,
        example="tools.0.custom.strict: Extra inputs are not permitted",
        source="LibreChat#6724; FastAPI servers report the same with `loc`",
        seen="2026-06",
    ),
    Cure(
        number="21",
        title="reasoning that another upstream encrypted is left out, readable parts are kept",
        protocols=("openai-completions", "openai-responses"),
        words=r"encrypted (?:reasoning|payloads)",
        treatment=Treatment(foreign="remembered"),
        example="Your request contains encrypted reasoning or compaction content that was produced under a different "
        "model.",
        source="pi#8874, open-webui#28240 (OpenRouter, 404, with metadata.pinned_endpoint_slug)",
        seen="2026-11",
    ),
    Cure(
        number="22",
        title="thinking that is bound to another conversation is left out, by the provider itself from then on",
        protocols=_CLAUDE,
        words=r"bound to a different conversation",
        read=binding,
        example="messages.1.content.0: Invalid `signature` in `thinking` block. The block is bound to a different "
        "conversation.",
        source="opencode#48637, pydantic-ai#7984",
        seen="2026-10",
    ),
    Cure(
        number="23",
        title="reasoning items always have a summary",
        protocols=("openai-responses",),
        words=r"input\[\d+\]`?'?.{0,40}missing required (?:field|parameter):? [`'](?:input\[\d+\]\.)?summary"
        r"|missing required (?:field|parameter):? [`']input\[\d+\]\.summary",
        treatment=Treatment(cells={"exact_form": True}),
        example="`input[87]` missing required field `summary`",
        source="zai-org/feedback#682",
        seen="2026-09",
    ),
    Cure(
        number="24",
        title="the system prompt has the role that the target knows",
        protocols=_CHAT,
        words=r"unknown variant `developer`|unsupported role:? [`'\"]?developer|role 'developer' is not",
        treatment=Treatment(cells={"system_role": "system", "exact_form": True}),
        example="unknown variant `developer`, expected one of `system`, `user`, `assistant`, `tool`",
        source="9router#773 (DeepSeek)",
        seen="2026-06",
    ),
    Cure(
        number="24b",
        title="the system prompt is sent as the first user message",
        protocols=_CHAT,
        words=r"'messages\[\d+\]\.role' does not support '(?:system|developer)'|system role not supported",
        treatment=Treatment(cells={"system_role": "user"}),
        example="Unsupported value: 'messages[0].role' does not support 'system' with this model.",
        source="recordings of pydantic-ai (o1-mini); template of gemma-2",
        seen="2025-06",
    ),
)
