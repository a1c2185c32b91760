"""Which models answer for a name: exact names first, then patterns, then names of the catalog.

A route has a router for each protocol of clients, because a provider that speaks the client's own protocol is asked in
it. Routers are shared by all requests of a process, so that they know which members fail.
"""

import os
from collections.abc import Iterable, Mapping, Sequence
from difflib import get_close_matches
from fnmatch import fnmatchcase

from msgspec import Struct
from msgspec.structs import replace

from ..agent import NO_RETRIES
from ..catalog import Catalog, Provider
from ..client import Connection, Reach, Timeouts, reach
from ..errors import ModelError, ModelNotFoundError, SettingError
from ..router import Failover, Fixed, Patience, RoundRobin, Router, Situation, Weighted, luck
from ..rules import Rule, quirks
from ..types import Model
from ..wire import protocol_of
from .config import Config, Member, ProviderSetting, RouteSetting


class Target(Struct, frozen=True):
    """A model as it is reached: with the fingerprint of its endpoint and account, and how."""

    model: Model
    reach: Reach
    # The rules that other models of its protocol do not have.
    quirks: tuple[Rule, ...]
    weight: float = 1.0


class Route:
    """The models behind a name."""

    def __init__(
        self,
        name: str,
        targets: Sequence[Target],
        policy: str,
        patience: Patience = Patience(),  # noqa: B008, frozen
    ) -> None:
        self.name = name
        self.targets = list(targets)
        self.router = _router(self.targets, policy, patience)

    def find(self, endpoint: str | None, ref: str, protocol: str) -> Target | None:
        """The target with this name and protocol, of this account if it is known."""
        fitting = [each for each in self.targets if each.model.ref == ref and each.model.protocol == protocol]
        return next((each for each in fitting if each.model.endpoint == endpoint), fitting[0] if fitting else None)


class Spread(Router):
    """A policy, with the accounts of one model in an order that depends on the conversation only."""

    def __init__(self, policy: Router) -> None:
        super().__init__(policy.members, patience=policy.patience)
        self._policy = policy

    def rank(self, situation: Situation) -> Sequence[Model]:
        ranked = list(dict.fromkeys(self.members.index(model) for model in self._policy.rank(situation)))
        home = self.home(situation)
        waiting: dict[str, list[int]] = {}
        for place in ranked:
            waiting.setdefault(self.members[place].ref, []).append(place)
        for places in waiting.values():
            places.sort(key=lambda place: (self.members[place] != home, luck(situation.conversation, place)))
        return [self.members[waiting[self.members[place].ref].pop(0)] for place in ranked]


def _router(targets: Sequence[Target], policy: str, patience: Patience) -> Router:
    models = [target.model for target in targets]
    if len(models) == 1:
        return Fixed(models[0], patience=patience)
    if policy == "weighted":
        chosen: Router = Weighted([(target.model, target.weight) for target in targets], patience=patience)
    elif policy == "round-robin":
        chosen = RoundRobin(models, patience=patience)
    else:
        chosen = Failover(models, sticky=policy == "failover", patience=patience)
    several = len({model.ref for model in models}) < len(models)
    return Spread(chosen) if several else chosen


