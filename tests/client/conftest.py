"""Tests that talk are watched: none may tell a key."""

from support.secrets import nothing_tells_a_key

__all__ = ["nothing_tells_a_key"]
