"""Rules of providers: check a request body against a set of them and collect all findings. Also the error texts of
providers for a conversation that is too long."""

from .overflow import is_context_overflow, is_overflow_text
from .rule import Fault, Finding, Rule, Severity, run
from .walks import shared

__all__ = ["Fault", "Finding", "Rule", "Severity", "is_context_overflow", "is_overflow_text", "run", "shared"]
