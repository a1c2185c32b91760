"""Google generateContent: the Gemini API and Vertex. Defaults are those of the newest models, Gemini 3.6 and later."""

from typing import Literal

from .base import Dialect, ForeignReasoning, IdForm, NameForm, OwnReasoning
from .schemas import SchemaForm


class GoogleGenerativeAI(Dialect, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """State of the rules: 2026-11, SDK google-genai 3.1 and the API's error texts."""

    id_form: IdForm = "toolu-64"
    name_form: NameForm = "letter-first"
    # Full JSON Schema for tools is sent as `parametersJsonSchema`, the OpenAPI subset as `parameters`.
    schema_form: SchemaForm = "gemini"
    own_reasoning: OwnReasoning = "any"  # thought parts may be replayed or dropped
    foreign_reasoning: ForeignReasoning = "drop"
    # functionResponse.parts: "`function_response.parts` is not supported for this model" before Gemini 3
    # (gemini-cli#19436).
    images_in_results: bool = True
    # Documents, sounds and videos as inlineData (ai.google.dev, 'File input methods', 2026-11). Files of text are sent
    # as text: the API reads nothing else of them. With images, results may have PDFs (ai.google.dev, 'Multimodal
    # function responses', 2026-11).
    files: tuple[str, ...] = ("application/pdf", "audio/*", "video/*")
    files_in_results: tuple[str, ...] = ("application/pdf",)
    # Code that the API ran, with its output, and images that the model made. What an answer is based on has no place in
    # requests: it is left out, as Google's SDKs do, and reported; only other models get it, as text.
    provider_content: tuple[str, ...] = (
        "executableCode",
        "codeExecutionResult",
        "inlineData",
        "groundingMetadata",
        "citationMetadata",
        "urlContextMetadata",
    )
    # functionResponse.response is {"error": …} instead of {"output": …}.
    error_flag: bool = True

    # Ids on calls and responses: Vertex answers `Unknown name "id"` (pydantic-ai#5081, vercel/ai#15664).
    send_ids: bool = False
    # "Function call is missing a thought_signature in functionCall parts": the first call of each model content needs
    # one. Google documents this dummy for calls of another origin.
    dummy_signature: str | None = "skip_thought_signature_validator"
    # A call without a signature is always refused: Gemini 3 and later. 2.5 Flash and Flash-Lite have refused some, too
    # (LLM-API-Key-Proxy#160, 2026-05; rowboat#694, 2026-07), so they get the dummy for calls of another origin; their
    # own calls have no signature if the model did not think.
    signature_required: bool = True
    # "Requests ending with a model turn are not supported": 3.6 Flash, 3.5 Flash-Lite and later.
    prefill: bool = False
    # The field that sets the reasoning level.
    reasoning_switch: Literal["none", "thinkingBudget", "thinkingLevel"] = "thinkingLevel"
    effort: tuple[str, ...] = ("low", "high")
    # The smallest thinkingBudget; 0 turns thinking off. "The model does not support setting thinking_budget to 0" on
    # 2.5 Pro, whose minimum is 128 (pi#3460, 2026-04; ai.google.dev/gemini-api/docs/thinking).
    least_budget: int = 0
    # No temperature, topP and topK from 3.5 Flash-Lite and 3.6 Flash on (model file of litellm 1.108.4, 2026-11).
    sampling: bool = False

    # Which of the two APIs answers. Each has fields that the other does not have (SDK google-genai 3.1.0 raises on
    # them: labels only on Vertex, toolCall and partMetadata only on the Gemini API).
    surface: Literal["gemini", "vertex"] = "gemini"
    # One content may hold text and function responses. Only lint reads this: the encoder always separates them. From
    # 3.5 on the answer is empty or "Requests ending with a model turn are not supported" (pydantic-ai#4210, 2026-08).
    mixed_responses: bool = False
    # "Function calling with a response mime type: 'application/json' is unsupported" before Gemini 3 (ai-manus#101);
    # only lint reads this.
    json_with_tools: bool = True
