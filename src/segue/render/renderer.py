"""``Renderer`` and ``encode``: a conversation to requests. What was rendered and written once is not done again.

A renderer is bound to one model. It keeps the messages as they were rendered (those that needed no change are the very
objects that are stored), the bytes of the turns that cannot change any more, and places to go back to. Each request
renders what is new, closes the turns, and joins both. Where an earlier message is no longer what it was, the renderer
goes back to the last place before it: that is all that is done anew.
"""

from collections.abc import Sequence
from operator import is_
from typing import Any, NamedTuple

from ..projection import PolicyLike
from ..projection.pipeline import Mark, Rendering
from ..projection.policy import resolve
from ..projection.prefix import Prefix
from ..projection.project import refuse_nothing
from ..projection.step import Report
from ..types import Context, Message, Model, Options
from ..types.expect import expect_context, expect_model, expect_options
from ..wire.common.dataurl import to_json
from ..wire.common.outgoing import Outgoing
from ..wire.common.turns import Turns
from ..wire.registry import protocol_of
from .fold import Fold
from .request import Place, Request
from .tokens import guessed_messages

CHUNK = 256
"""So many messages are rendered before their turns are written, so that memory does not grow with the history."""
RECENT = 8
"""So many places are kept as they come; older ones lie at least a chunk of messages apart."""


class _Place(NamedTuple):
    """A place to go back to."""

    stored: int
    rendering: Mark
    turns: tuple[Any, ...]
    written: int


