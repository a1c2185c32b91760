"""All tests here are checked for leaked keys."""

from support.secrets import no_key_is_shown
from support.waiting import patient_until_silent

__all__ = ["no_key_is_shown", "patient_until_silent"]
