"""Chooses the model that answers: the one that the user names, one whose key is set, or one that works without a key.

Three kinds of models work without a key: those of a server that is running on this machine, the small model of the
extra ``local``, and a stand-in that demonstrates a chat.
"""

import os
from contextlib import suppress

from msgspec import Struct
from msgspec.structs import replace

from ..catalog import Catalog, get_model
from ..client import reach
from ..errors import SettingError
from ..testing import local
from ..types import Model
from ..types.secret import shown_address
from .demo import demo_models, find_demo, is_demo, played
from .keys import has_key, keys_set
from .local_servers import SMALL, local_providers, running_models, served

VARIABLE = "SEGUE_MODEL"

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
"""The model to use for a provider when only its key is set. The first one whose key is set is chosen. Providers whose
key is often set for another purpose, or is that of another provider, too, are not listed."""


class Choice(Struct, frozen=True):
    """A model, and why it was chosen."""

    model: Model
    why: str
    offline: bool = False
    alternatives: tuple[str, ...] = ()
    """Other models that work offline."""


async def choose(name: str | None) -> Choice:
    """Choose a model: the named one, that of ``$SEGUE_MODEL``, one whose key is set, or one that works offline."""
    if name or (name := os.environ.get(VARIABLE, "").strip()):
        model = find(name)
        try:
            check_settings(model)
        except SettingError as error:
            raise SettingError(f"{error.for_shell()}; without --model, a model that needs no key is used") from None
        return Choice(model, _about(model) if is_demo(model) else "")
    if keyed := with_key():
        return keyed
    best, *others = await offline()
    return replace(best, alternatives=tuple([each.model.ref for each in others]))


def find(name: str) -> Model:
    """The model of that name. Warns if the catalog does not know it, unless this process serves it."""
    if found := find_demo(name):
        return found
    model = Catalog.default().resolve(name)
    return model if model.ref in served() else get_model(name)


def check_settings(model: Model) -> None:
    """Raise ``SettingError`` if the key of ``model``, or another setting, is missing."""
    if model.ref in served():
        return
    provider = Catalog.default().provider(model.provider)
    if not has_key(provider):
        raise SettingError(f"no key for {provider.name}; set {' or '.join(provider.keys)}")
    reach(model)


def with_key() -> Choice | None:
    """The first model whose key is set."""
    for model in map(Catalog.default().resolve, FIRST_CHOICES):
        with suppress(SettingError):
            reach(model)
            return Choice(model, f"a key for {Catalog.default().provider(model.provider).name} is set")
    return None


async def offline() -> list[Choice]:
    """Everything that works without a key, the best first."""
    found = [
        Choice(model, f"a server answers at {shown_address(model.base_url)}", offline=True)
        for model in await running_models()
    ]
    catalog = Catalog.default()
    if is_installed() and all(choice.model.ref != SMALL for choice in found):
        why = "a small real model, too small for tools and often wrong"
        found.append(Choice(catalog.resolve(SMALL), why, offline=True))
    return [*found, *(Choice(model, _about(model), offline=True) for model in demo_models())]


def _about(model: Model) -> str:
    return f"a stand-in for {played(model)}: its rules, but scripted answers"


def provider_hint() -> str:
    """How to use a model of a provider instead of an offline one."""
    local_ones = local_providers()
    others = [each for each in Catalog.default().providers.values() if each not in local_ones]
    keyed = [each for each in others if keys_set(each)]
    if keyed:
        return f"a key for {keyed[0].name} is set; to use it, name a model: --model {keyed[0].id}/MODEL"
    return (
        "no key is set, so this is offline. To use a provider, set its key, such as ANTHROPIC_API_KEY or "
        "OPENAI_API_KEY; --model PROVIDER/MODEL chooses the model (segue models lists them)"
    )


def supports_tools(model: Model) -> bool:
    """Whether tools are offered to a model. The smallest one takes seconds to read them, and misuses them."""
    return model.ref != SMALL


def is_installed() -> bool:
    """Whether the small model of the extra ``local`` is installed."""
    try:
        local.LocalModel()
    except SettingError:
        return False
    return True
