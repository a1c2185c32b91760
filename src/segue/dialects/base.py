"""What every dialect tells, whatever its protocol: the fields that projection reads.

A dialect is a record of how one target differs from the protocol that it speaks. Its fields are facts about the
target, each with the careful reading as its default, so that a model that nobody has described is treated strictly.
Nothing here decides anything: passes and encoders read the fields, catalog rows set them.
"""

from typing import Literal

from msgspec import Struct

IdForm = Literal["call-40", "call-64", "toolu-64", "plain-64", "nine", "kimi"]
"""The form of tool-call ids that a target accepts; ``ids.py`` says what each one is."""

NameForm = Literal["dashes", "underscores", "letter-first"]
"""The form of tool names that a target accepts; ``names.py`` says what each one is."""

OwnReasoning = Literal["signed", "any", "none"]
"""Which of its own thinking a target takes back: only what it signed, also plain text, or none at all."""

ForeignReasoning = Literal["labelled", "drop", "keep-signed"]
"""What policy ``auto`` does with readable thinking of another origin."""

PrefixMismatch = Literal["drop_block", "error"]
"""What a target does with thinking that is bound to something else than what is before it now."""


REASONING_FIELDS = ("reasoning_content", "reasoning", "reasoning_text")
"""The fields in which members of the Chat Completions family write reasoning as plain text. The name of one may be
where signatures are stored, and is not a signature."""


class Dialect(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The fields that all protocols have in common."""

    id_form: IdForm = "nine"
    name_form: NameForm = "dashes"

    own_reasoning: OwnReasoning = "none"
    # What `thinking_signature` holds: `opaque`, a signature; `details`, the name of the field in which the reasoning
    # came, or the whole of `reasoning_details` as JSON text, and only the latter can be verified.
    signatures: Literal["opaque", "details"] = "opaque"
    foreign_reasoning: ForeignReasoning = "labelled"
    # Where foreign thinking shown as text makes the model leak its own or refuse (pydantic-ai#6692, oh-my-pi#7241,
    # pi#9554; seen until 2026-10), it is dropped under every policy.
    reasoning_as_text: bool = True
    # Other models whose signed thinking the target reads, as globs on the model's id: policy `auto` keeps it. "Each
    # model reads its own thinking blocks and those of a fixed set of other models" (platform.claude.com, "Preserved
    # thinking", 2026-10); the signature of any other model is refused (llxprt-code#2335, openclaw#107221, 2026-07) or,
    # on the newest models, its block is silently dropped.
    reads_thinking_of: tuple[str, ...] = ()
    # Thinking is bound to the system prompt, the tools and all messages before it, and refused after any edit
    # ("The block is bound to a different conversation", pydantic-ai#7984, 2026-09).
    prefix_bound: bool = False
    # What is asked of such a target where a block is bound to something else: to leave the block out, or to refuse the
    # request, which is what it does when it is not asked. Our digest covers only answers that segue has decoded.
    prefix_mismatch: PrefixMismatch = "drop_block"

    # A history with tool calls is refused unless the request defines a tool ("Requests which include `tool_use` or
    # `tool_result` blocks must define tools"; "The toolConfig field must be defined when using toolUse and toolResult
    # content blocks", pydantic-ai#1966).
    needs_tools: bool = False
    # Images may stand inside a tool result; where not, they move to a user message after the whole batch.
    images_in_results: bool = False
    # A tool result has a flag that says it failed; where not, its text says so.
    error_flag: bool = False

    # Objects inside arguments of a call may have a key without a character; where not, such entries are left out.
    empty_keys: bool = True

    # Limits of size. They are told by preview and never repaired; None where no limit is known.
    max_tools: int | None = None
    max_images: int | None = None
    max_image_bytes: int | None = None
    # The longer side of an image, in a request with few images and in one with more than 20.
    max_image_pixels: int | None = None
    max_image_pixels_of_many: int | None = None
