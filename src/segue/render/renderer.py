"""``Renderer`` and ``encode`` render a conversation as requests. A renderer does not repeat work of earlier requests.

A renderer is bound to one model. It keeps the rendered messages (unchanged ones are the stored objects) and the bytes
of the turns that cannot change any more. Each request renders the new messages, closes the turns, and joins both. If a
message of the last request has changed, the renderer goes back to the state before that request; if an earlier one has
changed, it starts again.
"""

from collections.abc import Sequence
from operator import is_
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from ..catalog import as_model
from ..projection import Mark, PolicyLike, Prefix, Rendering, Report, require_messages, resolve_policy
from ..tokens import guess_messages
from ..types import Context, Fold, Message, Model, Options, check_options
from ..wire import Mark as TurnsMark, Outgoing, Turns, protocol_of, to_json, without_fields
from .conversation import ConversationLike, as_context
from .extra import with_extra
from .request import HISTORY, Request, Snapshot, Source

CHUNK = 256
"""Messages to render before their turns are written, so that memory does not grow with the history."""
DEFAULTS = Options()


class Checkpoint(Struct, frozen=True):
    """The state of a renderer before its last request. There is none before the first one."""

    stored: int
    rendering: Mark
    turns: TurnsMark
    written: int


class Renderer:
    """Renders one growing conversation for ``model``. Its requests are byte for byte what ``encode`` returns.

    Work is saved for messages that are the same objects as in the last request: those of a ``Context``, or of a list of
    segue's messages. Other forms of a conversation are read from the beginning each time. With ``writes=False`` no turn
    is written before a request is, for callers that rarely need the bytes.
    """

    def __init__(self, model: Model | str, policy: PolicyLike = None, *, writes: bool = True) -> None:
        self.model = model = as_model(model)
        self._writes = writes
        self.policy = policy
        self._choices, self._strategy = resolve_policy(policy)
        self._protocol = protocol_of(model.protocol)
        self._refused = [path.split(".") for path in model.dialect.refused_fields]
        self._stored: list[Message] = []
        self._rendering: Rendering | None = None

    @property
    def count(self) -> int:
        """The number of messages in the last request."""
        return len(self._stored)

    def request(self, context: ConversationLike, options: Options | None = None, since: int | None = None) -> Request:
        """Render the request that sends ``context``.

        ``since``: index of the first message that may have changed since the last request, if the caller knows it;
        otherwise the messages are compared.
        """
        try:
            return self._request(context, options or DEFAULTS, since)
        except BaseException:
            self._rendering = None  # it may be incomplete, so the next request starts again
            raise

    def _request(
        self, conversation: ConversationLike, options: Options, since: int | None, writes: bool = True
    ) -> Request:
        """``writes``: whether to write the turns that cannot change any more, for later requests."""
        context = as_context(conversation)
        check_options(options)
        rendering = self._rendered(context, since, writes)
        if self._choices.passes:
            require_messages(rendering)
        report = Report()
        end = self._turns.closed(Outgoing(rendering, self.model, self._protocol.dialect, options, report))
        body = self._protocol.body(end.out, end)
        if self._refused:
            body = self._without_refused(body, end.out)
        if options.extra:
            body = with_extra(body, options.extra, self._protocol.history)
        if self._written:
            body[self._protocol.history].insert(len(end.head), HISTORY)
        source = Source(context, len(context.messages), self.policy)
        return Request(self.model, self._protocol, options, self._snapshot(rendering), body, report, source)

    def _without_refused(self, body: dict[str, Any], out: Outgoing[Any]) -> dict[str, Any]:
        """The body without the fields that the target refuses."""
        found = set(self._left_out)
        smaller: dict[str, Any] = without_fields(body, self._refused, found)
        for path in sorted(found):
            out.drop_option(path, "the target refuses this field")
        return smaller

    def _snapshot(self, rendering: Rendering) -> Snapshot:
        made, shaped = rendering.report.pending, self._turns.out.report.pending
        return Snapshot(
            rendering.frame,
            rendering.messages,
            rendering.sources,
            len(rendering.messages),
            rendering.names,
            ((made, len(made)), (shaped, len(shaped))),
            self._guess,
            self._prefix,
            self._turns.added,
            self._written,
            len(self._written),
        )

    # -- new and changed messages ------------------------------------------------------------------------------------

    def _rendered(self, context: Context, since: int | None, writes: bool) -> Rendering:
        """Render ``context`` and its turns."""
        if self._strategy is not None:  # it may change any message
            translated = list(self._strategy.translate_for_provider(list(context.messages), self.model))
            return self._start(context, Context(messages=translated).messages, writes)
        rendering = self._rendering
        if rendering is None or rendering.asked_prompt != context.system_prompt:
            return self._start(context, context.messages, writes)
        if not self._add(rendering, context.messages, since):
            return self._start(context, context.messages, writes)
        if not rendering.has_tools(context.tools):
            if rendering.bound:
                return self._start(context, context.messages, writes)
            rendering.set_tools(context.tools)
            self._fold(rendering)
        return rendering

    def _start(self, context: Context, messages: Sequence[Message], writes: bool) -> Rendering:
        self._stored = list(messages)
        rendering = Rendering(context.system_prompt, self._stored, context.tools, self.model, self._choices)
        self._rendering = rendering
        self._fold(rendering)
        out: Outgoing[Any] = Outgoing(rendering, self.model, self._protocol.dialect, DEFAULTS, Report())
        self._turns: Turns[Any] = self._protocol.turns(out)
        self._written = bytearray()
        self._left_out: set[str] = set()
        """Refused fields that written turns had."""
        self._checkpoint: Checkpoint | None = None
        if writes:
            self._render(rendering, 0)
        else:
            rendering.extend(0, len(self._stored))
            self._turns.extend()
        return rendering

    def _fold(self, rendering: Rendering) -> None:
        """Create the folds over the messages, which are computed on demand."""
        frame = rendering.frame
        self._guess = Fold(float, lambda total, message: total + guess_messages([message]))
        self._prefix = Fold(lambda: Prefix(frame.system_prompt, frame.tools), Prefix.add)

    def _add(self, rendering: Rendering, messages: Sequence[Message], since: int | None) -> bool:
        """Render the new messages. Return ``False`` if a message before the checkpoint has changed."""
        done = len(self._stored)
        kept = self._same(messages) if since is None else min(since, done)
        self._stored[kept:] = messages[kept:]
        first = rendering.first_changed(kept, done)
        checkpoint = self._checkpoint
        if first < done:
            if checkpoint is None or first < checkpoint.stored:
                return False
            done = self._back(rendering, checkpoint)
        else:
            self._checkpoint = Checkpoint(done, rendering.mark(), self._turns.mark(), len(self._written))
        self._render(rendering, done)
        return True

    def _same(self, messages: Sequence[Message]) -> int:
        """The number of messages at the beginning that are the same as in the last request."""
        stored = self._stored
        if len(messages) >= len(stored) and all(map(is_, stored, messages)):
            return len(stored)
        pairs = enumerate(zip(stored, messages, strict=False))
        return next((at for at, (one, other) in pairs if one is not other), min(len(stored), len(messages)))

    def _back(self, rendering: Rendering, checkpoint: Checkpoint) -> int:
        """Go back to the checkpoint and return the number of messages before it."""
        rendering.back(checkpoint.rendering)
        self._turns.back(checkpoint.turns)
        self._written = self._written[: checkpoint.written]
        return checkpoint.stored

    def _render(self, rendering: Rendering, start: int) -> None:
        """Render from ``start`` on, in chunks, and write the turns that cannot change any more."""
        end = len(self._stored)
        while start < end:
            start = rendering.extend(start, min(start + CHUNK, end))
            self._turns.extend()
            if self._writes and (turns := self._turns.pop_final()):
                if self._refused:
                    history = self._protocol.history
                    turns = without_fields({history: turns}, self._refused, self._left_out)[history]
                self._write(memoryview(to_json(turns))[1:-1])

    def _write(self, data: memoryview) -> None:
        comma = b"," if self._written else b""
        try:
            self._written += comma
        except BufferError:  # in use by a request that is being sent
            self._written = self._written + comma
        self._written += data


class Renderers:
    """The renderers of one conversation, one for each of its last few targets."""

    def __init__(self, most: int = 3) -> None:
        self._most = most
        self._kept: list[tuple[Renderer, int]] = []  # with the number of edits that each has seen; last used last

    def request(
        self, context: Context, model: Model, options: Options | None, policy: PolicyLike, edits: Sequence[int]
    ) -> Request:
        """Render the request that sends ``context`` to ``model``.

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


def encode(
    context: ConversationLike, model: Model | str, options: Options | None = None, policy: PolicyLike = None
) -> Request:
    """Render the request that sends ``context`` to ``model``."""
    return Renderer(model, policy)._request(context, options or DEFAULTS, None, writes=False)


def encode_again(request: Request, model: Model, options: Options, policy: PolicyLike = None) -> Request:
    """Render the conversation of ``request`` again, for a model or with options that differ. Without a policy, that of
    the request is used."""
    context, count, asked = request.source.context, request.source.count, request.source.policy
    if len(context.messages) > count:  # the conversation has grown since
        context = replace(context, messages=context.messages[:count])
    return encode(context, model, options, asked if policy is None else policy)
