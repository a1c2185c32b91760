"""The fields that dialects of all protocols have in common. Projection reads them.

A dialect is a record of how one target differs from the protocol that it speaks. Its fields are facts about the target.
Their defaults are the strictest known behaviour, for models that the catalog does not describe. Dialects do not decide
anything: catalog rows set the fields, passes and encoders read them.
"""

from typing import Literal

from msgspec import Struct

from .schemas import SchemaForm, SchemaRefs

IdForm = Literal["call-40", "call-64", "toolu-64", "plain-64", "nine", "kimi"]
"""The form of tool-call ids that a target accepts; ``ids.py`` defines them."""

NameForm = Literal["dashes", "underscores", "letter-first"]
"""The form of tool names that a target accepts; ``names.py`` defines them."""

OwnReasoning = Literal["signed", "any", "none"]
"""Which of its own thinking a target accepts back: only what it signed, also plain text, or none."""

ForeignReasoning = Literal["labelled", "drop", "keep-signed"]
"""What policy ``auto`` does with readable thinking of another origin."""

PrefixMismatch = Literal["drop_block", "error"]
"""What a target does with thinking that is bound to another prefix than the one before it now."""


StructuredOutput = Literal["no", "alone", "yes"]
"""Whether a target has structured output, and with what it may be combined."""

REASONING_FIELDS = ("reasoning_content", "reasoning", "reasoning_text")
"""The fields in which members of the Chat Completions family return reasoning as plain text. Such a name may be stored
as ``thinking_signature``, but it is not a signature."""


class Dialect(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The fields that all protocols have in common."""

    @property
    def has_cache_key(self) -> bool:
        """Whether the target uses ``Options.cache_key``: protocols have cells for it, ``cache_key`` and
        ``affinity_header``."""
        return bool(getattr(self, "cache_key", False) or getattr(self, "affinity_header", None))

    id_form: IdForm = "nine"
    name_form: NameForm = "dashes"

    own_reasoning: OwnReasoning = "none"
    # The content of `thinking_signature`. `opaque`: a signature. `details`: the name of the field in which the
    # reasoning came, or all of `reasoning_details` as JSON text; only the latter can be verified.
    signatures: Literal["opaque", "details"] = "opaque"
    foreign_reasoning: ForeignReasoning = "labelled"
    # False: foreign thinking is dropped under every policy, because as text it makes the model leak its own thinking or
    # refuse (pydantic-ai#6692, oh-my-pi#7241, pi#9554; seen until 2026-10).
    reasoning_as_text: bool = True
    # Other models whose signed thinking the target reads, as globs of model ids: policy `auto` keeps their thinking.
    # "Each model reads its own thinking blocks and those of a fixed set of other models" (platform.claude.com,
    # "Preserved thinking", 2026-10). Signatures of other models are refused (llxprt-code#2335, openclaw#107221,
    # 2026-07) or, on the newest models, their blocks are silently dropped.
    reads_thinking_of: tuple[str, ...] = ()
    # Thinking is bound to the system prompt, the tools and all messages before it, and is refused after any edit
    # ("The block is bound to a different conversation", pydantic-ai#7984, 2026-09).
    prefix_bound: bool = False
    # What such a target is asked to do with a block that is bound to another prefix: leave the block out, or refuse the
    # request (its default). Needed because segue has a digest only of answers that it decoded itself.
    prefix_mismatch: PrefixMismatch = "drop_block"

    # A history with tool calls is refused unless the request defines a tool ("Requests which include `tool_use` or
    # `tool_result` blocks must define tools"; "The toolConfig field must be defined when using toolUse and toolResult
    # content blocks", pydantic-ai#1966).
    needs_tools: bool = False
    # Tool results may contain images; otherwise images are moved to a user message after the last result of the batch.
    images_in_results: bool = False
    # Images by address (`ImageContent.url`), which the provider fetches itself; otherwise the address is sent as text.
    image_urls: bool = False
    # The media types of files that the target reads, as globs, if the model's `input` has their kind: as data, by
    # address, and inside tool results (others move to a user message after the last result of the batch).
    files: tuple[str, ...] = ()
    file_urls: tuple[str, ...] = ()
    files_in_results: tuple[str, ...] = ()
    # The kinds of provider content (`ProviderContent.kind`) that the target accepts back from its answers, as globs.
    provider_content: tuple[str, ...] = ()
    # Free-text tools, and tools in namespaces; otherwise they are sent as functions.
    custom_tools: bool = False
    namespaces: bool = False
    # Tool results have a flag for failures; otherwise their text is marked as an error.
    error_flag: bool = False

    # Objects in the arguments of a call may have an empty key; otherwise such entries are left out.
    empty_keys: bool = True

    # The rules for the schemas of tools, and how references in them are read, if the form does not decide that
    # (``schemas.py``). Models that misread references get their definitions inlined: GLM-5.3 writes nested arguments as
    # strings where the schema is a `$ref` (pydantic-ai#10243, 2026-10), and pydantic-ai inlines for Qwen and Llama.
    schema_form: SchemaForm = "openai"
    schema_refs: SchemaRefs | None = None

    # Fields that the target refuses, as paths in the body, with `*` for every index: `top_p`, `tools.*.strict`. They
    # are left out. ("Extra inputs are not permitted", "Unknown parameter: …": the words name the field.)
    refused_fields: tuple[str, ...] = ()
    # Keywords of JSON Schema that the target refuses in tools; a property of that name stays. ('Unknown name
    # "propertyNames" at 'tools[0].function_declarations[14].parameters…': Cannot find field.', nodetool#4388, 2026)
    refused_keywords: tuple[str, ...] = ()
    # The target refuses forms that its protocol allows, such as a list of texts in a tool result. Bodies that others
    # have made are then always written again in segue's form, even if they need no repair.
    exact_form: bool = False

    # Whether the target accepts a JSON schema that its answer must have (structured output). `alone`: only without
    # tools and without streaming. Targets that are not known to have it do not get the option.
    structured_output: StructuredOutput = "no"

    # Limits of size; None if no limit is known. `preview` reports them. Rendering enforces those of images where the
    # target has refused one: a larger image is then shown as text.
    enforced_image_limits: bool = False
    max_tools: int | None = None
    max_images: int | None = None
    max_image_bytes: int | None = None
    # The longer side of an image, in a request with up to 20 images and in one with more.
    max_image_pixels: int | None = None
    max_image_pixels_of_many: int | None = None
