"""The input line of a chat: one line is always open, also while a turn runs, and above it everything else is printed.

A question (may this tool run?) takes the line over; what was being typed comes back after it.
"""

import asyncio
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice

from prompt_toolkit import PromptSession
from prompt_toolkit.completion import CompleteEvent, Completer, Completion
from prompt_toolkit.document import Document
from prompt_toolkit.formatted_text import StyleAndTextTuples
from prompt_toolkit.history import InMemoryHistory
from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent
from prompt_toolkit.layout.processors import Processor, Transformation, TransformationInput
from prompt_toolkit.output import create_output

from .above import Above
from .printable import flat, masked, printable
from .terminal import output

PROMPT = "› "
READING = 0.7
"""Seconds that somebody who was typing needs to see that a question has come up."""

Completions = Callable[[str], Iterable[tuple[str, str]]]
"""Given what was typed so far: whole lines that it may become, each with a few words about it."""


class Keyboard:
    """Reads lines. ``status`` gives the text of the line above it; ``interrupt`` is called for Ctrl-C."""

    def __init__(
        self,
        completions: Completions,
        status: Callable[[], str],
        interrupt: Callable[[], None],
        said: Sequence[str] = (),
    ) -> None:
        self._growing = self._shown = ("", "")
        self._question: _Question | None = None
        self._status = status
        self._next = ""
        self._history = _History(said)
        self._session: PromptSession[str] = PromptSession(
            self._message,
            completer=_LineCompleter(completions, lambda: self._question is None),
            complete_while_typing=True,
            history=self._history,
            key_bindings=_keys(interrupt),
            erase_when_done=True,  # what was typed is printed by whoever takes it
            reserve_space_for_menu=4,
            input_processors=[_Masked()],
            output=create_output(output()),
        )
        self.above = Above(self._session.app)

    async def line(self) -> str:
        """The next line that is no answer to a question. ``EOFError`` for Ctrl-D."""
        while True:
            default, self._next = self._next, ""
            line = await self._session.prompt_async(default=default, handle_sigint=False, set_exception_handler=False)
            question = self._question
            if question is None:
                self._history.keep(line)
                return line
            if not question.is_too_soon():
                self._answered(question, line)

    async def ask(self, question: str, default: str = "") -> str:
        """Ask something; what was being typed waits meanwhile."""
        asked = _Question(question, self.typed)
        self._question = asked
        self.put(default)
        try:
            return await asked.answer
        finally:
            if self._question is asked:  # nobody answers any more
                self._question = None
                self.put(asked.typed)

    @property
    def typed(self) -> str:
        """What stands in the line."""
        return self._session.default_buffer.text if self._session.app.is_running else self._next

    def put(self, text: str) -> None:
        """Let the line begin with ``text``."""
        app = self._session.app
        if app.is_running:
            self._session.default_buffer.document = Document(text)
            app.invalidate()
        else:
            self._next = text

    def grow(self, text: str, style: str) -> None:
        """Show a line of output that is not whole yet."""
        self._growing = text, style
        self.refresh()

    def refresh(self) -> None:
        """Draw the line and what stands below it anew."""
        self._session.app.invalidate()

    def close(self) -> None:
        """Let whoever waits for a line get an ``EOFError``."""
        app = self._session.app
        if app.is_running and not app.is_done:
            app.exit(exception=EOFError())

    # -- parts of these -----------------------------------------------------------------------------------------------

    def _answered(self, question: "_Question", line: str) -> None:
        self._question, self._next = None, question.typed
        if not question.answer.done():
            question.answer.set_result(line)

    def _message(self) -> StyleAndTextTuples:
        """The line of output that is growing, the status, and the prompt or the question."""
        if not self.above.is_waiting:  # a line that is whole appears above before the next one grows
            self._shown = self._growing
        text, style = self._shown
        growing: StyleAndTextTuples = [(_STYLES.get(style, ""), printable(text) + "\n")] if text else []
        asks = ("bold", PROMPT) if self._question is None else ("bold ansiyellow", self._question.text)
        return [*growing, ("ansibrightblack", flat(self._status()) + "\n"), asks]


def _keys(interrupt: Callable[[], None]) -> KeyBindings:
    keys = KeyBindings()

    @keys.add("c-c")
    def _(event: KeyPressEvent) -> None:
        interrupt()

    @keys.add("escape", "enter")
    def _(event: KeyPressEvent) -> None:
        event.current_buffer.insert_text("\n")

    return keys


class _Question:
    def __init__(self, text: str, typed: str) -> None:
        self.text, self.typed = f"{flat(text)} ", typed
        self._loop = asyncio.get_running_loop()
        self._since = self._loop.time()
        self.answer: asyncio.Future[str] = self._loop.create_future()

    def is_too_soon(self) -> bool:
        """Whether the line was meant for something else: who was typing cannot have read the question yet."""
        return bool(self.typed) and self._loop.time() - self._since < READING


class _History(InMemoryHistory):
    """What was said, without the answers to questions: only what is kept on purpose."""

    def append_string(self, string: str) -> None:
        """Called for every line."""

    def keep(self, line: str) -> None:
        if line.strip():
            super().append_string(line)


class _LineCompleter(Completer):
    def __init__(self, completions: Completions, wanted: Callable[[], bool]) -> None:
        self._completions = completions
        self._wanted = wanted

    def get_completions(self, document: Document, complete_event: CompleteEvent) -> Iterator[Completion]:
        typed = document.text_before_cursor
        if self._wanted():
            for text, about in self._completions(typed):
                yield Completion(text, start_position=-len(typed), display=flat(text), display_meta=flat(about))


class _Masked(Processor):
    """Shows what is in the line without its unsafe characters; the line itself keeps them."""

    def apply_transformation(self, transformation_input: TransformationInput) -> Transformation:
        fragments = transformation_input.fragments
        safe = iter(masked("".join(text for _, text, *_ in fragments)))
        return Transformation([(style, "".join(islice(safe, len(text)))) for style, text, *_ in fragments])


_STYLES = {"dim italic": "italic ansibrightblack"}
"""Styles of output in the words of the input line."""
