"""Refused requests that heal: change what a provider refused, and remember it.

The room does no HTTP. The client and the transport report a refusal, send the changed request once, and report its
success. The rows are in ``rules/cures.py``.
"""

from ..catalog import Fact
from .facts import Facts, default_facts as default_facts, persist_by_default as persist_by_default
from .file import family_of as family_of
from .heal import NOT_CURED as NOT_CURED, REPORT as REPORT, Cured as Cured, heal as heal, suspects as suspects

__all__ = ["Fact", "Facts"]
