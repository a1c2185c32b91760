"""Resolve a name to a ``Model``: defaults of the protocol, overridden by provider, families in order, and model row."""

import re
from collections.abc import Iterator
from typing import Any

import msgspec

from ..dialects import DIALECTS, Dialect
from ..errors import ModelError, UnknownProviderError
from ..types import Modality, Model
from .learnt import amended_by, learn_mode, learnt_file, read_facts
from .loader import FilePath, Tables, built_in, user_file, with_file, with_refreshed
from .names import find_base
from .refreshed import refreshed_file
from .rows import Cells, Defaults, Family, ModelRow, Provider, RowCost, matches

MOST_RESOLVED = 1_000
"""How many models are kept, so that naming one again costs nothing."""


class UnknownModelWarning(UserWarning):
    """A model without a row in the catalog is used with careful defaults."""


class Catalog:
    """Providers and models: the built-in rows (``Catalog.load()``), or with a user's file (``Catalog.load(path)``)."""

    def __init__(self, tables: Tables, learnt: str | None = None) -> None:
        """``learnt`` is the path of the file with learnt facts."""
        self._tables = tables
        self._learnt = learnt

    @classmethod
    def load(cls, path: FilePath | None = None) -> "Catalog":
        """Load the built-in rows, overridden by the TOML file at ``path``. Faults raise ``CatalogError``."""
        return cls(built_in() if path is None else with_file(path))

    @classmethod
    def default(cls) -> "Catalog":
        """Load the built-in rows, newer ones (``segue models --refresh``), learnt facts and the user's file, of which
        each overrides those before it."""
        tables, user = with_refreshed(refreshed_file()), user_file()
        if user is not None:
            tables = with_file(user, tables)
        return cls(tables, None if learn_mode() == "off" else learnt_file())

    @property
    def providers(self) -> dict[str, Provider]:
        """All providers by name, in the order of the file."""
        return dict(self._tables.providers)

    @property
    def models(self) -> dict[str, ModelRow]:
        """All rows by ``provider/model``, sorted by provider (in the order of the file) and id."""
        return {ref: self._tables.models[ref] for ref in self.names}

    @property
    def names(self) -> list[str]:
        """The names of all models that have a row, in the same order."""
        return list(self._tables.names)

    def row(self, ref: str) -> ModelRow | None:
        """The row of exactly this ``provider/model``, if there is one."""
        return self._tables.models.get(ref)

    def provider(self, name: str) -> Provider:
        """Return the provider of that name, in upper or lower case."""
        found = self._tables.providers.get(name.lower())
        if found is None:
            raise UnknownProviderError(_unknown_provider(name, self._tables.providers))
        return found

    def find(self, name: str) -> tuple[Provider, str, ModelRow | None]:
        """Find the provider, the model id and the row (if there is one) of ``provider/model`` or ``provider:model``.

        The row has the id of the name, also if its facts are those of another row: the base of a form such as an ARN.
        """
        if not name.isprintable():  # a lone surrogate, for example, which cannot be sent
            raise ModelError(f"{name!r} is not the name of a model: it contains characters that cannot be printed")
        provider_name, model_id = _split(name, self._tables)
        provider = self.provider(provider_name)
        if not model_id:
            raise ModelError(f'{name!r} has no model id: write "{provider.id}/model"')
        return provider, model_id, self._row(provider, model_id)

    def _row(self, provider: Provider, model_id: str) -> ModelRow | None:
        models = self._tables.models
        row = models.get(f"{provider.id}/{model_id}")
        if row is not None:
            return row
        found = find_base(models, provider, model_id)
        if found is None:
            return None
        base, prices = found
        changed: dict[str, Any] = {"id": model_id, "base": base.id}
        if prices != "same":
            changed["unverified"] = tuple(dict.fromkeys((*base.unverified, "cost")))
        return msgspec.structs.replace(base, **changed, **({"cost": RowCost()} if prices == "unknown" else {}))

    def resolve(self, name: str, protocol: str | None = None) -> Model:
        """Return the model of that name. It does not warn about a model without a row, whose ``known`` is ``False``."""
        model = self._tables.resolved.get((name, protocol))
        if model is None:
            model = self._resolve(name, protocol)
            if len(self._tables.resolved) < MOST_RESOLVED:
                self._tables.resolved[name, protocol] = model
        facts = () if self._learnt is None else read_facts(self._learnt).facts
        return amended_by(model, facts, self.user_fields(model)) if facts else model

    def _resolve(self, name: str, protocol: str | None) -> Model:
        provider, model_id, row = self.find(name)
        found = row or ModelRow(provider=provider.id, id=model_id)
        spoken = _protocol(provider, found, row is not None, protocol)
        families = _matching(self._tables.families, provider, found.base or model_id, spoken)
        return _model(provider, found, families, spoken, row is not None)

    def user_fields(self, model: Model) -> frozenset[str]:
        """The fields of a model, and the cells of its dialect, that the user's file sets. No learnt fact changes
        them."""
        user, provider = self._tables.user, self._tables.providers.get(model.provider)
        if not user or provider is None:
            return frozenset()
        known = self._row(provider, model.id)
        base = (known and known.base) or model.id
        row = user.get("models", {}).get(f"{provider.id}/{base}", {})
        tables = (row, user.get("providers", {}).get(provider.id, {}))
        cells = [table.get("dialect", {}).get(model.protocol, {}) for table in tables]
        families = _matching(self._tables.user_families, provider, base, model.protocol)
        added = {"input" for family in families if family.input or family.adds_input}
        return frozenset(added.union(row, *cells, *(family.dialect for family in families)))

    def resolve_all(self) -> Iterator[Model]:
        """Yield every model that has a row, once for each protocol of its provider."""
        for ref, row in self.models.items():
            for protocol in self._tables.providers[row.provider].spoken(row.id):
                yield self.resolve(ref, protocol)


