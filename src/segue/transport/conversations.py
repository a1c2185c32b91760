"""Conversations that pass by. A request that extends an earlier one pays for the new messages.

A body is split into its messages as bytes, without decoding them. What they have in common with an earlier body was
read and rendered before.
"""

from collections.abc import Iterable
from typing import Any

import msgspec
from msgspec import Raw

from ..errors import SegueError
from ..projection import Policy
from ..render import Ledger, Renderer, Request
from ..types import AssistantMessage, Change, Context, Fold, Message, Model, Options, TextContent, ToolCall
from ..types.codec import UNREADABLE
from ..types.text import has_surrogate_escapes, scrub_escapes
from ..wire import MALFORMED, protocol_of

MOST = 64
"""Conversations that are kept; those that were used last."""
_split = msgspec.json.Decoder(dict[str, Raw]).decode
_value = msgspec.json.Decoder().decode

HALVES = Change("text-sanitized", detail="half characters replaced in the body")
UNKNOWN = "unknown"
"""The provider of an answer whose origin is not known and not trusted."""


class Known:
    """One conversation: the bytes of its messages, the frame around them, and what was made of both."""

    __slots__ = ("context", "ended", "frame", "ids", "prefix", "renderer")

    def __init__(
        self, frame: dict[str, bytes], prefix: bytes, items: Any, context: Context, renderer: Renderer
    ) -> None:
        self.frame = frame
        self.context = context
        self.renderer = renderer
        self.ids: Fold[set[str]] = Fold(set, _with_ids)
        self.grown(prefix, items)

    def grown(self, prefix: bytes, items: Any) -> None:
        """Set the bytes of all messages; ``items`` are the last of them, decoded."""
        self.prefix = prefix
        self.ended = isinstance(items, list) and not begins_answer(items[-1])
        """Whether the last message is not one of the model, so that an answer begins after it."""


class Body:
    """A body of a request, split into its fields, which are decoded when they are needed.

    ``changes`` reports half characters that were replaced in ``data``: no provider can parse them.
    """

    __slots__ = ("changes", "data", "fields")

    def __init__(self, data: bytes, changes: list[Change] | None = None) -> None:
        self.data = data
        self.fields = _split(data)
        self.changes = changes or []

    def value(self, name: str) -> Any:
        """The value of a field; ``None`` if there is none."""
        return _value(self.fields[name]) if name in self.fields else None

    def opened(self, name: str) -> bytes:
        """The bytes of a field; of a list, without the bracket at its end."""
        data = memoryview(self.fields.get(name, b""))
        return (data[:-1] if data[-1:].tobytes() == b"]" else data).tobytes().rstrip()


def read_body(data: bytes) -> Body | None:
    """The body, if it is a JSON object."""
    if data[:1] != b"{":
        return None
    try:
        return Body(data)
    except UNREADABLE:
        if not has_surrogate_escapes(data):
            return None
    try:
        return Body(scrub_escapes(data), [HALVES])
    except UNREADABLE:
        return None


