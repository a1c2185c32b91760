"""What a row of the catalog is: the types of providers, models and families. No reading, no resolving."""

from typing import Annotated, Any, Literal

from msgspec import Meta, Struct, field

from ..types.model import Modality
from ..types.secret import Guarded
from ..types.usage import ModelCost

Cells = dict[str, Any]
"""Cells of a dialect by name, as they stand in a file; checked against the protocol's record when they are read."""

Tokens = Annotated[int, Meta(gt=0)]
Price = Annotated[float, Meta(ge=0, le=1_000_000)]  # neither infinite nor a number that is none
Text = Annotated[str, Meta(min_length=1)]
Auth = Literal["bearer", "x-api-key", "x-goog-api-key", "api-key", "aws", "google"]


class Prices(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """Dollars per million tokens. An absent price is not known, which is never the same as zero."""

    input: Price | None = None
    output: Price | None = None
    cache_read: Price | None = None
    cache_write: Price | None = None

    def as_cost(self) -> ModelCost:
        """The same prices as a model carries them."""
        return ModelCost(self.input, self.output, self.cache_read, self.cache_write)


class Defaults(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What a model gets that no row describes, or whose row leaves it open."""

    context_window: Tokens = 8_192
    max_tokens: Tokens = 2_048
    input: tuple[Modality, ...] = ("text",)
    reasoning: bool = False


class Provider(Guarded, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """A provider: where it answers, which variables hold its key, what it speaks and how it differs."""

    id: str
    name: Text
    # {UPPER_CASE} names in it depend on the account; the client fills them in.
    base_url: Text
    keys: tuple[Text, ...] = ()
    needs_key: bool = True
    # How it wants to know who asks; without a word, as its protocol's first provider does (client/reach.py).
    auth: Auth | None = None
    # The first is the default.
    protocols: Annotated[tuple[Text, ...], Meta(min_length=1)]
    also: tuple[str, ...] = ()
    headers: dict[str, str] = {}
    defaults: Defaults = field(default_factory=Defaults)
    dialect: dict[str, Cells] = {}


class ModelRow(Guarded, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """A model of a provider. What is absent comes from the provider's defaults."""

    provider: str
    id: Text
    name: str = ""
    context_window: Tokens | None = None
    max_tokens: Tokens | None = None
    input: tuple[Modality, ...] | None = None
    reasoning: bool | None = None
    cost: Prices = field(default_factory=Prices)
    # Where a model answers elsewhere, or speaks another of its provider's protocols by default.
    protocol: str | None = None
    base_url: str | None = None
    headers: dict[str, str] = {}
    dialect: dict[str, Cells] = {}

    @property
    def ref(self) -> str:
        """Its name: ``provider/model``."""
        return f"{self.provider}/{self.id}"


class Family(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Cells that hold for all models whose name matches, described by a row or not."""

    models: Annotated[tuple[Text, ...], Meta(min_length=1)]
    protocol: str
    why: Text
    dialect: Cells
    reasoning: bool | None = None
    input: tuple[Modality, ...] | None = None


class ModelsFile(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The generated file: where its rows are from, and the rows."""

    generated: str
    sources: dict[str, str]
    models: tuple[ModelRow, ...]
