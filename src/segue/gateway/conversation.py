"""Reads the conversation in a request body. A body that extends an earlier one costs what is new in it.

The last body of each conversation is kept with its messages and renderers. The bytes of a new body are compared with
it, and only the items that differ are read: clients move their cache markers, so the last one or two change. A miss
costs what a request without a cache costs. A conversation is taken out of the cache while a request uses it.
"""

import re
from bisect import bisect_right
from collections import OrderedDict
from collections.abc import KeysView, Mapping, Sequence
from typing import Any

import msgspec
from msgspec import Raw, Struct
from msgspec.structs import replace

from ..errors import FormatError
from ..render import Renderers, read_request
from ..rules import Rule, run
from ..transport import FRAMES, Body, begins_answer
from ..types import Change, Context, Message, Model, Options, ToolCall, ToolDefinition, UserMessage
from ..wire import protocol_of
from .recall import Found
from .traces import EMPTY, digest

MOST = 256
MOST_BYTES = 64 * 1024 * 1024
"""Conversations, and bytes of bodies, that are kept in a process."""
_items = msgspec.json.Decoder(list[Raw]).decode
_value = msgspec.json.Decoder().decode
_FIRST = re.compile(r"[A-Za-z_]+")
_INDEX = re.compile(r"\[(\d+)\]")


class Accepted(Struct, frozen=True):
    """What a model accepts as it is: with these options, so many items of a conversation."""

    model: Model
    options: dict[str, bytes]
    items: int


class Known:
    """A conversation: the bytes of its items, and what was made of them."""

    def __init__(self, protocol: str) -> None:
        self.protocol = protocol
        self.frame: dict[str, bytes] = {}
        self.history = b""
        self.ends: list[int] = []  # where each item ends in the history
        self.begins: list[bool] = []  # whether an item begins an answer
        self.asks: list[bool] = []  # whether an item is a message of the user
        self.counts: list[int] = []  # the number of messages before each item
        self.prompt: str | None = None
        self.tools: list[ToolDefinition] = []
        self.messages: list[Message] = []
        self.found: list[Found | None] = []
        self.links: list[str] = [EMPTY]
        self.changes: list[Change] = []
        self.cache: Any = None
        self.edits: list[int] = []
        self.renderers = Renderers()
        self.begun = False  # whether the last item is one of the model
        self._ids: dict[str, int] = {}  # the ids of calls, and the message of each
        self._searched = 0  # the number of messages whose ids are known
        self._accepted: dict[str, Accepted] = {}

    @property
    def context(self) -> Context:
        """The conversation."""
        return replace(_EMPTY, system_prompt=self.prompt, messages=self.messages, tools=self.tools)

    @property
    def ids(self) -> KeysView[str]:
        """The ids of all calls."""
        for at in range(self._searched, len(self.messages)):
            for block in self.messages[at].content:
                if type(block) is ToolCall:
                    self._ids.setdefault(block.id, at)
        self._searched = len(self.messages)
        return self._ids.keys()

    @property
    def turn(self) -> int:
        """The number of typed user messages."""
        return sum(1 for message in self.messages if type(message) is UserMessage and not message.injected)

    def is_accepted_by(self, model: Model, rules: Sequence[Rule], body: Body) -> bool:
        """Whether ``model`` accepts the body as its client has written it: none of its ``rules``, which other models of
        the protocol do not have, finds something. Items that were accepted before are not judged again."""
        history = protocol_of(self.protocol).history
        options = {name: bytes(raw) for name, raw in body.fields.items() if name not in (*FRAMES, history)}
        before = self._accepted.get(model.ref)
        if before is not None and before.model != model:
            before = None
        same = before is not None and before.options == options  # the frame is the same as well
        judged: dict[str, Any] = {
            name: body.value(name) for name in (options if same else body.fields) if name != history
        }
        judged[history] = self._values(0 if before is None else before.items) if self.ends else body.value(history)
        if any(finding.severity == "error" for finding in run(rules, judged, model)):
            return False
        self._accepted[model.ref] = Accepted(model, options, len(self.ends))
        return True

    def _values(self, start: int) -> list[Any]:
        """The items from one on, after the last message of the user before them."""
        values = [_value(raw) for raw in _after(self, self.history, start)]
        asked = next((at for at in range(start - 1, -1, -1) if self.asks[at]), None)
        if asked is None:
            return values
        begin = self.ends[asked - 1] if asked else 1
        return [_value(self.history[begin : self.ends[asked]].lstrip().removeprefix(b",")), *values]

    def cut(self, item: int) -> None:
        """Forget everything from an item on."""
        count = self.counts[item] if item < len(self.counts) else len(self.messages)
        if count < len(self.messages):
            self.edits.append(count)
        del self.messages[count:], self.found[count:], self.links[count + 1 :]
        while self._ids and next(reversed(self._ids.values())) >= count:
            self._ids.popitem()
        self._searched = min(self._searched, count)
        del self.ends[item:], self.begins[item:], self.asks[item:], self.counts[item:]
        self._accepted = {ref: replace(each, items=min(each.items, item)) for ref, each in self._accepted.items()}


