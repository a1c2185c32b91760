"""The fields that dialects of all protocols have in common. Projection reads them.

A dialect is a record of how one target differs from the protocol that it speaks. Its fields are facts about the target.
Their defaults are the strictest known behaviour, for models that the catalog does not describe. Dialects do not decide
anything: catalog rows set the fields, passes and encoders read them.
"""

from typing import Literal

from msgspec import Struct

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


REASONING_FIELDS = ("reasoning_content", "reasoning", "reasoning_text")
"""The fields in which members of the Chat Completions family return reasoning as plain text. Such a name may be stored
as ``thinking_signature``, but it is not a signature."""


class Dialect(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The fields that all protocols have in common."""

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
    # Tool results have a flag for failures; otherwise their text is marked as an error.
    error_flag: bool = False

    # Objects in the arguments of a call may have an empty key; otherwise such entries are left out.
    empty_keys: bool = True

    # Limits of size; None if no limit is known. `preview` reports them, rendering does not enforce them.
    max_tools: int | None = None
    max_images: int | None = None
    max_image_bytes: int | None = None
    # The longer side of an image, in a request with up to 20 images and in one with more.
    max_image_pixels: int | None = None
    max_image_pixels_of_many: int | None = None
