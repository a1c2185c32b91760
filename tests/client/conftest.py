"""All output of these tests is searched for keys."""

from support.secrets import no_key_is_shown

__all__ = ["no_key_is_shown"]