class Renderer:
    """Requests of one conversation to ``model``, as it grows. What they hold is byte for byte what ``encode`` gives."""

    def __init__(self, model: Model, policy: PolicyLike = None) -> None:
        expect_model(model)
        self.model = model
        self.policy = policy
        self._choices, self._strategy = resolve(policy)
        self._protocol = protocol_of(model.protocol)
        self._asked: tuple[str | None, list[Any]] = (None, [])
        self._stored: list[Message] = []
        self._rendering: Rendering | None = None

    @property
    def count(self) -> int:
        """How many messages the last request was made of."""
        return len(self._stored)

    def request(self, context: Context, options: Options | None = None, since: int | None = None) -> Request:
        """The request that sends ``context``.

        ``since``: who knows it says from which message on the conversation may differ from that of the request before;
        otherwise the messages are compared.
        """
        try:
            return self._request(context, options or Options(), since)
        except BaseException:
            self._rendering = None  # half of something: the next request begins anew
            raise

    def _request(self, context: Context, options: Options, since: int | None, again: bool = True) -> Request:
        expect_context(context)
        expect_options(options)
        rendering = self._rendered(context, since, again)
        if self._choices.passes:
            refuse_nothing(rendering)
        report = Report()
        out: Outgoing[Any] = Outgoing(rendering, self.model, self._protocol.dialect, options, report)
        closed = self._turns.closed(out)
        frame = self._protocol.body(out, self._turns, closed)
        place = Place(
            rendering,
            rendering.system_prompt,
            rendering.tools,
            rendering.messages,
            rendering.sources,
            len(rendering.messages),
            tuple([(told, len(told)) for told in self._told(rendering)]),
            self._guess,
            self._prefix,
            len(self._turns.head),
            self._written,
            len(self._written),
        )
        return Request(self.model, self._protocol, options, place, frame, report)

    def _told(self, rendering: Rendering) -> list[list[Any]]:
        return [rendering.about_frame.told, rendering.report.told, self._turns.out.report.told]

    # -- what is new, and what is no longer what it was --------------------------------------------------------------

    def _rendered(self, context: Context, since: int | None, again: bool) -> Rendering:
        """The rendering of ``context``, with its turns; ``again``: there will be another one."""
        if self._strategy is not None:  # it may do whatever it likes with any message
            asked = list(self._strategy.translate_for_provider(list(context.messages), self.model))
            return self._start(context, Context(messages=asked).messages, again)
        rendering = self._rendering
        if rendering is None:
            return self._start(context, context.messages, again)
        prompt, tools = self._asked
        same_tools = len(tools) == len(context.tools) and all(map(is_, tools, context.tools))
        if prompt != context.system_prompt or (rendering.bound and not same_tools):
            return self._start(context, context.messages, again)
        self._add(rendering, context.messages, self._same(context.messages) if since is None else since)
        if not same_tools or rendering.wants_stub(context.tools) != rendering.stubbed:
            if rendering.bound:
                return self._start(context, context.messages, again)
            rendering.set_tools(context.tools)
            self._asked = prompt, list(context.tools)
            self._sum_up(rendering)
        return rendering

    def _sum_up(self, rendering: Rendering) -> None:
        system_prompt, tools = rendering.system_prompt, rendering.tools
        self._prefix = Fold(lambda: Prefix(system_prompt, tools), Prefix.add)

    def _start(self, context: Context, messages: Sequence[Message], again: bool) -> Rendering:
        self._stored = list(messages)
        rendering = Rendering(context.system_prompt, self._stored, context.tools, self.model, self._choices)
        self._asked = context.system_prompt, list(context.tools)
        self._rendering = rendering
        self._guess = Fold(float, lambda total, message: total + guessed_messages([message]))
        self._sum_up(rendering)
        out: Outgoing[Any] = Outgoing(rendering, self.model, self._protocol.dialect, None, Report())
        self._turns: Turns[Any] = self._protocol.turns(out)
        self._written = bytearray()
        self._places = [_Place(0, rendering.mark(0), self._turns.mark(), 0)]
        if again:
            self._render(0)
        else:
            rendering.extend(0, len(self._stored))
            self._turns.extend()
        return rendering

    def _same(self, messages: Sequence[Message]) -> int:
        """How many messages at the beginning are those that were there before."""
        stored = self._stored
        if len(messages) >= len(stored) and all(map(is_, stored, messages)):
            return len(stored)
        pairs = enumerate(zip(stored, messages, strict=False))
        return next((at for at, (one, other) in pairs if one is not other), min(len(stored), len(messages)))

    def _add(self, rendering: Rendering, messages: Sequence[Message], kept: int) -> None:
        done = len(self._stored)
        kept = min(kept, done)
        self._stored[kept:] = messages[kept:]
        first = rendering.pair(kept, done)
        if first < done:
            self._back(rendering, first)
            done = self._places[-1].stored
        self._render(done)

    def _render(self, start: int) -> None:
        """Render from ``start`` on, in pieces."""
        assert self._rendering is not None
        end = len(self._stored)
        while start < end:
            start = self._rendering.extend(start, min(start + CHUNK, end))
            self._turns.extend()
            self._settle()
            self._note(self._rendering, start)

    # -- bytes and places --------------------------------------------------------------------------------------------

    def _settle(self) -> None:
        """Write the turns that cannot change any more, and forget them."""
        turns = self._turns.settle()
        if turns:
            data = memoryview(to_json(turns))[1:-1]
            try:
                self._written += data
            except BufferError:  # a request that is still being sent holds it
                self._written = self._written + data
            self._written += b","

    def _note(self, rendering: Rendering, stored: int) -> None:
        """Remember this place; of older ones only some."""
        places = self._places
        if places[-1].stored < stored:
            places.append(_Place(stored, rendering.mark(stored), self._turns.mark(), len(self._written)))
        if len(places) > RECENT + 2 and places[-RECENT].stored - places[-RECENT - 2].stored < CHUNK:
            del places[-RECENT - 1]

    def _back(self, rendering: Rendering, stored: int) -> None:
        """To the last place at which the first ``stored`` messages, and no more, were rendered."""
        while self._places[-1].stored > stored:
            self._places.pop()
        place = self._places[-1]
        rendering.back(place.rendering)
        self._turns.back(place.turns)
        self._written = self._written[: place.written]


class Renderers:
    """The renderers of one conversation, for the last few targets that it was sent to."""

    def __init__(self, most: int = 3) -> None:
        self._most = most
        self._kept: list[tuple[Renderer, int]] = []  # with how many edits each has seen; the last used stands last

    def request(
        self, context: Context, model: Model, options: Options | None, policy: PolicyLike, edits: Sequence[int]
    ) -> Request:
        """The request that sends ``context`` to ``model``.

        ``edits`` grows by the index of a message whenever anything but the end of the conversation is changed.
        """
        since: int | None = None
        for at, (renderer, seen) in enumerate(self._kept):
            if _is_for(renderer, model, policy):
                del self._kept[at]
                since = min([renderer.count, *edits[seen:]])
                break
        else:
            renderer = Renderer(model, policy)
        request = renderer.request(context, options, since)
        self._kept = [*self._kept[1 - self._most :], (renderer, len(edits))]
        return request


def _is_for(renderer: Renderer, model: Model, policy: PolicyLike) -> bool:
    same = renderer.policy is policy or (isinstance(policy, str) and renderer.policy == policy)
    return same and (renderer.model is model or renderer.model == model)


def encode(context: Context, model: Model, options: Options | None = None, policy: PolicyLike = None) -> Request:
    """The request that sends ``context`` to ``model``."""
    return Renderer(model, policy)._request(context, options or Options(), None, again=False)
