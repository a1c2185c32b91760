"""Which messages were read from which serialised ones, so that unchanged messages are handed back as they were."""

from collections.abc import Iterator, Sequence
from typing import Any

from msgspec import Struct

from ..types import Context, Message


class _Group(Struct, frozen=True):
    original: Any
    messages: tuple[Message, ...]
    has_system: bool
    """Whether a part of the system prompt was read from it."""


class Originals:
    """The serialised messages of a conversation that was read, by the messages that were made from them.

    One serialised message may hold several of ours: results and a prompt in one request, or all steps of a run.
    """

    def __init__(self) -> None:
        self.system_prompt: str | None = None
        self._begun: list[tuple[Any, int, bool]] = []
        self._groups: dict[int, _Group] = {}  # by the identity of the first message, which the group keeps alive
        self._before: list[Any] = []

    def begin(self, original: Any, messages: int, has_system: bool) -> None:
        """What is read from here on comes from ``original``; so far there are that many messages."""
        self._begun.append((original, messages, has_system))

    def close(self, log: Sequence[Any], system_prompt: str | None) -> None:
        """Assign the messages of the whole conversation to their originals."""
        self.system_prompt = system_prompt
        self._before = []
        ends = [start for _, start, _ in self._begun[1:]]
        for (original, start, has_system), end in zip(self._begun, [*ends, len(log)], strict=False):
            group = _Group(original, tuple(log[start:end]), has_system)
            if group.messages:
                self._groups[id(group.messages[0])] = group
            elif start == 0:
                self._before.append(original)

    def parts(self, context: Context) -> Iterator[tuple[Any, list[Message]]]:
        """The conversation in parts: an original and its messages if all of them are unchanged, otherwise ``None`` and
        one message. Originals that hold only the system prompt come first, with no messages."""
        same_prompt = context.system_prompt == self.system_prompt
        if same_prompt:
            yield from ((original, []) for original in self._before)
        messages, at = context.messages, 0
        while at < len(messages):
            group = self._groups.get(id(messages[at]))
            if group is not None and (same_prompt or not group.has_system) and self._is_whole(group, messages, at):
                yield group.original, messages[at : at + len(group.messages)]
                at += len(group.messages)
            else:
                yield None, [messages[at]]
                at += 1

    def has_prompt(self, context: Context) -> bool:
        """Whether the unchanged originals of ``context`` hold its system prompt."""
        if context.system_prompt != self.system_prompt:
            return False
        parts = [original for original, _ in self.parts(context) if original is not None]
        groups = [group for group in self._groups.values() if group.has_system]
        return all(any(group.original is part for part in parts) for group in groups)

    def _is_whole(self, group: _Group, messages: Sequence[Message], at: int) -> bool:
        found = messages[at : at + len(group.messages)]
        return len(found) == len(group.messages) and all(
            one is other for one, other in zip(found, group.messages, strict=True)
        )