class Conversations:
    """Reads and renders bodies. Not for several threads at a time."""

    def __init__(self, origins: Ledger, *, trusts: bool, policy: Policy) -> None:
        self._origins = origins
        self._trusts = trusts
        self._policy = policy
        self._known: list[Known] = []  # last used last

    def request(self, body: Body, model: Model) -> Request | None:
        """The conversation in ``body`` as segue would send it to ``model``; ``None`` if it cannot be read."""
        try:
            return self._request(body, model)
        except (SegueError, msgspec.MsgspecError, *MALFORMED):
            return None

    def _request(self, body: Body, model: Model) -> Request | None:
        history = body.opened(protocol_of(model.protocol).history)
        if history in (b"", b"[", b"null"):
            return None
        frame = {name: bytes(body.fields[name]) for name in FRAMES if name in body.fields}
        known = self._find(history, frame, model)
        since = None if known is None else self._extend(known, history, model)
        if known is None or since is None:
            context, items = self._read(body, model)
            known = Known(frame, history, items, context, Renderer(model, self._policy, writes=False))
        elif known.renderer.model != model:  # something was learnt about it
            known.renderer, since = Renderer(model, self._policy, writes=False), None
        self._known = [*self._known[1 - MOST :], known]
        return known.renderer.request(known.context, OPTIONS, since)

    def _find(self, history: bytes, frame: dict[str, bytes], model: Model) -> Known | None:
        """Remove and return the longest known conversation that this history continues."""
        found: Known | None = None
        for known in self._known:
            if (
                history.startswith(known.prefix)
                and (found is None or len(known.prefix) > len(found.prefix))
                and known.frame == frame
                and _is_same(known.renderer.model, model)
                and history[len(known.prefix) :].lstrip()[:1] in (b",", b"")
            ):
                found = known
        if found is not None:
            self._known.remove(found)
        return found

    def _extend(self, known: Known, history: bytes, model: Model) -> int | None:
        """Add the new messages, and return the index of the first; ``None`` if they depend on earlier ones."""
        before = len(known.context.messages)
        rest = history[len(known.prefix) :].lstrip()
        if rest[:1] != b",":
            return before
        new = _value(b"[" + rest[1:] + b"]")
        if not known.ended or not begins_answer(new[0]) or any(_is_system(item) for item in new):
            return None
        protocol = protocol_of(model.protocol)
        tail = self._marked(protocol.ingest({protocol.history: new}, _unplaced(model), 0))
        ids = _call_ids(tail)
        earlier = known.ids.over(known.context.messages, before)
        if len(ids) != len(set(ids)) or not earlier.isdisjoint(ids):  # reading everything tells them apart
            return None
        known.context.messages.extend(tail)
        known.grown(history, new)
        return before

    def _read(self, body: Body, model: Model) -> tuple[Context, Any]:
        """The conversation, and the items of its history."""
        protocol = protocol_of(model.protocol)
        fields = {name: body.value(name) for name in (protocol.history, *FRAMES) if name in body.fields}
        found = protocol.ingest(fields, _unplaced(model), 0)
        return msgspec.structs.replace(found, messages=self._marked(found)), fields[protocol.history]

    def _marked(self, context: Context) -> list[Message]:
        """The messages, with the origin of each answer as far as it is known."""
        if self._trusts and not len(self._origins):
            return list(context.messages)
        return [self._with_origin(each) if type(each) is AssistantMessage else each for each in context.messages]

    def _with_origin(self, message: AssistantMessage) -> AssistantMessage:
        if _is_plain(message):
            return message
        origin = self._origins.origin_of(message)
        if origin is not None:
            return origin.mark(message)
        return message if self._trusts else msgspec.structs.replace(message, provider=UNKNOWN)


PROMPTS = frozenset({"system", "systemInstruction", "system_instruction", "instructions"})
"""The fields of bodies that hold the system prompt."""
TOOL_FIELDS = frozenset({"tools", "toolConfig"})
"""The fields of bodies that hold the tools."""
FRAMES = (*sorted(PROMPTS), *sorted(TOOL_FIELDS))
OPTIONS = Options()


def _is_plain(message: AssistantMessage) -> bool:
    """Whether an answer has nothing but texts, so that it is sent as it is whoever made it."""
    for block in message.content:
        if type(block) is not TextContent or block.text_signature is not None:
            return False
    return True


def _call_ids(messages: Iterable[Message]) -> list[str]:
    return [
        block.id
        for message in messages
        if type(message) is AssistantMessage
        for block in message.content
        if type(block) is ToolCall
    ]


def _with_ids(ids: set[str], message: Message) -> set[str]:
    ids.update(_call_ids([message]))
    return ids


def _is_same(one: Model, other: Model) -> bool:
    """Whether both are the same model of the same endpoint, whatever was learnt about it since."""
    return one is other or (
        one.id == other.id
        and one.provider == other.provider
        and one.protocol == other.protocol
        and one.endpoint == other.endpoint
    )


def _unplaced(model: Model) -> Model:
    """The model as the origin of answers that may have come from any endpoint."""
    return model.replace(endpoint=None)


def begins_answer(item: Any) -> bool:
    """Whether an item of the history begins an answer, so that reading it needs nothing before it."""
    if not isinstance(item, dict):
        return False
    if item.get("role") in ("assistant", "model"):
        return True
    return item.get("type") in ("reasoning", "function_call", "custom_tool_call")


def _is_system(item: Any) -> bool:
    return isinstance(item, dict) and item.get("role") in ("system", "developer")
