"""All tests here are checked for leaked keys."""

from support.secrets import nothing_tells_a_key
from support.waiting import patient_until_silent

__all__ = ["nothing_tells_a_key", "patient_until_silent"]
