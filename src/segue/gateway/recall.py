"""Recall: put back what a client could not carry. Answers are remembered with their signatures, for one tenant each.

An answer in a history is found by the envelope in one of its opaque fields, by its calls, or by its text. Calls and
texts recur (``call_0`` and "Done." are in every conversation), so of several rows the one with the same visible history
counts; otherwise, within the conversation, the one with the same message before it; otherwise its only row.

Recall adds thinking, signatures and provider content. It never replaces a text, a call or a result of the client.
"""

import time
from collections import OrderedDict
from collections.abc import Sequence

from msgspec import Struct
from msgspec.structs import replace

from ..projection import signature_digests
from ..types import (
    AssistantContent,
    AssistantMessage,
    Message,
    Origin,
    TextContent,
    ThinkingContent,
    ToolCall,
    ToolResultMessage,
)
from ..wire import PROTOCOLS, protocol_of
from .envelope import Envelope, Sealer, is_envelope, signed
from .store import AnswerRow, Store
from .traces import call_key, keys_of, link, seen

KEEP = 30 * 86_400
"""Seconds that an answer is kept: people resume next morning, or after a holiday."""
MOST_RECENT = 2_000


class Found(Struct, frozen=True):
    """An answer of a history, as far as it is known."""

    message: AssistantMessage
    # Whether its maker is known, from the store or an envelope.
    known: bool
    # Whether something was added to what the client sent.
    added: bool
    # The ids of the client's calls that have another id in the store.
    ids: dict[str, str] = {}


class Place(Struct, frozen=True):
    """Where an answer is: its conversation, and digests of what is before it."""

    tenant: str
    conversation: str
    before: str
    history: str


class Recall:
    """The answers of all tenants."""

    def __init__(self, store: Store, enabled: bool = True) -> None:
        self._store, self._enabled = store, enabled
        self._recent: OrderedDict[tuple[str, str, str, str], AssistantMessage] = OrderedDict()

    async def remember(self, place: Place, answer: str, message: AssistantMessage, bare: bool) -> None:
        """Write an answer. ``bare``: its client may drop the ids of calls."""
        if not self._enabled:
            return
        expires = int(time.time()) + KEEP
        rows = [
            AnswerRow(key, place.history, place.conversation, place.before, answer, message, expires)
            for key in dict.fromkeys(keys_of(message, bare))
        ]
        if not rows:
            return
        await self._store.add_answers(place.tenant, rows)
        for row in rows:
            self._recent[place.tenant, row.key, place.history, place.conversation] = message
        while len(self._recent) > MOST_RECENT:
            self._recent.popitem(last=False)

    async def refuse(
        self,
        messages: list[Message],
        links: list[str],
        tenant: str,
        conversation: str,
        digests: frozenset[str],
        bare: bool,
    ) -> None:
        """Mark the answers that have one of these signatures, which their maker has refused."""
        for at, message in enumerate(messages):
            if not isinstance(message, AssistantMessage) or digests.isdisjoint(signature_digests(message)):
                continue
            place = Place(tenant, conversation, seen(messages[at - 1] if at else None), links[at])
            for key in keys_of(message, bare):
                self._recent.pop((tenant, key, place.history, conversation), None)
                rows = await self._store.answers(tenant, key, place.history, conversation)
                if chosen := choose(rows, place):
                    await self._store.refuse_answer(tenant, chosen.answer)

    async def restore(
        self,
        messages: list[Message],
        links: list[str],
        start: int,
        tenant: str,
        conversation: str,
        sealer: Sealer,
        bare: bool,
    ) -> list[Found | None]:
        """Put back what is missing in ``messages`` from ``start`` on, in place; extend ``links``, the digests of the
        history before each message. Return what was found of each of these messages."""
        found: list[Found | None] = []
        ids: dict[str, str] = {}
        for at in range(start, len(messages)):
            message = messages[at]
            if isinstance(message, ToolResultMessage) and message.tool_call_id in ids:
                messages[at] = replace(message, tool_call_id=ids[message.tool_call_id])
            if isinstance(message, AssistantMessage):
                place = Place(tenant, conversation, seen(messages[at - 1] if at else None), links[at])
                answer = await self._find(message, place, sealer, bare)
                messages[at] = answer.message
                ids |= answer.ids
                found.append(answer)
            else:
                found.append(None)
            links.append(link(links[at], message))
        return found

    async def _find(self, message: AssistantMessage, place: Place, sealer: Sealer, bare: bool) -> Found:
        opened, envelope = _unsealed(message, sealer)
        if not self._enabled:
            return Found(opened, envelope is not None, opened is not message)
        stored = None
        if envelope is not None:
            stored = await self._store.answer(place.tenant, envelope.answer)
        if stored is None:
            stored = await self._by_key(opened, place, bare)
        if stored is None:
            return Found(opened, envelope is not None, opened is not message)
        merged, ids = merge(opened, stored)
        return Found(merged, True, not _same_content(message, merged), ids)

    async def _by_key(self, message: AssistantMessage, place: Place, bare: bool) -> AssistantMessage | None:
        for key in keys_of(message, bare):
            recent = self._recent.get((place.tenant, key, place.history, place.conversation))
            if recent is not None:
                return recent
            rows = await self._store.answers(place.tenant, key, place.history, place.conversation)
            if chosen := choose(rows, place):
                return chosen.message
        return None


