"""The settings of a gateway: ``segue.toml``, read and checked as a whole. All faults are reported at once.

The file is never looked for in the working directory: a cloned repository must not redirect keys.
"""

import os
import re
import tomllib
from collections.abc import Iterable, Mapping
from datetime import date, datetime
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar, get_args, get_origin

import msgspec
from msgspec import Meta, Struct
from msgspec.structs import replace

from ..catalog import Catalog
from ..client import parse_endpoint
from ..errors import ConfigError, ModelError, SettingError, UnknownProviderError
from ..projection import PRESETS
from ..types.secret import Guarded

Text = Annotated[str, Meta(min_length=1)]
Positive = Annotated[float, Meta(gt=0, le=1e9)]
Count = Annotated[int, Meta(gt=0)]
PolicyName = Literal["fixed", "round-robin", "failover", "weighted"]
T = TypeVar("T", bound=Struct)

FILE = "segue.toml"
ENVIRONMENT = "env:"


class Member(Guarded, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """A model of a route: its share where the policy is ``weighted``, and the account if its provider has several. A
    member may have an address and a key of its own."""

    model: Text
    weight: Annotated[float, Meta(ge=0)] = 1.0
    account: str | None = None
    api_key: str | None = None
    base_url: str | None = None


class RouteSetting(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A name that clients ask for, or a pattern of names, and the models that answer."""

    name: Text
    models: tuple[Member, ...]
    policy: PolicyName = "failover"


class Account(Guarded, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One account of a provider that has several."""

    name: Text
    api_key: Text


class ProviderSetting(Guarded, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What differs from a provider's row."""

    base_url: str | None = None
    api_key: str | None = None
    headers: dict[str, str] = {}
    # The protocol to ask it in, if it speaks several; otherwise the client's, or its first.
    protocol: str | None = None
    accounts: tuple[Account, ...] = ()


class Budget(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Dollars that a key may spend per day or month, by UTC."""

    dollars: Positive
    per: Literal["day", "month"] = "month"


class Limits(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What a key may use per minute."""

    requests_per_minute: Count | None = None
    tokens_per_minute: Count | None = None


class KeySetting(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A key of a client. It is kept as a digest only."""

    name: Text
    digest: Annotated[str, Meta(pattern=r"^sha256:[0-9a-f]{64}$")]
    # Whose answers are remembered together.
    tenant: str = ""
    # Names that the key may ask for; empty: all.
    models: tuple[str, ...] = ()
    budget: Budget | None = None
    limits: Limits = Limits()
    expires: date | None = None

    @property
    def owner(self) -> str:
        """The tenant: by default, the name."""
        return self.tenant or self.name


class GatewaySetting(Guarded, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The table ``[gateway]``."""

    listen: str = "127.0.0.1:4000"
    store: Text | None = None
    secret: Text | None = None
    # Refuse a request instead of losing anything of it.
    strict: bool = False
    master_key: Text | None = None
    # How conversations are rendered: the name of a policy.
    policy: str | None = None
    # Whether answers are remembered, so that signatures can be put back.
    recall: bool = True
    # Keep bodies in memory, for the studio.
    record: bool = False
    # Send the client's own key to the provider.
    forward_credentials: bool = False
    # Web pages that may use the gateway, and names of this host besides `listen`.
    origins: tuple[str, ...] = ()
    hosts: tuple[str, ...] = ()
    # Limits of the server.
    max_body: Count = 64 * 1024 * 1024
    max_requests: Count = 2000
    idle_timeout: Positive = 75.0
    body_timeout: Positive = 60.0
    shutdown_timeout: Positive = 60.0
    # Seconds that a client may leave all of its answer unread.
    unread_timeout: Positive = 240.0
    # How often a member is asked again, and the seconds that it rests after failing; None: as everywhere in segue.
    retries: Annotated[int, Meta(ge=0)] | None = None
    cooldown: Annotated[float, Meta(ge=0)] | None = None
    # Seconds without a byte before a keepalive is sent.
    keepalive: Positive = 10.0


class Config(Struct, frozen=True, kw_only=True):
    """Everything in the file. ``notes`` are lines to print at start."""

    gateway: GatewaySetting = GatewaySetting()
    routes: tuple[RouteSetting, ...] = ()
    providers: dict[str, ProviderSetting] = {}
    keys: tuple[KeySetting, ...] = ()
    notes: tuple[str, ...] = ()
    # Whether models of the catalog are served under their own names, too.
    catalog: bool = True
    # Whether the master key is also a key of clients, as with litellm.
    master_is_client: bool = False


def default_file() -> Path | None:
    """The file in the user's configuration directory, if there is one."""
    settings = os.environ.get("XDG_CONFIG_HOME") or os.path.expanduser("~/.config")
    found = Path(settings) / "segue" / FILE
    return found if found.exists() else None


def load_config(path: str | os.PathLike[str]) -> Config:
    """Read a file: TOML, or litellm's YAML. Raise ``ConfigError`` with all faults.

    A store with a relative path is found from the folder of the file."""
    name = os.fspath(path)
    try:
        data = Path(name).read_bytes()
    except OSError as error:
        raise ConfigError(name, [f"it cannot be read: {error.strerror}"]) from None
    if name.endswith((".yaml", ".yml")):
        from .litellm_config import read_litellm

        return read_litellm(name, data)
    try:
        document = tomllib.loads(data.decode())
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ConfigError(name, [f"it is not TOML: {error}"]) from None
    faults: list[str] = []
    config = read_config(document, faults)
    if faults:
        raise ConfigError(name, faults)
    store = config.gateway.store
    if store is None or "://" in store:
        return config
    return replace(config, gateway=replace(config.gateway, store=os.path.join(os.path.dirname(name), store)))


def read_config(document: Mapping[str, Any], faults: list[str]) -> Config:
    """Read the tables of a file; add what is wrong to ``faults``."""
    known = ("gateway", "routes", "providers", "keys")
    faults += [
        f"{name}: there is no such table; the tables are {', '.join(known)}" for name in document if name not in known
    ]
    gateway = _read(GatewaySetting, document.get("gateway", {}), "gateway", faults) or GatewaySetting()
    routes = [_route(value, f"routes[{at}]", faults) for at, value in _entries(document, "routes", faults)]
    keys = [read_key(value, f"keys[{at}]", faults) for at, value in _entries(document, "keys", faults)]
    providers = _providers(document.get("providers", {}), faults)
    config = Config(
        gateway=gateway,
        routes=tuple([route for route in routes if route is not None]),
        providers=providers,
        keys=tuple([key for key in keys if key is not None]),
    )
    check_config(config, faults)
    return config


def check_config(config: Config, faults: list[str]) -> None:
    """Check what several tables say together."""
    _check_twice([route.name for route in config.routes], "routes: two are named", faults)
    _check_twice([key.name for key in config.keys], "keys: two are named", faults)
    _check_same_keys(config.keys, faults)
    if split_listen(config.gateway.listen) is None:
        faults.append(f"gateway.listen: {config.gateway.listen!r} is not HOST:PORT")
    if config.gateway.policy is not None and config.gateway.policy not in PRESETS:
        faults.append(f"gateway.policy: there is no policy {config.gateway.policy!r}; they are {', '.join(PRESETS)}")
    for name, provider in config.providers.items():
        _check_address(provider.base_url, f"providers.{name}.base_url", faults)
    for route in config.routes:
        check_models(route, config.providers, faults)


def split_listen(listen: str) -> tuple[str, int] | None:
    """Host and port of an address to listen on; ``None`` if it has another form."""
    host, _, port = listen.rpartition(":")
    if not host or not re.fullmatch("[0-9]{1,5}", port) or int(port) > 65535:
        return None
    return host.strip("[]"), int(port)


def check_models(route: RouteSetting, providers: Mapping[str, ProviderSetting], faults: list[str]) -> None:
    """Check that the models of a route exist, and that their accounts do."""
    where = f"route {route.name!r}"
    if not route.models:
        faults.append(f"{where}: models is empty; name at least one")
    if route.policy == "weighted" and route.models and not any(member.weight for member in route.models):
        faults.append(f"{where}: every weight is 0")
    for member in route.models:
        try:
            provider, _, _ = Catalog.default().find(member.model)
        except ModelError as error:
            faults.append(f"{where}: {error.for_shell()}")
            continue
        _check_address(member.base_url, f"{where}: base_url", faults)
        accounts = [account.name for account in providers.get(provider.id, ProviderSetting()).accounts]
        if member.account is not None and member.account not in accounts:
            names = f"; it has {', '.join(accounts)}" if accounts else ""
            faults.append(f"{where}: {provider.id} has no account {member.account!r}{names}")


def _check_twice(names: list[str], text: str, faults: list[str]) -> None:
    faults += [f"{text} {name!r}" for name in dict.fromkeys(names) if names.count(name) > 1]


def _check_same_keys(keys: Iterable[KeySetting], faults: list[str]) -> None:
    names: dict[str, str] = {}
    for key in keys:
        first = names.setdefault(key.digest, key.name)
        if first != key.name:
            faults.append(f"keys: {first!r} and {key.name!r} are the same key")


def _check_address(address: str | None, path: str, faults: list[str]) -> None:
    """Check an address of a provider, unless it has a variable, whose value may come later."""
    if address is None or "{" in address:
        return
    try:
        parse_endpoint(address)
    except SettingError as error:
        faults.append(f"{path}: {error.for_shell()}")


# -- tables ----------------------------------------------------------------------------------------------------------


def _entries(document: Mapping[str, Any], name: str, faults: list[str]) -> Iterable[tuple[int, Any]]:
    value = document.get(name, [])
    if isinstance(value, list):
        return enumerate(value)
    faults.append(f"{name}: write it as [[{name}]]")
    return ()


def _read(kind: type[T], value: Any, path: str, faults: list[str]) -> T | None:
    """Read a table field by field, so that every fault is found. ``None`` if a field is missing that must be there."""
    if not isinstance(value, dict):
        faults.append(f"{path}: it must be a table")
        return None
    fields = {field.name: field for field in msgspec.structs.fields(kind)}
    found = {}
    for name, given in value.items():
        if name not in fields:
            faults.append(f"{path}.{name}: there is no such setting; they are {', '.join(fields)}")
            continue
        read = _field(fields[name].type, given, f"{path}.{name}", faults)
        if read is not None:
            found[name] = read
    required = [field.name for field in fields.values() if field.required]
    faults += [f"{path}: {name} is missing" for name in required if name not in value]
    return None if any(name not in found for name in required) else kind(**found)


def _field(kind: Any, given: Any, path: str, faults: list[str]) -> Any:
    """Read the value of a field: tables and lists of tables as above. ``None`` if it is wrong."""
    table, several = _table_in(kind)
    if table is not None and several and isinstance(given, list):
        read = [_read(table, each, f"{path}[{at}]", faults) for at, each in enumerate(given)]
        kept = tuple([each for each in read if each is not None])
        return kept if kept or not given else None
    if table is not None and not several:
        return _read(table, given, path, faults)
    try:
        return msgspec.convert(_from_environment(given, path, faults), kind)
    except msgspec.ValidationError as error:
        names = f"; it may be {', '.join(get_args(kind))}" if get_origin(kind) is Literal else ""
        faults.append(f"{path}: {error}{names}")
        return None


def _table_in(kind: Any) -> tuple[Any, bool]:
    """The table that a field holds, if it holds one, and whether it holds several."""
    inner = [kind, *get_args(kind)]
    table = next((each for each in inner if isinstance(each, type) and issubclass(each, Struct)), None)
    return table, get_origin(kind) is tuple


def _from_environment(value: Any, path: str, faults: list[str]) -> Any:
    """The value, with ``env:NAME`` replaced by the variable; a missing one is a fault that names it."""
    if isinstance(value, dict):
        return {name: _from_environment(each, f"{path}.{name}", faults) for name, each in value.items()}
    if isinstance(value, list):
        return [_from_environment(each, f"{path}[{at}]", faults) for at, each in enumerate(value)]
    if not isinstance(value, str) or not value.startswith(ENVIRONMENT):
        return value
    name = value.removeprefix(ENVIRONMENT)
    found = os.environ.get(name, "").strip()
    if not found:
        faults.append(f"{path}: the variable {name} is not set")
    return found or "missing"


def _route(value: Any, path: str, faults: list[str]) -> RouteSetting | None:
    if isinstance(value, dict) and isinstance(value.get("models"), list):
        members = [{"model": each} if isinstance(each, str) else each for each in value["models"]]
        value = value | {"models": members}
    return _read(RouteSetting, value, path, faults)


def _providers(value: Any, faults: list[str]) -> dict[str, ProviderSetting]:
    found: dict[str, ProviderSetting] = {}
    if not isinstance(value, dict):
        faults.append("providers: write a table [providers.NAME] for each")
        return found
    for name, table in value.items():
        try:
            row = Catalog.default().provider(name)
        except UnknownProviderError as error:
            faults.append(f"providers.{name}: {error.for_shell()}")
            continue
        setting = _read(ProviderSetting, table, f"providers.{name}", faults)
        if setting is not None:
            _check_twice([each.name for each in setting.accounts], f"providers.{name}.accounts: two are named", faults)
            found[row.id] = setting
            if setting.protocol is not None and setting.protocol not in row.protocols:
                spoken = ", ".join(row.protocols)
                faults.append(f"providers.{name}.protocol: it speaks {spoken}, not {setting.protocol!r}")
    return found


def read_key(value: Any, path: str, faults: list[str]) -> KeySetting | None:
    """Read a key. Only its digest is kept."""
    if isinstance(value, dict):
        value = dict(value)
        if isinstance(value.get("expires"), datetime):
            value["expires"] = value["expires"].date()
        if ("key" in value) == ("digest" in value):
            faults.append(f"{path}: write either key or digest")
            value.setdefault("digest", digest_of(""))
        if isinstance(given := value.pop("key", None), str):
            given = _from_environment(given, f"{path}.key", faults)
            if not given.strip():
                faults.append(f"{path}.key: it is empty")
            value["digest"] = digest_of(given)
        elif given is not None:
            faults.append(f"{path}.key: it must be a text")
    return _read(KeySetting, value, path, faults)


def digest_of(key: str) -> str:
    """The digest of a key, in the form that is stored."""
    from hashlib import sha256

    return "sha256:" + sha256(key.strip().encode()).hexdigest()
