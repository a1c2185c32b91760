"""Older turns become a summary when the next request would not fit, or on demand. No I/O: whoever asks a model is given
the request, and hands back what it said."""

from .budget import KEEP, answer_room, needed
from .plan import obstacle, plan
from .request import Summary, accept, request
from .values import Plan, compacted, is_summary, summary_message

__all__ = [
    "KEEP",
    "Plan",
    "Summary",
    "accept",
    "answer_room",
    "compacted",
    "is_summary",
    "needed",
    "obstacle",
    "plan",
    "request",
    "summary_message",
]
