"""What a rule of a provider is, and running a set of them: every finding is collected, not just the first."""

from .rule import Finding, Rule, Severity, run

__all__ = ["Finding", "Rule", "Severity", "run"]
