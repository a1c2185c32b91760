"""The errors of providers for a model that does not exist, and similar ones that are the fault of the request.

A 404 means that the endpoint does not have the model or the path; another member of a router may have it. Some
providers report this with other statuses (``GONE``). Some 404s are about something else that the request names, such as
a file (``NAMED``); these are checked first.
"""

import re

from ..rules import Phrase

_ID = r"\b(?:file[-_]|files/|cntr_|container_|conv_|pmpt_|vs_|cachedContents/)\w{4,}"

GONE: tuple[Phrase, ...] = (
    Phrase(
        "Anthropic",
        r"\bnot_found_error\b",
        "not_found_error: model: claude-sonnet-4-20250514",
        "vicharanashala/vibe#1259, promptfoo/promptfoo#10632",
        "2026-09",
    ),
    Phrase(
        "OpenAI, Groq, xAI, Cerebras, vLLM, DashScope and others",
        r"\bmodel_not_found\b|\bmodel:? \S{1,200} does not exist\b",
        "model_not_found: The model `llama3.1-405b` does not exist or you do not have access to it.",
        "continuedev/continue#10832, decolua/9router#3558, chenyme/grok2api#571",
        "2026-08",
    ),
    Phrase(
        "Groq, retired models",
        r"\bmodel_decommissioned\b|has been decommissioned and is no longer supported",
        "The model `gemma2-9b-it` has been decommissioned and is no longer supported.",
        "continuedev/continue#12741, atiilla/sqlmap-ai#3",
        "2026-06",
    ),
    Phrase(
        "Google Gemini, Vertex AI",
        r"models?/.{1,200}? is not found for API version|publisher model .{1,300}? (?:was )?not found",
        "NOT_FOUND: models/gemini-1.5-flash is not found for API version v1beta, or is not supported",
        "openclaw/openclaw#14036, ECuiDev/obsidian-quiz-generator#43",
        "2026-02",
    ),
    Phrase(
        "Amazon Bedrock",
        r"provided model identifier is invalid|with on-demand throughput isn.?t supported"
        r"|model version has reached the end of its life|marked by provider as legacy",
        "ValidationException: The provided model identifier is invalid.",
        "earendil-works/pi#4993, anthropics/anthropic-sdk-python#894, "
        "aws-solutions-library-samples/accelerated-intelligent-document-processing-on-aws#708",
        "2026-08",
    ),
    Phrase(
        "Mistral",
        r"\binvalid_model\b|\binvalid model: ",
        "invalid_model: Invalid model: mistral-medium-3.5",
        "mistralai/mistral-vibe#617, vava-nessa/free-coding-models#185",
        "2026-09",
    ),
    Phrase(
        "DeepSeek",
        r"\bmodel not exist\b",
        "invalid_request_error: Model Not Exist",
        "codedogQBY/ReadAny#18, deepwn/addi#13",
        "2026-04",
    ),
    Phrase(
        "OpenRouter",
        r"is not a valid model ID|no endpoints found for |no endpoints available matching your guardrail",
        "healer-alpha is not a valid model ID",
        "continuedev/continue#10758, OpenRouterTeam/openrouter-examples#74, vyancharuk/nodejs-api-boilerplate#16, "
        "truefoundry/models#826",
        "2026-05",
    ),
    Phrase(
        "Azure OpenAI",
        r"\bDeploymentNotFound\b|API deployment for this resource does not exist",
        "DeploymentNotFound: The API deployment for this resource does not exist.",
        "Azure-Samples/azure-search-openai-demo-csharp#379, rashadphz/farfalle#79",
        "2024-11",
    ),
)

NAMED: tuple[Phrase, ...] = (
    Phrase(
        "OpenRouter, features that no endpoint of the model has",
        r"no endpoints found that (?:support|can handle)",
        "No endpoints found that support image input",
        "github/app#2163, zed-industries/zed#36094, anomalyco/opencode#1675",
        "2026-07",
    ),
    Phrase(
        "OpenRouter, reasoning of another endpoint",
        r"encrypted (?:reasoning|payloads)",
        "Your request contains encrypted reasoning or compaction content that was produced under a different model.",
        "earendil-works/pi#8874, open-webui/open-webui#28240",
        "2026-11",
    ),
    Phrase(
        "OpenAI, items and answers that were not stored",
        r"item with id .{1,200}? not found|previous_response_not_found|previous response with id",
        "Item with id 'rs_04962823' not found. Items are not persisted when `store` is set to false.",
        "can1357/oh-my-pi#41, bigduu/Bamboo-agent#64",
        "2026-07",
    ),
    Phrase(
        "other things that a body may name by id, in any wording",
        rf"{_ID}.{{0,120}}?(?:not found|does not exist)|(?:not found|no such|does not exist).{{0,60}}?{_ID}",
        "File not found: file_011CNha8iCJcU1wXNR6q4V8w",
        "the request types of anthropic 2.8.0, openai 3.49.0 and google-genai 3.1.0, which have these ids",
        "2026-11",
    ),
)


def _compiled(rows: tuple[Phrase, ...]) -> re.Pattern[str]:
    return re.compile("|".join(row.pattern for row in rows), re.IGNORECASE)


IS_GONE, IS_NAMED = _compiled(GONE), _compiled(NAMED)
