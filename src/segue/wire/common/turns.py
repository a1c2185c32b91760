"""Messages as the turns of a protocol: one fold over the rendered conversation, completed by each encoder."""

from collections.abc import Callable
from typing import Any, Generic, Literal, Self, TypeVar, assert_never

from msgspec import Struct

from ...dialects import Dialect
from ...projection import file_as_text, image_as_text, provider_content_as_text
from ...types import (
    AssistantMessage,
    ChangeCode,
    FileContent,
    ImageContent,
    ProviderContent,
    TextContent,
    ToolResultMessage,
    UserMessage,
)
from ...types.text import in_label
from ...types.texts import MOVED_BOTH, MOVED_FILES, MOVED_IMAGES
from .outgoing import Outgoing

D = TypeVar("D", bound=Dialect)
Note = Callable[[ChangeCode, str], None]
"""Reports a change of the message that is being added."""
Turn = Any
"""A dict, or a struct that is written as an object."""

Held = tuple[Literal["image", "file"], Any]
"""An image or file in the shape of a protocol."""

_TITLES = {
    frozenset({"image"}): MOVED_IMAGES,
    frozenset({"file"}): MOVED_FILES,
    frozenset({"image", "file"}): MOVED_BOTH,
}


class Mark(Struct, frozen=True):
    """A checkpoint of the turns."""

    attributes: dict[str, Any]
    changes: int


