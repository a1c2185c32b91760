"""Which model answers when nobody names one: that of a key in the environment, or what works without a key.

Without a key there are three: a server that answers on this machine, the small model of the extra ``local``, and a
stand-in that demonstrates. The last two are served by this very process, from the moment they are needed.
"""

import asyncio
import os
from collections.abc import Callable, Iterable
from contextlib import suppress
from typing import Any, Protocol
from urllib.parse import urlsplit

from msgspec import Struct
from msgspec.structs import replace

from ..catalog import Catalog, Provider, get_model
from ..client import Connection, reach
from ..errors import SegueError, SettingError
from ..testing import local
from ..types import Model
from ..types.secret import shown_address
from . import demo

VARIABLE = "SEGUE_MODEL"
PATIENCE = 0.4
"""Seconds that a server on this machine has to say which models it serves."""

FIRST_CHOICES = (
    "anthropic/claude-sonnet-5-5",
    "openai/gpt-5.6",
    "google/gemini-pro-latest",
    "mistral/mistral-large-latest",
    "moonshot/kimi-k3",
    "deepseek/deepseek-chat",
    "xai/grok-4.5-latest",
    "zai/glm-5.3",
    "minimax/MiniMax-M3",
    "dashscope/qwen3.8-max",
    "openrouter/anthropic/claude-sonnet-5.5",
    "groq/openai/gpt-oss-120b",
    "cerebras/gpt-oss-120b",
    "together/moonshotai/Kimi-K3",
    "fireworks/accounts/fireworks/models/kimi-k3",
)
"""The model that is taken when only a provider's key is there. The first whose key is set wins."""

SMALL = f"local/{local.MODEL}"
STAND_IN = f"{demo.PROVIDER}/{demo.MODEL}"


class Server(Protocol):
    """A server in this process."""

    @property
    def url(self) -> str: ...

    def stop(self) -> None: ...


SERVED: dict[str, Callable[[], Server]] = {
    SMALL: lambda: local.LocalModel().start(),
    STAND_IN: demo.demonstration,
}
"""The models that this process serves itself."""


class Choice(Struct, frozen=True):
    """A model, and why it was taken."""

    model: Model
    why: str
    offline: bool = False
    # What else works offline.
    also: tuple[str, ...] = ()


class Reach:
    """How models are reached. Those that this process serves are started when they are first needed."""

    def __init__(self) -> None:
        self._starts: dict[str, asyncio.Task[Server | None]] = {}

    def connection(self, model: Model) -> Connection:
        """How to reach ``model``."""
        server = self._served(model.ref)
        return Connection() if server is None else Connection(base_url=server.url)

    def check(self, model: Model) -> None:
        """A ``SettingError`` if the key of ``model``, or another setting, is missing."""
        if model.ref not in SERVED:
            reach(model, self.connection(model))

    async def ready(self, model: Model) -> None:
        """Start what serves ``model``, if this process does and nobody else is there already."""
        ref = model.ref
        if ref not in SERVED or self._served(ref) is not None:
            return
        if ref not in self._starts or self._starts[ref].done():
            self._starts[ref] = asyncio.create_task(_started(model))
        await asyncio.shield(self._starts[ref])  # who waits may be cancelled; what is being started is needed later

    async def aclose(self) -> None:
        """Stop what was started."""
        if self._starts:
            await asyncio.wait(self._starts.values())
        for server in map(self._served, self._starts):
            if server is not None:
                server.stop()
        self._starts.clear()

    def _served(self, ref: str) -> Server | None:
        start = self._starts.get(ref)
        if start is None or not start.done() or start.cancelled() or start.exception() is not None:
            return None
        return start.result()


async def _started(model: Model) -> Server | None:
    if model in await models_at(_provider(model)):
        return None
    return await asyncio.to_thread(SERVED[model.ref])


async def choose(named: str | None, reach: Reach) -> Choice:
    """The model of that name; without one the first of: ``$SEGUE_MODEL``, a model whose key is set, what works
    offline."""
    if named or (named := os.environ.get(VARIABLE, "").strip()):
        model = find(named)
        _checked(model, reach)
        return Choice(model, "")
    if keyed := with_key():
        return keyed
    best, *others = await offline()
    return replace(best, also=tuple([each.model.ref for each in others]))