def _protocol(provider: Provider, row: ModelRow, known: bool, wanted: str | None) -> str:
    """The protocol of a request. A model without a row may be one with a name of its own, so every protocol of its
    provider can be chosen for it."""
    protocols = provider.spoken(row.base or row.id)
    spoken = wanted or row.protocol or protocols[0]
    if spoken not in (protocols if known else provider.protocols):
        about = row.ref if spoken in provider.protocols else provider.id
        raise ModelError(f"{about} does not speak {spoken!r}; it speaks {', '.join(protocols)}")
    return spoken


def differing(dialect: Dialect) -> Cells:
    """Return the cells in which ``dialect`` differs from its protocol's defaults, by name."""
    defaults = type(dialect)()
    names = [entry.name for entry in msgspec.structs.fields(dialect)]
    return {name: getattr(dialect, name) for name in names if getattr(dialect, name) != getattr(defaults, name)}


def _model(provider: Provider, row: ModelRow, families: list[Family], protocol: str, known: bool) -> Model:
    """Make a model from a row, with defaults for what the row leaves open."""
    cells = dict(provider.dialect.get(protocol, {}))
    for family in families:
        cells |= family.dialect
    cells |= row.dialect.get(protocol, {})
    defaults = _defaults(provider.defaults, families)
    window = row.context_window or defaults.context_window
    return Model(
        id=row.id,
        name=row.name or row.id,
        provider=provider.id,
        protocol=protocol,
        base_url=row.base_url or provider.base_urls.get(protocol, provider.base_url),
        input=_input(defaults.input if row.input is None else row.input, families),
        reasoning=defaults.reasoning if row.reasoning is None else row.reasoning,
        context_window=window,
        max_tokens=row.max_tokens or min(defaults.max_tokens, window),
        max_input_tokens=row.max_input_tokens,
        tools=row.tools is not False,
        cost=row.cost.as_cost(),
        retires=row.retires,
        unverified=row.unverified,
        headers={**provider.headers, **row.headers},
        dialect=msgspec.convert(cells, DIALECTS[protocol]),
        known=known,
    )


def _input(known: tuple[Modality, ...], families: list[Family]) -> tuple[Modality, ...]:
    """The kinds of input of a row, and those that the last matching family adds."""
    added: tuple[Modality, ...] = ()
    for family in families:
        added = added if family.adds_input is None else family.adds_input
    return (*known, *(kind for kind in added if kind not in known))


def _defaults(defaults: Defaults, families: list[Family]) -> Defaults:
    """Return the provider's defaults, with ``input`` and ``reasoning`` of the families."""
    changed: dict[str, Any] = {}
    for family in families:
        changed |= {name: value for name in ("input", "reasoning") if (value := getattr(family, name)) is not None}
    return msgspec.structs.replace(defaults, **changed)


def _matching(families: tuple[Family, ...], provider: Provider, model_id: str, protocol: str) -> list[Family]:
    lowered = model_id.lower()
    ref, like = f"{provider.id}/{lowered}", f"{provider.like}/{lowered}" if provider.like is not None else None
    return [
        family
        for family in families
        if family.protocol == protocol
        and (matches(family.models, ref) or (like is not None and matches(family.models, like)))
    ]


def _split(name: str, tables: Tables) -> tuple[str, str]:
    """Split a name at its first slash or colon."""
    match = re.match(r"\s*([^/:]*)[/:](.*)", name, re.DOTALL)
    if match is None:
        raise ModelError(_no_provider(name, tables))
    return match[1].strip(), match[2].strip()


def _no_provider(name: str, tables: Tables) -> str:
    """Return the error text for a name without a separator."""
    if name.strip().lower() in tables.providers:
        return f'{name!r} is a provider: write "{name.strip().lower()}/model"'
    having = sorted(ref for ref in tables.models if ref.partition("/")[2] == name.strip())
    makers = [ref for ref in having if not tables.providers[ref.partition("/")[0]].routes]  # not hosts of many makers
    hint = f"; did you mean {' or '.join((makers or having)[:3])}?" if having else ""
    return f'{name!r} does not name a provider: write "provider/model", such as "anthropic/claude-sonnet-5"{hint}'


def _unknown_provider(name: str, providers: dict[str, Provider]) -> str:
    """Return the error text for an unknown provider, with the most similar names (also those of ``also``)."""
    from difflib import get_close_matches

    spellings = {spelling: row.id for row in providers.values() for spelling in (row.id, *row.also)}
    exact = [name.lower()] if name.lower() in spellings else []
    nearest = exact or get_close_matches(name.lower(), list(spellings), n=5, cutoff=0.7)
    names = list(dict.fromkeys(spellings[spelling] for spelling in nearest))[:3]
    hint = f"did you mean {' or '.join(names)}?" if names else f"the providers are {', '.join(providers)}."
    return f"unknown provider {name!r}: {hint} Add your own providers to a catalog file (docs/catalog.md)"
