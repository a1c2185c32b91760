"""What counts as a signature. In the field where signatures are kept, some protocols keep something else."""

from collections.abc import Callable

from ..types import ThinkingContent


def has_signature(block: ThinkingContent) -> bool:
    """Whether anything stands in the field, which is all that most protocols need to know."""
    return block.thinking_signature is not None


def has_details(block: ThinkingContent) -> bool:
    """Chat completions keep the name of the field in which the reasoning came (``reasoning_content``), or the whole of
    ``reasoning_details`` as JSON text; only the latter is a signature."""
    return block.thinking_signature is not None and block.thinking_signature[0] in "[{"


SIGNED: dict[str, Callable[[ThinkingContent], bool]] = {"openai-completions": has_details}
"""How to tell, by protocol, thinking that can be verified and goes back byte for byte; ``has_signature`` elsewhere."""
