"""One server that existing clients point at: four protocols in, every provider out, and models that change at any turn.

A request goes through ``pipeline.py``: route and key, read, recall (what the client could not carry is put back), turn
binding, router, renderer, provider, writer of the client's protocol, remember. Requires the extra ``gateway``.
"""

from collections.abc import Mapping
from typing import Any

from ..errors import ConfigError
from .config import (
    Budget as Budget,
    Config as Config,
    KeySetting as KeySetting,
    Limits as Limits,
    Member as Member,
    RouteSetting as RouteSetting,
    check_models,
    default_file as default_file,
    digest_of as digest_of,
    load_config as load_config,
    read_key,
)
from .database import open_database
from .gateway import Gateway as Gateway, default_store
from .server import run_server as run_server
from .start import (
    address_of as address_of,
    check_start as check_start,
    client_lines as client_lines,
    url_of as url_of,
    usable_providers as usable_providers,
    with_listen as with_listen,
    with_local as with_local,
    with_standins as with_standins,
)
from .store import Store as Store
from .workers import bind as bind, run_workers as run_workers


def open_gateway_store(config: Config) -> Store:
    """The store of a gateway, for commands that change it while it runs."""
    return Store(open_database(config.gateway.store or str(default_store())))


def checked_key(table: Mapping[str, Any]) -> KeySetting:
    """The key with these settings, as in a file. Raise ``ConfigError`` if they cannot be used."""
    faults: list[str] = []
    key = read_key({name: value for name, value in table.items() if value is not None}, f"keys.{table['name']}", faults)
    if faults or key is None:
        raise ConfigError("keys", faults)
    return key


def check_route(route: RouteSetting, config: Config) -> None:
    """Raise ``ConfigError`` if a model or an account of a route does not exist."""
    faults: list[str] = []
    check_models(route, config.providers, faults)
    if faults:
        raise ConfigError("route", faults)
