"""Encode a projected conversation as the body of ``POST /chat/completions``, for one member of the family.

This file combines the parts: ``turns.py`` writes the messages, ``reasoning.py`` the reasoning in them, ``tools.py`` the
tools, ``options.py`` everything else. Code that follows a rule cites its number in the ``rules_*.py`` files.
"""

from typing import Any

from ...dialects import OpenAICompletions
from ..common.outgoing import Outgoing
from .options import add_options
from .tools import add_tools
from .turns import ChatTurns


def body(out: Outgoing[OpenAICompletions], turns: ChatTurns) -> dict[str, Any]:
    """Return the request body with these turns."""
    body: dict[str, Any] = {"model": out.model.id, "messages": [*turns.head, *turns.turns]}
    add_tools(out, body)
    add_options(out, body)
    return body
