"""Proxies and certificates of the environment, which HTTP libraries read when a client is made."""

import os
from collections.abc import Callable
from typing import TypeVar

from .errors import SegueError, SettingError

T = TypeVar("T")
VARIABLES = ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY", "SSL_CERT_FILE", "SSL_CERT_DIR", "SSLKEYLOGFILE")
"""The variables; those of proxies are also read in lower case."""


def make_http(make: Callable[[], T]) -> T:
    """Make an HTTP client. ``SettingError`` if that fails because of the environment.

    The original error is dropped, because it may quote the password of a proxy.
    """
    try:
        return make()
    except (SegueError, TypeError):
        raise
    except Exception as error:
        names = [name for name in VARIABLES if os.environ.get(name) or os.environ.get(name.lower())]
        if not names:
            raise
        details = f": {error}" if isinstance(error, OSError | ImportError) else ""  # these name a file or a package
        failure = SettingError(
            f"no HTTP client can be made ({type(error).__name__}{details}); check {', '.join(names)}"
        )
    raise failure
