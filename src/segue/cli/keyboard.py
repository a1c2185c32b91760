"""The input line of a chat. It stays open while a turn runs; everything else is printed above it.

A question (may this tool run?) uses the same line. A text that was being typed comes back after the answer.
"""

import asyncio
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from itertools import islice

from prompt_toolkit import PromptSession
from prompt_toolkit.completion import CompleteEvent, Completer, Completion
from prompt_toolkit.document import Document
from prompt_toolkit.formatted_text import StyleAndTextTuples
from prompt_toolkit.history import InMemoryHistory
from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent
from prompt_toolkit.layout.processors import Processor, Transformation, TransformationInput
from prompt_toolkit.output import create_output

from .printable import mask, one_line, printable
from .prompt_output import PromptOutput
from .terminal import output

PROMPT = "› "
REACTION_TIME = 0.7
"""Seconds that a user who is typing needs to notice a question."""

Completions = Callable[[str], Iterable[tuple[str, str]]]
"""Returns the complete lines that a typed text may become, each with a short description."""


class Keyboard:
    """Reads lines. ``status`` returns the text above the input line; ``interrupt`` is called for Ctrl-C."""

    def __init__(
        self,
        completions: Completions,
        status: Callable[[], str],
        interrupt: Callable[[], None],
        history: Sequence[str] = (),
    ) -> None:
        self._growing = self._shown = ("", "")
        self._question: _Question | None = None
        self._status = status
        self._next = ""
        self._history = _History(history)
        self._session: PromptSession[str] = PromptSession(
            self._prompt,
            completer=_LineCompleter(completions, lambda: self._question is None),
            complete_while_typing=True,
            history=self._history,
            key_bindings=_keys(interrupt),
            erase_when_done=True,  # the chat prints the line itself
            reserve_space_for_menu=4,
            input_processors=[_Masked()],
            output=create_output(output()),
        )
        self.output = PromptOutput(self._session.app)
        """What is written to this file appears above the input line."""

    def held(self) -> AbstractContextManager[None]:
        """Keep the terminal in raw mode between two lines, too. Otherwise it would be a terminal of plain lines for a
        moment: Ctrl-C would be a signal there, which discards what was typed before it and what is being printed."""
        return self._session.input.raw_mode()

    async def line(self) -> str:
        """Read the next line that is not an answer to a question. Raises ``EOFError`` for Ctrl-D."""
        while True:
            default, self._next = self._next, ""
            line = await self._session.prompt_async(default=default, handle_sigint=False, set_exception_handler=False)
            question = self._question
            if question is None:
                self._history.add(line)
                return line
            if not question.is_too_soon():
                self._answer(question, line)

    async def ask(self, question: str, default: str = "") -> str:
        """Ask a question and return the answer. A text that was being typed comes back afterwards."""
        asked = _Question(question, self.typed)
        self._question = asked
        self.put(default)
        try:
            return await asked.answer
        finally:
            if self._question is asked:  # cancelled before there was an answer
                self._question = None
                self.put(asked.typed)

    @property
    def typed(self) -> str:
        """The text in the input line."""
        return self._session.default_buffer.text if self._session.app.is_running else self._next

    def put(self, text: str) -> None:
        """Put a text into the input line."""
        app = self._session.app
        if app.is_running:
            self._session.default_buffer.document = Document(text)
            app.invalidate()
        else:
            self._next = text

    def grow(self, text: str, style: str) -> None:
        """Show a line of output that is not complete yet."""
        self._growing = text, style
        self.refresh()

    def refresh(self) -> None:
        """Redraw the input line."""
        self._session.app.invalidate()

    def close(self) -> None:
        """Make a pending ``line()`` raise ``EOFError``."""
        app = self._session.app
        if app.is_running and not app.is_done:
            app.exit(exception=EOFError())

    def _answer(self, question: "_Question", line: str) -> None:
        self._question, self._next = None, question.typed
        if not question.answer.done():
            question.answer.set_result(line)

    def _prompt(self) -> StyleAndTextTuples:
        """The growing line of output, the status, and the prompt or the question."""
        if not self.output.has_pending_lines:  # the finished line appears above before the next one grows
            self._shown = self._growing
        text, style = self._shown
        growing: StyleAndTextTuples = [(_STYLES.get(style, ""), printable(text) + "\n")] if text else []
        prompt = ("bold", PROMPT) if self._question is None else ("bold ansiyellow", self._question.text)
        return [*growing, ("ansibrightblack", one_line(self._status()) + "\n"), prompt]


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
        self.text, self.typed = f"{one_line(text)} ", typed
        self._loop = asyncio.get_running_loop()
        self._since = self._loop.time()
        self.answer: asyncio.Future[str] = self._loop.create_future()

    def is_too_soon(self) -> bool:
        """Whether the line cannot be an answer: the user was typing and has not had time to read the question."""
        return bool(self.typed) and self._loop.time() - self._since < REACTION_TIME


class _History(InMemoryHistory):
    """The lines that the arrow keys bring back. Answers to questions are not among them."""

    def append_string(self, string: str) -> None:
        """Ignore the line: prompt_toolkit calls this for answers as well."""

    def add(self, line: str) -> None:
        if line.strip():
            super().append_string(line)


class _LineCompleter(Completer):
    def __init__(self, completions: Completions, enabled: Callable[[], bool]) -> None:
        self._completions = completions
        self._enabled = enabled

    def get_completions(self, document: Document, complete_event: CompleteEvent) -> Iterator[Completion]:
        typed = document.text_before_cursor
        if self._enabled():
            for text, about in self._completions(typed):
                yield Completion(text, start_position=-len(typed), display=one_line(text), display_meta=one_line(about))


class _Masked(Processor):
    """Shows the input line without unsafe characters; the line itself keeps them."""

    def apply_transformation(self, transformation_input: TransformationInput) -> Transformation:
        fragments = transformation_input.fragments
        safe = iter(mask("".join(text for _, text, *_ in fragments)))
        return Transformation([(style, "".join(islice(safe, len(text)))) for style, text, *_ in fragments])


_STYLES = {"dim italic": "italic ansibrightblack"}
"""Styles of output, and their names in prompt_toolkit."""