def choose(rows: Sequence[AnswerRow], place: Place) -> AnswerRow | None:
    """The row of the answer at this place, if it is certain enough. ``rows`` have the same key, the newest first."""
    same = [row for row in rows if row.history == place.history]
    if same:
        return next((row for row in same if row.conversation == place.conversation), same[0])
    own = [row for row in rows if row.conversation == place.conversation]
    after = [row for row in own if row.before == place.before]
    return after[0] if after else own[0] if len(own) == 1 else None


def _unsealed(message: AssistantMessage, sealer: Sealer) -> tuple[AssistantMessage, Envelope | None]:
    """The answer with the signatures of its envelopes, and one of them. Invalid envelopes are removed."""
    if message.protocol not in PROTOCOLS:
        return message, None
    seals = protocol_of(message.protocol).seals
    blocks: list[AssistantContent] = []
    known: Envelope | None = None
    changed = False
    for block in message.content:
        sealed = next((text for text in seals(block) if is_envelope(text)), None)
        if sealed is None:
            blocks.append(block)
            continue
        envelope = sealer.open(sealed)
        known, changed = envelope or known, True
        blocks.append(signed(block, None) if envelope is None else signed(block, envelope.signature, envelope.redacted))
    if not changed:
        return message, None
    opened = replace(message, content=blocks)
    if known is None:  # forged, or of another tenant: nobody's
        return Origin("", message.protocol, "").mark(opened), None
    return known.origin.mark(opened), known


def merge(client: AssistantMessage, stored: AssistantMessage) -> tuple[AssistantMessage, dict[str, str]]:
    """The client's answer with what the stored one has more, and the ids of calls that differ."""
    mine = [block for block in client.content if type(block) is ToolCall]
    theirs = [block for block in stored.content if type(block) is ToolCall]
    same_calls = [call_key(call, True) for call in mine] == [call_key(call, True) for call in theirs]
    if same_calls and client.text.strip() == stored.text.strip():
        ids = {one.id: other.id for one, other in zip(mine, theirs, strict=True) if one.id != other.id}
        return stored, ids
    return replace(stored, content=_interleaved(client.content, stored.content)), {}


def _interleaved(mine: Sequence[AssistantContent], theirs: Sequence[AssistantContent]) -> list[AssistantContent]:
    """The visible blocks of the client, each with what was before it in the stored answer."""
    blocks: list[AssistantContent] = []
    after = 0
    for block in mine:
        if isinstance(block, ThinkingContent):
            continue  # the stored answer has it, with its signature
        place = next((at for at in range(after, len(theirs)) if _is_same(block, theirs[at])), None)
        if place is None:
            blocks.append(signed(block, None))
            continue
        blocks += [each for each in theirs[after:place] if not isinstance(each, TextContent | ToolCall)]
        blocks.append(theirs[place])
        after = place + 1
    return blocks


def _is_same(one: AssistantContent, other: AssistantContent) -> bool:
    if isinstance(one, TextContent) and isinstance(other, TextContent):
        return one.text.strip() == other.text.strip()
    return isinstance(one, ToolCall) and isinstance(other, ToolCall) and call_key(one) == call_key(other)


def _same_content(one: AssistantMessage, other: AssistantMessage) -> bool:
    return one.content == other.content
