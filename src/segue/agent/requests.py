"""The requests of a session: what is sent, and about how large it is."""

from collections.abc import Iterable

from msgspec.structs import replace

from ..compaction import RequestSettings, answer_room
from ..render import Renderers, Request
from ..tokens import estimate_from_guesses, guess_frame, guess_messages
from ..types import Context, Fold, Model, ToolDefinition
from .settings import Settings
from .state import State

_EMPTY = Context(messages=[])


class Requests:
    """Renders the conversation of a session. What was rendered for an earlier request is not rendered again."""

    def __init__(self, session: str, state: State, tools: Iterable[ToolDefinition], settings: Settings) -> None:
        self._session = session
        self.tools = list(tools)
        self.settings = settings
        self._state = state
        self._renderers = Renderers()
        self._guess = Fold(float, lambda total, message: total + guess_messages([message]))

    @property
    def context(self) -> Context:
        """The conversation. Its lists are not copied: they grow with the session."""
        state = self._state
        return replace(_EMPTY, system_prompt=state.system_prompt, messages=state.messages, tools=self.tools)

    def request(self, model: Model) -> Request:
        """The next request to ``model``, whose answer is streamed."""
        options = replace(self.settings.options, stream=True)
        if options.cache_key is None and model.dialect.has_cache_key:
            options = replace(options, cache_key=self._session)
        return self._renderers.request(self.context, model, options, self.settings.policy, self._state.edits)

    def estimate(self) -> float:
        """About how many tokens the stored conversation has."""
        messages, fixed = self._state.messages, self._state.fixed
        frame = guess_frame(self._state.system_prompt, self.tools)
        return frame + self._guess.over(messages, fixed) + guess_messages(messages[fixed:])

    def overflows(self, model: Model, request: Request | None) -> bool:
        """Whether ``request`` may not fit the window of ``model``; without one, the stored conversation is measured."""
        stored = self.estimate()
        rendered = stored if request is None else request.guessed()
        most = estimate_from_guesses(self._state.messages, stored, rendered, model).high
        return most > model.input_limit(answer_room(model, RequestSettings(self.settings.options)))
