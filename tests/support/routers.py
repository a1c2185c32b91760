"""Members, failures and situations for tests of routing."""

from typing import Any

from msgspec.structs import replace

import segue
from segue.client.failures import KINDS
from segue.router import Situation

A = segue.get_model("anthropic/claude-sonnet-4-5")
B = replace(segue.get_model("openai/gpt-5"), context_window=A.context_window)
C = replace(segue.get_model("mistral/mistral-large-latest"), context_window=100_000)
LARGE = segue.get_model("google/gemini-2.5-pro")


def error(kind: str, **fields: Any) -> segue.ProviderError:
    return KINDS[kind]("as injected", **fields)


def at(now: float, turn: int = 0, **fields: Any) -> Situation:
    return Situation(turn=turn, now=now, **fields)
