"""Repairs for agent frameworks: one module each, which is imported when it is first used.

    segue.adapters.pydantic_ai.Repair()
    segue.adapters.langchain.Repair()
    segue.adapters.litellm.Repair()
    segue.adapters.openai_agents.Provider()

segue depends on none of these frameworks.
"""

from importlib import import_module
from types import ModuleType

from ..errors import SettingError

FRAMEWORKS = {
    "langchain": "langchain",
    "litellm": "litellm",
    "openai_agents": "openai-agents",
    "pydantic_ai": "pydantic-ai-slim",
}
"""The modules, and what to install for each."""

__all__ = sorted(FRAMEWORKS)


def __getattr__(name: str) -> ModuleType:
    if name not in FRAMEWORKS:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    try:
        return import_module(f".{name}", __name__)
    except ModuleNotFoundError as error:
        if (error.name or "").startswith(__name__.partition(".")[0] + "."):
            raise
        raise SettingError(f"segue.adapters.{name} needs {error.name}: pip install {FRAMEWORKS[name]}") from None