def find(named: str) -> Model:
    """The model of that name; one that the catalog does not know is warned of, unless it is served here."""
    model = Catalog.default().resolve(named)
    return model if model.ref in SERVED else get_model(named)


def with_key() -> Choice | None:
    """The first model whose key is set."""
    for model in map(Catalog.default().resolve, FIRST_CHOICES):
        with suppress(SettingError):
            reach(model)
            return Choice(model, f"a key for {_provider(model).name} is set")
    return None


async def offline() -> list[Choice]:
    """Everything that works without a key, the best first."""
    found = [
        Choice(model, f"a server answers at {shown_address(model.base_url)}", offline=True)
        for model in await on_this_machine()
    ]
    catalog = Catalog.default()
    if is_installed() and all(choice.model.ref != SMALL for choice in found):
        why = "a small real model, which is too small for tools and seldom right"
        found.append(Choice(catalog.resolve(SMALL), why, offline=True))
    found.append(Choice(catalog.resolve(STAND_IN), "a demonstration without a model", offline=True))
    return found


def has_key(provider: Provider) -> bool:
    """Whether a key of this provider is set, or it needs none."""
    return not provider.needs_key or any(os.environ.get(name, "").strip() for name in provider.keys)


def way_out() -> str:
    """How to get a model of a provider instead."""
    here = _providers_here(Catalog.default().providers.values())
    others = [each for each in Catalog.default().providers.values() if each not in here]
    keyed = [each for each in others if any(os.environ.get(name, "").strip() for name in each.keys)]
    if keyed:
        return f"a key for {keyed[0].name} is set: name a model of it with --model {keyed[0].id}/MODEL"
    return (
        "no key is set, so this is offline. For a provider, set its key, such as ANTHROPIC_API_KEY or OPENAI_API_KEY, "
        "and name a model if you like: --model PROVIDER/MODEL (segue models lists them)"
    )


def takes_tools(model: Model) -> bool:
    """Whether tools are offered to it: the smallest of all would take seconds to read them, and misuse them."""
    return model.ref != SMALL


def is_installed() -> bool:
    """Whether the small model of the extra ``local`` is there."""
    try:
        local.LocalModel()
    except SettingError:
        return False
    return True


def _provider(model: Model) -> Provider:
    return Catalog.default().provider(model.provider)


def _checked(model: Model, reach: Reach) -> None:
    try:
        reach.check(model)
    except SettingError as error:
        raise SettingError(f"{error}; without --model, something that needs no key is taken") from None


# -- servers on this machine -----------------------------------------------------------------------------------------


async def on_this_machine() -> list[Model]:
    """One model of each server that answers on its usual port."""
    asked = [models_at(provider) for provider in _providers_here(Catalog.default().providers.values())]
    return [models[0] for models in await asyncio.gather(*asked) if models]


def _providers_here(providers: Iterable[Provider]) -> list[Provider]:
    """Providers that run on the user's own machine, without a key."""
    hosts = ("localhost", "127.0.0.1", "::1")
    return [each for each in providers if not each.needs_key and urlsplit(each.base_url).hostname in hosts]


async def models_at(provider: Provider) -> list[Model]:
    """The models that a server says it serves; none if it does not answer at once, or is something else."""
    import httpx2

    try:
        async with httpx2.AsyncClient(timeout=PATIENCE, trust_env=False, verify=False) as client:
            answer = await asyncio.wait_for(client.get(f"{provider.base_url}/models"), PATIENCE)
            names = _names(answer.json()) if answer.status_code == 200 else []
    except (httpx2.HTTPError, httpx2.InvalidURL, OSError, TimeoutError, ValueError):
        return []
    models = []
    for name in names:
        with suppress(SegueError):
            models.append(Catalog.default().resolve(f"{provider.id}/{name}"))
    return models


def _names(document: Any) -> list[str]:
    """The ids of a list of models, without those that only make vectors."""
    rows = document.get("data") if isinstance(document, dict) else None
    ids = [row.get("id") for row in rows if isinstance(row, dict)] if isinstance(rows, list) else []
    return [name for name in ids if isinstance(name, str) and name and "embed" not in name.lower()]
