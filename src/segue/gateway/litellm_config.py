"""litellm's ``config.yaml``, read as the same settings. Every setting that is not used is named, one line each.

Fields: docs.litellm.ai/docs/proxy/configs and litellm/types/router.py (2026-11). Entries of one ``model_name`` share
its requests; fallbacks are members that are only asked if those fail.
"""

import os
from collections.abc import Iterator, Mapping
from math import inf
from typing import Any

from msgspec.structs import replace

from ..catalog import Catalog
from ..errors import ConfigError, ModelError
from .config import Config, GatewaySetting, Member, RouteSetting, check_config

VARIABLE = "os.environ/"
PROVIDERS = {
    "gemini": "google",
    "vertex_ai": "google-vertex",
    "bedrock": "amazon-bedrock",
    "together_ai": "together",
    "fireworks_ai": "fireworks",
    "text-completion-openai": "openai",
}
"""litellm's names of providers that the catalog has under another name."""
_PARAMS = frozenset({"model", "api_key", "api_base", "weight", "rpm"})
_ROUTER = frozenset({"fallbacks", "context_window_fallbacks", "model_group_alias", "num_retries", "cooldown_time"})
_LITELLM = frozenset({"fallbacks", "context_window_fallbacks", "num_retries"})
_SECTIONS = ("model_list", "router_settings", "litellm_settings", "general_settings", "environment_variables")


def read_litellm(name: str, data: bytes) -> Config:
    """Read a file of litellm. Raise ``ConfigError`` with all faults."""
    import yaml

    try:
        document = yaml.safe_load(data)
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise ConfigError(name, [f"it is not YAML: {' '.join(str(error).split())}"]) from None
    if not isinstance(document, dict):
        raise ConfigError(name, ["it is not a table"])
    reader = _Reader(document)
    config = reader.config()
    if reader.faults:
        raise ConfigError(name, reader.faults)
    return config