class Routes:
    """All names that a gateway serves. ``changed`` are routes of the store, which win over those of the file."""

    def __init__(self, config: Config, timeouts: Timeouts | None = None, to: str | None = None) -> None:
        self._config, self._timeouts = config, timeouts or Timeouts()
        self._catalog = Catalog.default()
        settings = config.routes
        if to is not None:
            settings = (RouteSetting(name="*", models=(Member(model=to),)),)
        self._file = {route.name: route for route in settings}
        self._settings = dict(self._file)
        self._made: dict[tuple[str, str], Route] = {}
        self._rows = self._catalog.models
        self._by_id: dict[str, list[str]] = {}
        for ref in self._rows:
            self._by_id.setdefault(ref.partition("/")[2], []).append(ref)
        for having in self._by_id.values():  # the vendor of a model first, then those who host models of many vendors
            having.sort(key=lambda ref: bool(self._catalog.provider(ref.partition("/")[0]).routes))

    def change(self, routes: Iterable[RouteSetting]) -> None:
        """Use these routes in place of those of the file with the same name."""
        settings = self._file | {route.name: route for route in routes}
        if settings != self._settings:
            gone = {name for name in self._made if settings.get(name[0]) != self._settings.get(name[0])}
            self._settings = settings
            for name in gone:
                del self._made[name]

    @property
    def patience(self) -> Patience:
        """How often members are asked again, and how long they rest."""
        settings, found = self._config.gateway, Patience()
        if settings.retries is not None:
            found = replace(found, retries=replace(found.retries, count=settings.retries))
        return found if settings.cooldown is None else replace(found, rest=settings.cooldown)

    @property
    def settings(self) -> Mapping[str, RouteSetting]:
        """The routes by their names or patterns."""
        return self._settings

    def resolve(self, name: str, protocol: str) -> Route:
        """The route for a name. An unknown name is a ``ModelNotFoundError`` with the nearest names."""
        setting = self._setting(name)
        route = self._made.get((setting.name, protocol))
        if route is None:
            targets = [target for member in setting.models for target in self.targets(member, protocol)]
            route = Route(setting.name, targets, setting.policy, self.patience)
            self._made[setting.name, protocol] = route
        return route

    def _setting(self, name: str) -> RouteSetting:
        if name in self._settings:
            return self._settings[name]
        pattern = next((each for each in self._settings if "*" in each and fnmatchcase(name, each)), None)
        if pattern is not None:
            return self._settings[pattern]
        ref = self._catalog_name(name) if self._config.catalog else None
        if ref is None:
            raise ModelNotFoundError(self._unknown(name))
        return RouteSetting(name=name, models=(Member(model=ref),), policy="failover")

    def _catalog_name(self, name: str) -> str | None:
        """The full name of a model of the catalog. A bare name is that of its vendor, or of a provider with a key."""
        if name in self._rows:
            return name
        having = self._by_id.get(name)
        if having:
            return next(
                (ref for ref in having if self.has_key(self._catalog.provider(ref.partition("/")[0]))), having[0]
            )
        if "/" in name:
            try:
                provider, model_id, _ = self._catalog.find(name)
            except ModelError:
                return None
            return f"{provider.id}/{model_id}"
        return None

    def _unknown(self, name: str) -> str:
        names = (
            list(dict.fromkeys([*self._settings, *self._by_id, *self._rows]))
            if self._config.catalog
            else [*self._settings]
        )
        nearest = get_close_matches(name, names, n=3, cutoff=0.5)
        hint = f"; did you mean {' or '.join(nearest)}?" if nearest else ""
        return f"there is no model {name!r} here{hint}"

    def targets(self, member: Member, protocol: str) -> list[Target]:
        """The targets of a member of a route: one for each account, if its provider has several and it names none."""
        provider, model_id, row = self._catalog.find(member.model)
        setting = self._config.providers.get(provider.id, ProviderSetting())
        own = protocol if protocol in provider.protocols and not (row and row.protocol) else None
        model = self._catalog.resolve(f"{provider.id}/{model_id}", setting.protocol or own)
        accounts = [each for each in setting.accounts if member.account in (None, each.name)]
        if member.base_url is not None:
            setting = replace(setting, base_url=member.base_url)
        keys: list[str | None] = [member.api_key] if member.api_key else [account.api_key for account in accounts]
        return [self._target(model, setting, key, member.weight) for key in keys or [setting.api_key]]

    def _target(self, model: Model, setting: ProviderSetting, key: str | None, weight: float) -> Target:
        connection = Connection(
            api_key=key, base_url=setting.base_url, headers=setting.headers, timeouts=self._timeouts,
            retries=NO_RETRIES,
        )  # fmt: skip
        try:
            found = reach(model, connection)
        except SettingError as error:
            raise ModelNotFoundError(error.for_shell()) from None
        own = quirks(protocol_of(model.protocol).rules, model)
        return Target(model.replace(endpoint=found.model.endpoint), found, tuple(own), weight)

    def has_key(self, provider: Provider) -> bool:
        """Whether the gateway can use a provider."""
        setting = self._config.providers.get(provider.id)
        if setting is not None and (setting.api_key or setting.accounts or setting.base_url):
            return True
        return any(os.environ.get(name, "").strip() for name in provider.keys)

    def names(self, allowed: Sequence[str] = ()) -> list[str]:
        """The names to list: those of routes without a pattern, and of catalog models whose provider has a key."""
        found = [name for name in self._settings if "*" not in name]
        if "*" in self._settings:  # any name is served; these are the models behind it
            found += [member.model for member in self._settings["*"].models]
        if self._config.catalog and "*" not in self._settings:
            usable = {row.id for row in self._catalog.providers.values() if self.has_key(row)}
            found += [ref for ref, row in self._rows.items() if row.provider in usable]
        return [name for name in dict.fromkeys(found) if is_allowed(name, allowed)]


def is_allowed(name: str, allowed: Sequence[str]) -> bool:
    """Whether a name is one of ``allowed``, which may be patterns; all are allowed if there are none."""
    return not allowed or any(fnmatchcase(name, pattern) for pattern in allowed)
