"""What a library must be able to do: write messages in its own form, read an answer, and send a conversation."""

from importlib.metadata import version
from typing import Any, NamedTuple, Protocol

from segue.types import AssistantMessage, ToolDefinition, ToolResultMessage, UserMessage

from ..peers.encoders import ACCESS, BEDROCK, CHAT, MISTRAL, TARGETS, Target

ALL = (*TARGETS, MISTRAL)


class Library(Protocol):
    """A library as its users use it."""

    name: str
    package: str
    settings: str
    """What is switched on, for the page."""
    targets: tuple[Target, ...]

    def speaks(self, origin: Target) -> str:
        """The protocol in which it asks a provider."""

    def user(self, message: UserMessage) -> Any:
        """A message of the user, in the library's own form."""

    def result(self, message: ToolResultMessage) -> Any:
        """The result of a call, in the library's own form."""

    def ask(self, origin: Target, url: str, tools: list[ToolDefinition]) -> Any:
        """Send one question to ``origin`` and return the answer, in the library's own form."""

    def call_ids(self, answer: Any) -> list[str]:
        """The ids of the calls in an answer: some libraries replace them."""

    def interrupted(self, answer: Any, stored: AssistantMessage) -> Any:
        """The same answer, marked as failed or as of another account where the library has such a mark."""

    def send(self, target: Target, url: str, conversation: "Conversation") -> None:
        """Send a conversation to ``target``, by the call that users make."""

    def called(self, target: Target) -> str:
        """This call in one line, for the page."""


class Speaker:
    """What most libraries have in common."""

    targets = ALL

    def speaks(self, origin: Target) -> str:
        return origin.protocol

    def interrupted(self, answer: Any, stored: AssistantMessage) -> Any:
        return answer


class Conversation(NamedTuple):
    """A conversation in the own form of a library."""

    system: str
    messages: list[Any]
    tools: list[ToolDefinition]


def title_of(library: Library) -> str:
    return f"{library.name} {version(library.package)}"


def access_to(target: Target) -> dict[str, str]:
    """Credentials, which clients require; nothing leaves this machine."""
    return dict(ACCESS[BEDROCK if target.protocol == BEDROCK.protocol else CHAT])
