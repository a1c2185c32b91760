"""OpenAI Responses: OpenAI and Azure."""

from typing import Literal

from .base import Dialect, IdForm, OwnReasoning


class OpenAIResponses(Dialect, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """State of the rules: 2026-11, SDK openai 3.49.0 and the API's error texts."""

    id_form: IdForm = "call-64"
    own_reasoning: OwnReasoning = "signed"  # a reasoning item is sent back whole or not at all
    images_in_results: bool = True  # function_call_output.output accepts input_image
    image_urls: bool = True  # "a fully qualified URL or base64 encoded image in a data URL" (SDK openai 3.49.0)
    # ResponseInputFileParam (SDK openai 3.49.0). Of files only PDFs are certain: "The file type you uploaded is not
    # supported. Please try again with a pdf". The SDK has a type for audio, but no message that may hold it.
    files: tuple[str, ...] = ("application/pdf",)
    file_urls: tuple[str, ...] = ("application/pdf",)
    files_in_results: tuple[str, ...] = ("application/pdf",)
    # Items of tools that the provider runs, and items with an output, such as those of a computer or a shell: the kinds
    # whose fields are in the SDK's request types, so that a damaged item is recognised.
    provider_content: tuple[str, ...] = (
        "web_search_call",
        "file_search_call",
        "code_interpreter_call",
        "image_generation_call",
        "mcp_call",
        "mcp_list_tools",
        "mcp_approval_*",
        "computer_call*",
        "local_shell_call*",
        "shell_call*",
        "apply_patch_call*",
        "tool_search_*",
        "program*",
        "compaction",
    )
    max_tools: int | None = 128  # "Invalid 'tools': array too long. Expected an array with maximum length 128"

    # "Unsupported parameter: 'temperature' is not supported with this model." (reasoning models)
    sampling: bool = False
    # Whether the model reasons if the request does not say whether. If it reasons only on request, sampling options are
    # accepted then, too ("Logprobs, temperature and top-p are controllable parameters on gpt-5.1 when reasoning effort
    # is set to none", which is its default: vercel/ai#10932). Only lint reads this.
    reasons_by_default: bool = True
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
