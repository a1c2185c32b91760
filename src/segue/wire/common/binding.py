"""The beta that lets a request say what becomes of thinking which is bound to another conversation (ANT-40).

Without its header the field is refused: "thinking.adaptive.block_binding: Extra inputs are not permitted"
(sub2api#6677, 2026-09; SDK anthropic 2.8.0, types/beta/beta_thinking_block_binding_param.py).
"""

BETA = "thinking-binding-controls-2026-08-01"
HEADER = "anthropic-beta"
UNBOUND_OFF = "earlier thinking is bound to what is before it, and only a model that thinks can leave out what is not"
"""Why thinking cannot be turned off: the field belongs to the modes in which a model thinks."""
