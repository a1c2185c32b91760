"""The environment of programs that run for a model: that of this process, less what a model must not be able to print.

What is secret is decided here, for all of them: by the names that providers' keys have in the catalog, by words in a
name, and by values that hold credentials. Too much is left out rather than too little; a caller who knows better gives
an environment of its own.
"""

import os
import re
from collections.abc import Mapping

_NAME = re.compile(
    r"KEY|TOKEN|SECRET|PASSW|PASSPHRASE|PASSFILE|PASSCODE|CREDENTIAL|COOKIE|BEARER|JWT|SERVICEFILE|NETRC|WEBHOOK"
    r"|(?:PG|SSH|_)PASS$|_(?:PWD|AUTH|PAT|SAS)$|_AUTH_CONFIG$",  # not PWD, nor GIT_ASKPASS, which is a program
    re.IGNORECASE,
)
_VALUE = re.compile(
    r"://[^/?#\s@]*:\S*@"  # a user and a password in an address, however they are quoted
    r"|https?://[^/?#\s@]+@"  # a token in the place of the user
    r"|(?:passw(?:or)?d|pwd|secret|token|\bauth(?:orization)?|(?:api|account|access|shared)[_-]?key|signature|\bsig)"
    r"[\"']?\s*[=:]\s*\S"  # a member of that name
    r"|-----BEGIN[A-Z ]* PRIVATE KEY",
    re.IGNORECASE,
)


def without_secrets(environment: Mapping[str, str] | None = None) -> dict[str, str]:
    """An environment, that of this process if none is given, without its secrets."""
    from ..catalog import Catalog

    keys = {name for provider in Catalog.default().providers.values() for name in provider.keys}
    given = os.environ if environment is None else environment
    return {name: value for name, value in given.items() if name not in keys and not is_secret(name, value)}


def is_secret(name: str, value: str) -> bool:
    """Whether a variable of this name and value may hold a secret."""
    return bool(_NAME.search(name) or _VALUE.search(value))
