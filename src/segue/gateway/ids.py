"""The ids of calls that clients see: the provider's own where every client accepts it, otherwise a digest."""

import re
from collections.abc import Container
from hashlib import blake2b

from msgspec.structs import replace

from ..types import AssistantMessage, ToolCall

_ACCEPTED = re.compile(r"[A-Za-z0-9_-]{1,40}")
"""Ids that all four protocols and their clients accept. Longer ones are refused by OpenAI (litellm#18160)."""


class CallIds:
    """Hands out the ids of one answer. ``used`` are those of the conversation."""

    def __init__(self, prefix: str, used: Container[str], answer: str) -> None:
        self._prefix, self._used, self._answer = prefix, used, answer
        self._given: dict[str, str] = {}

    def __call__(self, call_id: str) -> str:
        """The id to hand out for an id of the provider; always the same within the answer."""
        given = self._given.get(call_id)
        if given is None:
            fits = _ACCEPTED.fullmatch(call_id) is not None and call_id not in self._used
            given = self._given[call_id] = call_id if fits else self._fresh(call_id)
        return given

    def _fresh(self, call_id: str) -> str:
        seed = f"{self._answer}\0{call_id}".encode("utf-8", "surrogatepass")
        return self._prefix + blake2b(seed, digest_size=12).hexdigest()

    def applied(self, message: AssistantMessage) -> AssistantMessage:
        """The answer with the ids that were handed out."""
        if not any(type(block) is ToolCall and self(block.id) != block.id for block in message.content):
            return message
        blocks = [replace(block, id=self(block.id)) if type(block) is ToolCall else block for block in message.content]
        return replace(message, content=blocks)