_EMPTY = Context(messages=[])


class Reading(Struct, frozen=True):
    """What a body says: its conversation, whose messages from ``start`` on are new, its options, and what was not read.

    ``name`` identifies the conversation in the cache.
    """

    known: Known
    start: int
    options: Options
    changes: list[Change]
    name: tuple[str, ...]


class Conversations:
    """The conversations of a process, those that were used last."""

    def __init__(self) -> None:
        self._kept: OrderedDict[tuple[str, ...], Known] = OrderedDict()
        self._bytes = 0
        self.hits = self.misses = 0

    def read(self, body: Body, protocol: str, tenant: str, session: str | None, now: int) -> Reading:
        """Read a body. The conversation is the caller's until it is put back."""
        field = protocol_of(protocol).history
        history = bytes(body.fields.get(field, b""))
        frame = {name: bytes(body.fields[name]) for name in FRAMES if name in body.fields}
        start = session or digest(*frame.values(), history[:2048])
        name = (tenant, protocol, start)
        known = self._take(name)
        if known is not None and known.frame == frame:
            try:
                reading = self._continue(known, body, history, now, name)
            except (FormatError, msgspec.MsgspecError):  # reading everything says what is wrong
                reading = None
            if reading is not None:
                self.hits += 1
                return reading
        self.misses += 1
        return _read(body, protocol, frame, history, now, name)

    def put(self, reading: Reading) -> None:
        """Keep a conversation for its next request."""
        size = len(reading.known.history)
        self._take(reading.name)
        self._kept[reading.name] = reading.known
        self._bytes += size
        while self._kept and (len(self._kept) > MOST or self._bytes > MOST_BYTES):
            _, dropped = self._kept.popitem(last=False)
            self._bytes -= len(dropped.history)

    def _take(self, name: tuple[str, ...]) -> Known | None:
        known = self._kept.pop(name, None)
        if known is not None:
            self._bytes -= len(known.history)
        return known

    def _continue(self, known: Known, body: Body, history: bytes, now: int, name: tuple[str, ...]) -> Reading | None:
        """Read what differs from the last body; ``None`` if that cannot be done alone."""
        item = bisect_right(known.ends, _common(known.history, history))
        raws = _after(known, history, item)
        if not (item == len(known.ends) and item and raws and begins_answer(_value(raws[0])) and not known.begun):
            while item > 0 and not (item < len(known.begins) and known.begins[item]):
                item -= 1
            raws = _after(known, history, item)
        if not item or not raws:
            return None
        field = protocol_of(known.protocol).history
        offset = known.ends[item - 1]
        values = [_value(raw) for raw in raws]
        others = {each: body.value(each) for each in body.fields if each not in FRAMES and each != field}
        read = read_request({**others, field: values}, known.protocol, None, now)
        known.cut(item)
        taken = known.ids
        fresh = [block.id for each in read.context.messages for block in each.content if type(block) is ToolCall]
        if len(fresh) != len(set(fresh)) or not taken.isdisjoint(fresh):  # reading everything tells them apart
            return None
        begin = len(known.messages)
        _add_items(known, raws, values, offset, history, read.context.messages, now)
        known.tools += [tool for tool in read.context.tools if tool not in known.tools]
        structural, others_left = _divided(read.changes, field)
        known.changes += [_shifted(change, item) for change in structural]
        cache = known.cache = read.options.cache or known.cache
        return Reading(known, begin, replace(read.options, cache=cache), [*known.changes, *others_left], name)


def _after(known: Known, history: bytes, item: int) -> list[Raw]:
    """The items of a history after the first ``item``, which are known."""
    if not item:
        return _items(history)
    rest = history[known.ends[item - 1] :].lstrip()
    return _items(b"[" + rest.removeprefix(b",")) if rest[:1] == b"," else []


