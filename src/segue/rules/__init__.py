"""What a rule of a provider is, and running a set of them: every finding is collected, not just the first. And what
providers say when a conversation has outgrown its model."""

from .overflow import is_context_overflow, is_overflow_text
from .rule import Fault, Finding, Rule, Severity, run
from .walks import shared

__all__ = ["Fault", "Finding", "Rule", "Severity", "is_context_overflow", "is_overflow_text", "run", "shared"]
