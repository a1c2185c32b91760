"""What counts as a signature. In the field where signatures are kept, some protocols keep something else."""

from ..types import ThinkingContent

# openai-completions keeps the name of the field in which the reasoning came (`reasoning_content`), or the whole of
# `reasoning_details` as JSON text. Only the latter is a signature.
_JSON_ONLY = frozenset({"openai-completions"})


def is_signed(block: ThinkingContent, protocol: str) -> bool:
    """Whether ``protocol`` can verify this thinking, so that it goes back byte for byte."""
    signature = block.thinking_signature
    if signature is None:
        return False
    return protocol not in _JSON_ONLY or signature[:1] in ("[", "{")
