"""What a rule of a provider is, and running a set of them: every finding is collected, not just the first. And what
providers say when a conversation has outgrown its model."""

from .overflow import is_context_overflow, is_overflow_text as is_overflow_text
from .rule import Fault as Fault, Finding, Rule, Severity as Severity, run as run
from .walks import shared as shared

__all__ = [
    "Finding",
    "Rule",
    "is_context_overflow",
]
