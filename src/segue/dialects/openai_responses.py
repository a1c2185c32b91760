"""OpenAI Responses: OpenAI and Azure."""

from typing import Literal

from .base import Dialect, IdForm, OwnReasoning


class OpenAIResponses(Dialect, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """State of the rules: 2026-11, SDK openai 3.49.0 and the API's error texts."""

    id_form: IdForm = "call-64"
    own_reasoning: OwnReasoning = "signed"  # a reasoning item is sent back whole or not at all
    images_in_results: bool = True  # function_call_output.output accepts input_image
    image_urls: bool = True  # "a fully qualified URL or base64 encoded image in a data URL" (SDK openai 3.49.0)
    max_tools: int | None = 128  # "Invalid 'tools': array too long. Expected an array with maximum length 128"

    # "Unsupported parameter: 'temperature' is not supported with this model." (reasoning models)
    sampling: bool = False
    # The supported reasoning levels. Empty: the model does not reason and refuses the parameter.
    effort: tuple[str, ...] = ()
    # `phase` on assistant messages: kept on replay from gpt-5.3-codex on.
    phase: bool = True
    # How the lifetime of cached prompts is set: not at all, with `prompt_cache_retention` up to GPT-5.5, or with
    # `prompt_cache_options` from GPT-5.6 on (SDK openai 3.49.0).
    cache: Literal["automatic", "retention", "options"] = "automatic"
    # `prompt_cache_key` (SDK openai 3.49.0; xAI: docs.x.ai, "Best Practices Guide", 2026-11).
    cache_key: bool = True
    # The field for the id of the end user. `user` is deprecated but accepted everywhere; `safety_identifier` is its
    # successor.
    user_field: Literal["user", "safety_identifier"] = "user"