def _read(
    body: Body, protocol: str, frame: dict[str, bytes], history: bytes, now: int, name: tuple[str, ...]
) -> Reading:
    """Read a whole body."""
    field = protocol_of(protocol).history
    values = {each: body.value(each) for each in body.fields}
    read = read_request(values, protocol, None, now)
    known = Known(protocol)
    known.frame = frame
    known.prompt, known.tools = read.context.system_prompt, list(read.context.tools)
    structural, others = _divided(read.changes, field)
    known.changes, known.cache = structural, read.options.cache
    items = values.get(field)
    if isinstance(items, list) and history[:1] == b"[":
        raws = _items(history)
        _add_items(known, raws, items, 1, history, list(read.context.messages), now)
    else:
        known.messages = list(read.context.messages)
    return Reading(known, 0, read.options, [*structural, *others], name)


def _add_items(
    known: Known, raws: list[Raw], values: list[Any], offset: int, history: bytes, messages: list[Message], now: int
) -> None:
    """Add items and their messages. Where an item begins an answer, the number of messages before it is counted."""
    previous = False  # the first item is an answer, or the first of the body
    before = known.messages
    counts = _counted(known.protocol, values, len(before), messages)
    for value, raw, count in zip(values, raws, counts, strict=True):
        data = bytes(raw)
        offset = history.index(data, offset) + len(data)
        begins = begins_answer(value)
        known.ends.append(offset)
        known.begins.append(begins and not previous and count is not None)
        known.asks.append(isinstance(value, dict) and value.get("role") == "user")
        known.counts.append(-1 if count is None else count)
        previous = begins
    known.history, known.begun = history, previous
    before.extend(messages)


def _counted(protocol: str, values: list[Any], before: int, messages: list[Message]) -> list[int | None]:
    """The number of messages before each item that begins an answer: the answers are counted on both sides, and where
    the numbers differ, nothing is known."""
    starts = [
        at for at, value in enumerate(values) if begins_answer(value) and not (at and begins_answer(values[at - 1]))
    ]
    answers = [
        at for at, message in enumerate(messages)
        if message.role == "assistant" and not (at and messages[at - 1].role == "assistant")
    ]  # fmt: skip
    counts: list[int | None] = [None] * len(values)
    if len(starts) == len(answers):
        for item, at in zip(starts, answers, strict=True):
            counts[item] = before + at
    return counts


def _common(one: bytes, other: bytes) -> int:
    """The number of bytes at the beginning that are the same, by halving."""
    if other.startswith(one):
        return len(one)
    low, high = 0, min(len(one), len(other))
    while low < high:
        middle = (low + high + 1) // 2
        if one[low:middle] == other[low:middle]:  # copies are compared faster than views
            low = middle
        else:
            high = middle - 1
    return low


def _divided(changes: list[Change], field: str) -> tuple[list[Change], list[Change]]:
    """Changes of the conversation, and those of options."""
    structural: list[Change] = []
    others: list[Change] = []
    for change in changes:
        first = _FIRST.match(change.detail)
        (structural if first is not None and first[0] in (field, *FRAMES) else others).append(change)
    return structural, others


def _shifted(change: Change, items: int) -> Change:
    """The change with the index of its item in the whole body."""
    detail = _INDEX.sub(lambda found: f"[{int(found[1]) + items}]", change.detail, count=1)
    return replace(change, detail=detail)


# -- names -----------------------------------------------------------------------------------------------------------

_SESSION_HEADERS = ("x-claude-code-session-id", "session-id", "session_id", "x-session-affinity", "x-session-id")
"""Headers with the name of a conversation: Claude Code, Codex, pi, opencode (measured 2026-11); OpenRouter's."""


def session_of(body: Body, headers: Mapping[str, str]) -> str | None:
    """The name that the client gives the conversation, if it gives one."""
    named = body.value("prompt_cache_key")
    if isinstance(named, str) and named:
        return named
    for name in _SESSION_HEADERS:
        if found := headers.get(name):
            return found
    metadata = body.value("metadata")
    user = metadata.get("user_id") if isinstance(metadata, dict) else None
    if isinstance(user, str) and user.startswith("{"):
        try:
            found = _value(user).get("session_id")
        except (msgspec.MsgspecError, AttributeError):
            return None
        return found if isinstance(found, str) and found else None
    return None


def conversation_key(session: str | None, known: Known) -> str:
    """The key of a conversation: a digest of its name, or of its system prompt and first user message."""
    if session is not None:
        return digest(b"session\0", session.encode("utf-8", "surrogatepass"))
    first = next((message for message in known.messages if type(message) is UserMessage), None)
    texts = [] if first is None else [block.text for block in first.content if block.type == "text"]
    return digest(
        b"first\0",
        (known.prompt or "").encode("utf-8", "surrogatepass"),
        "\0".join(texts).encode("utf-8", "surrogatepass"),
    )
