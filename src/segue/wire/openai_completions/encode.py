"""A projected conversation to the body of ``POST /chat/completions``, as one member of the family takes it.

This file puts the parts together: ``turns.py`` has the messages, ``reasoning.py`` how reasoning goes back in them,
``tools.py`` the tools, ``options.py`` everything else. Rules are cited where they are obeyed, by their numbers in the
``rules_*.py`` files.
"""

from typing import Any

from ...dialects import OpenAICompletions
from ..common.outgoing import Outgoing
from .options import add_options
from .tools import add_tools
from .turns import ChatTurns


def body(out: Outgoing[OpenAICompletions], turns: ChatTurns) -> dict[str, Any]:
    """The request body around the turns."""
    body: dict[str, Any] = {"model": out.model.id, "messages": [*turns.head, *turns.turns]}
    add_tools(out, body)
    add_options(out, body)
    return body
