"""How users of each library hold a conversation and send it: one file per library.

An answer is what the library returned when it read the answer of the provider, and users append it to their messages.
Everything else is written as the documentation of the library shows. Every library has its repairs switched on.
"""

from . import any_llm, langchain, litellm, pydantic_ai, segue
from .library import Library

__all__ = ["Library", "libraries"]


def libraries() -> list[Library]:
    """All libraries, loaded when they are needed."""
    return [
        load()
        for load in (
            segue.Segue,
            litellm.LiteLLM,
            pydantic_ai.PydanticAI,
            langchain.LangChain,
            any_llm.AnyLLM,
            any_llm.AnyLLMMessages,
        )
    ]
