"""Tests that talk are watched: none may tell a key."""

from support.secrets import nothing_tells_a_key
from support.waiting import patient_until_silent

__all__ = ["nothing_tells_a_key", "patient_until_silent"]
