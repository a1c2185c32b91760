"""The rows of the catalog: the types of providers, models and families."""

import re
from collections.abc import Callable
from functools import cache, partial
from typing import Annotated, Any, Literal

from msgspec import Meta, Raw, Struct, field

from ..types import Modality, ModelCost, Prices, PriceStep
from ..types.secret import Guarded

Cells = dict[str, Any]
"""Cells of a dialect by name, as written in a file; checked against the protocol's record when they are read."""

Tokens = Annotated[int, Meta(gt=0)]
Price = Annotated[float, Meta(ge=0, le=1_000_000)]  # excludes NaN and infinity
Text = Annotated[str, Meta(min_length=1)]
Day = Annotated[str, Meta(pattern=r"^\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])$")]
RATES = ("input", "output", "cache_read", "cache_write", "cache_write_long")
"""The kinds of prices."""
Auth = Literal["bearer", "x-api-key", "x-goog-api-key", "api-key", "cf-aig-authorization", "aws", "google"]


class RowRates(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """Dollars per million tokens. An absent price is unknown, which is not the same as zero."""

    input: Price | None = None
    output: Price | None = None
    cache_read: Price | None = None
    cache_write: Price | None = None
    # For a cache that lives for an hour or longer.
    cache_write_long: Price | None = None

    def _fields(self) -> dict[str, float | None]:
        return {name: getattr(self, name) for name in RATES}


class RowStep(RowRates, frozen=True, kw_only=True):
    """Prices of all tokens of a request whose prompt is longer than ``above`` tokens."""

    above: Tokens


class RowPrices(RowRates, frozen=True, kw_only=True):
    """Prices, with steps by the length of the prompt in rising order."""

    steps: tuple[RowStep, ...] = ()

    def as_prices(self) -> dict[str, Any]:
        """Return the fields of the same prices in the form that a model has."""
        steps = tuple(PriceStep(above=step.above, **step._fields()) for step in self.steps)
        return {**self._fields(), "steps": steps}


class RowCost(RowPrices, frozen=True, kw_only=True):
    """The prices of a model, and those of other tiers by the word that answers report: batch, flex, priority …"""

    tiers: dict[Text, RowPrices] = {}

    def as_cost(self) -> ModelCost:
        """Return the prices in the form that a model has."""
        tiers = {name: Prices(**prices.as_prices()) for name, prices in self.tiers.items()}
        return ModelCost(**self.as_prices(), tiers=tiers)


class Defaults(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Values for a model without a row, or whose row leaves them open."""

    context_window: Tokens = 8_192
    max_tokens: Tokens = 2_048
    input: tuple[Modality, ...] = ("text",)
    reasoning: bool = False


class NameForm(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """A form that names of a provider's models may have: a regular expression whose group ``base`` is the name of the
    row with the facts, after ``prefix``. ``prices`` says whether the prices of that row hold, too."""

    pattern: Text
    prefix: str = ""
    prices: Literal["same", "unverified", "unknown"] = "same"


class Route(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """The protocols of some models of a provider, the default first; ``models`` are globs for ids, in lower case."""

    models: Annotated[tuple[Text, ...], Meta(min_length=1)]
    protocols: Annotated[tuple[Text, ...], Meta(min_length=1)]


class Provider(Guarded, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """A provider: its address, the variables that hold its key, its protocols, and how it differs from them."""

    id: str
    name: Text
    # {UPPER_CASE} names depend on the account; the client fills them in.
    base_url: Text
    keys: tuple[Text, ...] = ()
    needs_key: bool = True
    # How requests are authenticated; None: as its protocol's first provider does (client/reach.py).
    auth: Auth | None = None
    # All protocols that it speaks; the first is the default.
    protocols: Annotated[tuple[Text, ...], Meta(min_length=1)]
    # If not every model speaks all of them: the first route that matches a model decides.
    routes: tuple[Route, ...] = ()
    # The addresses of protocols that have another one.
    base_urls: dict[Text, Text] = {}
    # A provider whose dialects and families also apply to this one, which changes single cells.
    like: str | None = None
    names: tuple[NameForm, ...] = ()
    # Its name in the lists of models.dev, if that is another one.
    models_dev: str | None = None
    also: tuple[str, ...] = ()
    headers: dict[str, str] = {}
    defaults: Defaults = field(default_factory=Defaults)
    dialect: dict[str, Cells] = {}

    def spoken(self, model_id: str) -> tuple[str, ...]:
        """The protocols in which a model is served, the default first."""
        lowered = model_id.lower()
        return next((route.protocols for route in self.routes if matches(route.models, lowered)), self.protocols)


def matches(patterns: tuple[str, ...], text: str) -> bool:
    """Whether one of the globs matches. Most are ruled out by their longest plain part. A loop, because naming a model
    asks this for all families."""
    for pattern in patterns:
        if _longest_part(pattern) in text and _glob(pattern)(text):
            return True
    return False


@cache
def _longest_part(pattern: str) -> str:
    return max(re.split(r"\[[^]]*\]|[*?]", pattern), key=len)


@cache
def _glob(pattern: str) -> Callable[[str], object]:
    """A function that matches a glob. Compiling a regular expression costs more than a hundred matches, so only those
    that need one have one."""
    if "[" in pattern or "?" in pattern:
        from fnmatch import translate

        return re.compile(translate(pattern)).match
    return partial(_has_in_order, pattern.split("*"))


def _has_in_order(parts: list[str], text: str) -> bool:
    """Whether the parts of a glob between its asterisks follow each other in ``text``, from its start to its end."""
    if len(parts) == 1:
        return text == parts[0]
    first, *middle, last = parts
    at, end = len(first), len(text) - len(last)
    if at > end or not text.startswith(first) or not text.endswith(last):
        return False
    for part in middle:
        at = text.find(part, at, end)
        if at < 0:
            return False
        at += len(part)
    return True


class ModelRow(Guarded, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """A model of a provider. What is absent comes from the provider's defaults."""

    provider: str
    id: Text
    name: str = ""
    context_window: Tokens | None = None
    max_tokens: Tokens | None = None
    # If the provider limits the input alone, too.
    max_input_tokens: Tokens | None = None
    input: tuple[Modality, ...] | None = None
    reasoning: bool | None = None
    # Whether it can call tools; unknown counts as yes.
    tools: bool | None = None
    cost: RowCost = field(default_factory=RowCost)
    # The last day on which it is served.
    retires: Day | None = None
    # Fields of this row that are assumptions.
    unverified: tuple[str, ...] = ()
    # For a model with another default protocol or another address than its provider.
    protocol: str | None = None
    base_url: str | None = None
    headers: dict[str, str] = {}
    dialect: dict[str, Cells] = {}
    # The id of the row that the facts come from, if this one was made for another form of that name.
    base: str | None = None

    @property
    def ref(self) -> str:
        """The full name: ``provider/model``."""
        return f"{self.provider}/{self.id}"


class Family(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Cells for all models whose name matches, whether they have a row or not."""

    models: Annotated[tuple[Text, ...], Meta(min_length=1)]
    protocol: str
    why: Text
    dialect: Cells
    reasoning: bool | None = None
    input: tuple[Modality, ...] | None = None
    # Kinds of input that the models accept beyond those in their rows.
    adds_input: tuple[Modality, ...] | None = None


class ModelsFile(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The generated file: the sources of its rows, and the rows."""

    generated: str
    sources: dict[str, str]
    models: dict[str, ModelRow]


class RawModels(Struct, frozen=True, kw_only=True):
    """The same file, with rows that are not decoded yet."""

    models: dict[str, Raw]


class Compiled(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What is maintained by hand, after all checks: providers, families, and the rows of models that are added to the
    generated ones or replace them."""

    providers: dict[str, Provider]
    families: tuple[Family, ...]
    models: dict[str, ModelRow]