class Turns(Generic[D]):
    """The rendered messages in the shape of a protocol: a fold that continues where it stopped.

    A protocol writes ``add_result``, ``add_user``, ``add_answer``, ``add_moved`` and ``close``. What it remembers from
    one message to the next are attributes whose values are replaced, not changed: a mark records all of them. Only the
    last turn may change when a message is added; contents are shared with what is stored wherever they can be.
    """

    def __init__(self, out: Outgoing[D]) -> None:
        self.out = out
        self.dialect = out.dialect
        self.head: list[Turn] = []
        """Turns before all others that may differ between requests."""
        self.turns: list[Turn] = []
        self.held: list[Held] = []
        """Images and files of tool results that are held back until the end of the batch."""
        self.added = False
        """Whether a turn has a placeholder that no stored message has, such as a signature that the target requires."""
        self.index = -1
        """Index of the rendered message that is being added, or was added last."""
        self.role = ""
        """The role of the last turn, for protocols that need to know it."""
        self._shared = 0  # the number of turns at the beginning that a request or a mark may have, too

    # -- implemented by a protocol -------------------------------------------------------------------------------------

    def add_result(self, message: ToolResultMessage) -> None:
        """Add the result of a call."""
        raise NotImplementedError

    def add_user(self, message: UserMessage) -> None:
        """Add a user message."""
        raise NotImplementedError

    def add_answer(self, message: AssistantMessage) -> None:
        """Add an answer."""
        raise NotImplementedError

    def add_moved(self, title: str, blocks: list[Any], last: int) -> None:
        """Add the images and files that were held back, after the batch of results, under a title; ``last`` is the
        index of its last result."""
        raise NotImplementedError

    def close(self) -> None:
        """Add whatever a request that ends here needs."""
        raise NotImplementedError

    def count_open(self) -> int:
        """How many turns at the end may still change: the last one, and those that get cache markers."""
        return 1

    # -- the fold ----------------------------------------------------------------------------------------------------

    def extend(self) -> None:
        """Add the messages that were rendered since the last call."""
        messages, first = self.out.rendered.messages, self.index + 1
        for self.index, message in enumerate(messages[first:] if first else messages, first):
            if type(message) is ToolResultMessage:
                self.add_result(message)
                continue
            if self.held:
                self._release(self.index - 1)
            if type(message) is AssistantMessage:
                self.add_answer(message)
            elif type(message) is UserMessage:
                self.add_user(message)
            else:
                assert_never(message)

    def closed(self, out: Outgoing[D]) -> Self:
        """A copy that is complete for a request that ends here; changes for that are reported to ``out``."""
        end = self.__class__.__new__(self.__class__)
        self._shared = len(self.turns)
        end.__dict__ = self._attributes()
        end.out = out
        end.release()
        end.close()
        return end

    def release(self) -> None:
        """Add the images and files that were held back: no further result of their batch follows."""
        if self.held:
            self._release(self.index)

    def note(self, code: ChangeCode, detail: str) -> None:
        """Report a change of the message that is being added."""
        self.out.note(code, self.index, detail)

    def note_unnamed(self, block: FileContent) -> None:
        """Report that a file is sent without its name, if it has one."""
        if block.name is not None:
            detail = f"{in_label(block.name)!r} is sent without its name: the target has no field for it"
            self.out.note("file-renamed", self.index, detail, lossy=True)

    def note_uncited(self, block: TextContent, why: str) -> None:
        """Report that a text is sent without its citations, if it has any."""
        if block.citations:
            self.note("citations-dropped", why)

    def text_instead(self, block: ImageContent | FileContent | ProviderContent) -> str:
        """The text in place of a block that the protocol has no form for, which is reported. It may be empty."""
        if type(block) is ImageContent:
            code, detail, text = image_as_text(block)
        elif type(block) is FileContent:
            code, detail, text = file_as_text(block)
        elif type(block) is ProviderContent:
            code, detail, text = provider_content_as_text(block)
        else:
            assert_never(block)
        self.note(code, detail)
        return text

    def last(self) -> Turn:
        """The last turn, to be changed. A request or a mark may share it, so it is copied before its first change."""
        if len(self.turns) <= self._shared:
            self.turns[-1] = _copied(self.turns[-1])
            self._shared = len(self.turns) - 1
        return self.turns[-1]

    def pop_final(self) -> list[Turn]:
        """Remove and return the turns that no later request changes: all but the last few."""
        count = max(len(self.turns) - self.count_open(), 0)
        final = self.turns[:count]
        del self.turns[:count]
        self._shared = max(self._shared - len(final), 0)
        return final

    def mark(self) -> Mark:
        """A checkpoint of the current state."""
        self._shared = len(self.turns)
        attributes, self.__dict__ = self.__dict__, self._attributes()
        return Mark(attributes, len(self.out.report.pending))

    def back(self, mark: Mark) -> None:
        """Go back to ``mark``."""
        self.__dict__ = mark.attributes
        self.__dict__ = self._attributes()  # the mark may be used again
        self.out.report.back(mark.changes)

    def _attributes(self) -> dict[str, Any]:
        """A copy of the attributes; the two lists that grow are copied, too."""
        return {**self.__dict__, "turns": self.turns.copy(), "held": self.held.copy()}

    def _release(self, last: int) -> None:
        held, self.held = self.held, []
        self.add_moved(_TITLES[frozenset(kind for kind, _ in held)], [block for _, block in held], last)


def text_before_calls(
    blocks: list[Any], is_text: Callable[[Any], bool], is_call: Callable[[Any], bool]
) -> list[Any] | None:
    """The blocks of an answer with the text at its end before its last calls (ANT-16); ``None`` if it is not after
    them. All other blocks stay in order, because the target's own answers do, and thinking is signed."""
    texts = len(blocks)
    while texts and is_text(blocks[texts - 1]):
        texts -= 1
    calls = texts
    while calls and is_call(blocks[calls - 1]):
        calls -= 1
    if texts == len(blocks) or calls == texts:
        return None
    return [*blocks[:calls], *blocks[texts:], *blocks[calls:texts]]


def _copied(turn: Turn) -> Turn:
    """A copy of a turn to which blocks can be added."""
    copied = turn.__copy__()
    for name in turn.__struct_fields__:
        value = getattr(turn, name)
        if type(value) is list:
            setattr(copied, name, list(value))
    return copied
