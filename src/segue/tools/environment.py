"""The environment for programs that a model runs: that of this process without its secrets.

A variable is secret by its name in the catalog (the keys of providers), by parts of its name, or by a value that holds
credentials. In doubt a variable is left out; a caller can pass its own environment instead.
"""

import os
import re
from collections.abc import Mapping

_NAME = re.compile(
    r"KEY|TOKEN|SECRET|PASSW|PASSPHRASE|PASSFILE|PASSCODE|CREDENTIAL|COOKIE|BEARER|JWT|SERVICEFILE|NETRC|WEBHOOK"
    r"|(?:PG|SSH|_)PASS$|_(?:PWD|AUTH|PAT|SAS)$|_AUTH_CONFIG$",  # but not PWD, nor GIT_ASKPASS, which is a program
    re.IGNORECASE,
)
_VALUE = re.compile(
    r"://[^/?#\s@]*:\S*@"  # a user and a password in a URL, however they are quoted
    r"|https?://[^/?#\s@]+@"  # a token in place of the user
    r"|(?:passw(?:or)?d|pwd|secret|token|\bauth(?:orization)?|(?:api|account|access|shared)[_-]?key|signature|\bsig)"
    r"[\"']?\s*[=:]\s*\S"  # a field of that name
    r"|-----BEGIN[A-Z ]* PRIVATE KEY",
    re.IGNORECASE,
)


def without_secrets(environment: Mapping[str, str] | None = None) -> dict[str, str]:
    """Return ``environment``, by default that of this process, without its secrets."""
    from ..catalog import Catalog

    keys = {name for provider in Catalog.default().providers.values() for name in provider.keys}
    variables = os.environ if environment is None else environment
    return {name: value for name, value in variables.items() if name not in keys and not is_secret(name, value)}


def is_secret(name: str, value: str) -> bool:
    """Whether a variable of this name and value may hold a secret."""
    return bool(_NAME.search(name) or _VALUE.search(value))
