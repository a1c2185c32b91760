"""Replace older turns by a summary when the next request would not fit, or on demand.

This room does no I/O: it makes the request for a summary, the caller sends it, and it checks the answer.
"""

from .budget import KEEP, RequestSettings, answer_room, needed
from .plan import obstacle, plan
from .request import INSTRUCTIONS as INSTRUCTIONS, Summary, accept, request
from .values import Plan, compacted, is_summary, summary_message, text_of_summary as text_of_summary

__all__ = [
    "KEEP",
    "Plan",
    "RequestSettings",
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
