"""Thinking that is bound to the conversation before it, on Anthropic's API and behind Converse (ANT-40).

A beta lets a request choose what happens to thinking that is bound to another conversation. Without its header the
field is refused: "thinking.adaptive.block_binding: Extra inputs are not permitted" (sub2api#6677, 2026-09; SDK
anthropic 2.8.0, types/beta/beta_thinking_block_binding_param.py).
"""

from typing import Any

from ...dialects import AnthropicMessages, BedrockConverse
from .outgoing import Outgoing

BETA = "thinking-binding-controls-2026-08-01"
HEADER = "anthropic-beta"
UNBOUND_OFF = "earlier thinking is bound to the messages before it, and is checked only while the model thinks"
"""Why thinking cannot be turned off: the field belongs to the modes in which a model thinks."""


def add_binding(
    out: Outgoing[AnthropicMessages] | Outgoing[BedrockConverse], fields: dict[str, Any], replays: bool
) -> bool:
    """Set what happens to thinking that is bound to another conversation. Returns whether it could be set.

    The model also thinks adaptively where it is not asked to, so asking changes nothing else ("Fix a thinking block
    bound to a different conversation", platform.claude.com, 2026-11). The field is not available while thinking is
    off, so thinking stays on if an answer with thinking is sent (``replays``).
    """
    thinking = fields.setdefault("thinking", {"type": "adaptive"})
    if thinking["type"] == "disabled":
        if not replays:
            return False
        out.drop_option("reasoning", UNBOUND_OFF)
        thinking = fields["thinking"] = {"type": "adaptive"}
    thinking["block_binding"] = {"prefix_mismatch_behavior": out.dialect.prefix_mismatch}
    return True
