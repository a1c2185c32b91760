"""Rules of providers: check a request body against a set of them and collect all findings. Also the error texts of
providers for a conversation that is too long."""

from .cure import Cure as Cure, Treatment as Treatment
from .cure_readers import CELLS as CELLS
from .cures import CURES as CURES
from .overflow import Phrase as Phrase, is_context_overflow, is_overflow_text as is_overflow_text
from .refusal import Refused as Refused
from .rule import Check as Check, Fault as Fault, Finding, Rule, Severity as Severity, quirks as quirks, run as run
from .treat import Diagnosis as Diagnosis, treat as treat
from .walks import shared as shared

__all__ = [
    "Finding",
    "Rule",
    "is_context_overflow",
]
