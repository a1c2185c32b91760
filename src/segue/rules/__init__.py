"""Rules of providers: check a request body against a set of them and collect all findings. Also the error texts of
providers for a conversation that is too long."""

from .overflow import Phrase as Phrase, is_context_overflow, is_overflow_text as is_overflow_text
from .rule import Fault as Fault, Finding, Rule, Severity as Severity, run as run
from .walks import shared as shared

__all__ = [
    "Finding",
    "Rule",
    "is_context_overflow",
]
