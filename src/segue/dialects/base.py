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
    # Thinking is bound to the system prompt, the tools and all messages before it, and refused after any edit
    # ("The block is bound to a different conversation", pydantic-ai#7984, 2026-09).
    prefix_bound: bool = False

    # A history with tool calls is refused unless the request defines a tool ("Requests which include `tool_use` or
    # `tool_result` blocks must define tools"; "The toolConfig field must be defined when using toolUse and toolResult
    # content blocks", pydantic-ai#1966).
    needs_tools: bool = False
    # Images may stand inside a tool result; where not, they move to a user message after the whole batch.
    images_in_results: bool = False
    # A tool result has a flag that says it failed; where not, its text says so.
    error_flag: bool = False

    # Limits of size. They are told by preview and never repaired; None where no limit is known.
    max_tools: int | None = None
    max_images: int | None = None
    max_image_bytes: int | None = None
    # The longer side of an image, in a request with few images and in one with more than 20.
    max_image_pixels: int | None = None
    max_image_pixels_of_many: int | None = None