class _Reader:
    """Reads the sections of a file; ``faults`` are all mistakes, ``notes`` all settings that are not used."""

    def __init__(self, document: Mapping[str, Any]) -> None:
        self.faults: list[str] = []
        self.notes: list[str] = []
        self._document = document
        self._variables = self._section("environment_variables")
        self._ignore(document, "", _SECTIONS)

    def config(self) -> Config:
        """The settings."""
        router, settings, general = map(self._section, ("router_settings", "litellm_settings", "general_settings"))
        self._ignore(router, "router_settings.", _ROUTER)
        self._ignore(settings, "litellm_settings.", _LITELLM)
        self._ignore(general, "general_settings.", ("master_key",))
        routes = self._routes()
        for name, table in (("litellm_settings", settings), ("router_settings", router)):
            for field in ("fallbacks", "context_window_fallbacks"):
                self._add_fallbacks(routes, table.get(field), f"{name}.{field}")
        self._add_aliases(routes, self._table(router.get("model_group_alias"), "router_settings.model_group_alias"))
        master = self._value(general.get("master_key"), "general_settings.master_key")
        gateway = GatewaySetting(
            master_key=master,
            retries=self._retries(router, settings),
            cooldown=self._number(router, "cooldown_time", "router_settings."),
        )
        config = Config(
            gateway=gateway,
            routes=tuple(routes.values()),
            notes=tuple(self.notes),
            catalog=False,
            master_is_client=master is not None,
        )
        check_config(config, self.faults)
        return config

    def _routes(self) -> dict[str, RouteSetting]:
        members: dict[str, list[Member]] = {}
        entries = self._document.get("model_list")
        if entries is not None and not isinstance(entries, list):
            self.faults.append("model_list: it must be a list")
        for at, entry in enumerate(entries if isinstance(entries, list) else []):
            path = f"model_list[{at}]"
            params = _table(_table(entry).get("litellm_params"))
            name = _table(entry).get("model_name")
            if not isinstance(name, str) or not isinstance(params.get("model"), str):
                self.faults.append(f"{path}: it needs model_name and litellm_params.model")
                continue
            self._ignore(entry, f"{path}.", ("model_name", "litellm_params", "model_info"))
            self._ignore(params, f"{path}.litellm_params.", _PARAMS - ({"rpm"} if "weight" in params else set()))
            self._ignore(_table(entry.get("model_info")), f"{path}.model_info.", ())
            model = self._model(params["model"], f"{path}.litellm_params.model")
            if model is not None:
                weight = self._number(params, "weight" if "weight" in params else "rpm", f"{path}.litellm_params.")
                members.setdefault(name, []).append(
                    Member(
                        model=model,
                        weight=1.0 if weight is None else weight,
                        api_key=self._value(params.get("api_key"), f"{path}.litellm_params.api_key"),
                        base_url=self._value(params.get("api_base"), f"{path}.litellm_params.api_base"),
                    )
                )
        if not members and not self.faults:
            self.faults.append("model_list: it is empty")
        return {
            name: RouteSetting(name=name, models=tuple(found), policy="weighted") for name, found in members.items()
        }

    def _model(self, name: str, path: str) -> str | None:
        """The name in the catalog. A name without a provider is that of its vendor."""
        catalog = Catalog.default()
        provider, found, rest = name.partition("/")
        if not found:
            having = [ref for ref in catalog.models if ref.partition("/")[2] == name]
            if having:
                return having[0]
        if name.endswith("*"):
            self.faults.append(f"{path}: {name!r} is a pattern; name the models")
            return None
        try:
            row, model_id, _ = catalog.find(f"{PROVIDERS.get(provider, provider)}/{rest}" if found else name)
        except ModelError as error:
            self.faults.append(f"{path}: {error.for_shell()}")
            return None
        return f"{row.id}/{model_id}"

    def _add_aliases(self, routes: dict[str, RouteSetting], aliases: Mapping[str, Any]) -> None:
        for alias, target in aliases.items():
            path = f"router_settings.model_group_alias.{alias}"
            named = target.get("model") if isinstance(target, dict) else target
            self._ignore(_table(target), f"{path}.", ("model",))
            if named in routes:
                routes[alias] = replace(routes[named], name=alias)
            else:
                self.faults.append(f"{path}: there is no model_name {named!r}")

    def _add_fallbacks(self, routes: dict[str, RouteSetting], value: Any, field: str) -> None:
        if value is not None and not isinstance(value, list):
            self.faults.append(f"{field}: it must be a list, such as [{{NAME: [OTHER]}}]")
        for name, others in _pairs(value):
            known = [other for other in others if other in routes]
            self.faults += [
                f"{field}.{name}: there is no model_name {other!r}" for other in others if other not in routes
            ]
            if name not in routes:
                self.faults.append(f"{field}: there is no model_name {name!r}")
                continue
            route = routes[name]
            added = [replace(member, weight=0.0) for other in known for member in routes[other].models]
            routes[name] = replace(route, models=(*route.models, *[each for each in added if each not in route.models]))

    def _value(self, value: Any, path: str) -> str | None:
        """A text, or the variable that it names."""
        if value is None:
            return None
        if isinstance(value, dict | list):
            self.faults.append(f"{path}: it must be a text")
            return None
        text = str(value)
        if not text.startswith(VARIABLE):
            return text
        name = text.removeprefix(VARIABLE)
        found = os.environ.get(name, "").strip() or str(self._variables.get(name, "")).strip()
        if not found:
            self.faults.append(f"{path}: the variable {name} is not set")
        return found or None

    def _section(self, name: str) -> Mapping[str, Any]:
        return self._table(self._document.get(name), name)

    def _table(self, value: Any, path: str) -> Mapping[str, Any]:
        if value is not None and not isinstance(value, dict):
            self.faults.append(f"{path}: it must be a table")
        return _table(value)

    def _number(self, table: Mapping[str, Any], name: str, path: str) -> float | None:
        value = table.get(name)
        if value is None:
            return None
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < inf:
            self.faults.append(f"{path}{name}: it must be a number, at least 0")
            return None
        return float(value)

    def _retries(self, router: Mapping[str, Any], settings: Mapping[str, Any]) -> int | None:
        found = self._number(settings, "num_retries", "litellm_settings.")
        if "num_retries" in router:
            found = self._number(router, "num_retries", "router_settings.")
        if found is not None and not found.is_integer():
            self.faults.append("router_settings.num_retries: it must be a whole number")
        return None if found is None else int(found)

    def _ignore(self, table: Mapping[str, Any], path: str, used: Any) -> None:
        self.notes += [f"{path}{name} of litellm is not used" for name in table if name not in used]


def _table(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


def _pairs(value: Any) -> Iterator[tuple[str, list[str]]]:
    for entry in value if isinstance(value, list) else []:
        for name, others in _table(entry).items():
            yield str(name), [str(each) for each in (others if isinstance(others, list) else [others])]
