"""Which keys of providers are set."""

import os
from urllib.parse import urlsplit

from ..catalog import Provider

LOOPBACK = ("localhost", "127.0.0.1", "::1")


def keys_set(provider: Provider) -> list[str]:
    """The variables with a key of this provider that are set."""
    return [name for name in provider.keys if os.environ.get(name, "").strip()]


def has_key(provider: Provider) -> bool:
    """Whether a key of this provider is set, or it can do without: it may find credentials elsewhere."""
    return not provider.needs_key or bool(keys_set(provider))


def is_local(provider: Provider) -> bool:
    """Whether the provider runs on the user's own machine, without a key."""
    return not provider.needs_key and urlsplit(provider.base_url).hostname in LOOPBACK


def is_ready(provider: Provider) -> bool:
    """Whether a key of this provider is set, or it runs on the user's own machine."""
    return bool(keys_set(provider)) or is_local(provider)


def key_text(provider: Provider) -> str:
    """The variable for the key of a provider, with a check mark if it is set."""
    if found := keys_set(provider):
        return f"{found[0]} ✓"
    return "not needed" if is_local(provider) or not provider.keys else provider.keys[0]
