"""The interface of a protocol: a record of functions, one record per folder, listed in ``registry.py``."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from msgspec import Struct

from ..dialects import Dialect
from ..rules import Rule
from ..types import AssistantContent, Context, Model, Options, ThinkingContent
from .common.answer import Answer
from .common.frame import Framing
from .common.outgoing import Outgoing
from .common.reader import Reader
from .common.requests import RequestForm
from .common.seals import whole_signature
from .common.sse import ServerSentEvents
from .common.turns import Turns
from .common.writing import AnswerForm

Body = dict[str, Any]


class ExportForm(Struct, frozen=True, kw_only=True):
    """How ``export`` writes a conversation: in every form that the protocol has, even if some targets refuse it."""

    # A target that accepts all forms of the protocol.
    dialect: Dialect
    # The fold that turns stored messages into turns, without fillers and without merging.
    turns: Callable[[Outgoing[Any]], Turns[Any]]
    # The system prompt, the turns and the tools, and nothing else.
    body: Callable[[Outgoing[Any], Any], Body]
    # Whether a signature of this protocol has a valid form and a field in such a block.
    holds_signature: Callable[[AssistantContent, str], bool]
    # Whether thinking may be written without a signature.
    unsigned_thinking: bool = True
    # Whether texts may be blank.
    blank_texts: bool = True


def signs_thinking(block: AssistantContent, signature: str) -> bool:
    """``holds_signature`` of protocols in which only thinking is signed."""
    return type(block) is ThinkingContent


class Protocol(Struct, frozen=True, kw_only=True):
    """One wire protocol."""

    name: str
    dialect: type[Dialect]
    # The field of a request body that holds the turns of the conversation.
    history: str
    # The fold that turns rendered messages into turns.
    turns: Callable[[Outgoing[Any]], Turns[Any]]
    # The request around the turns, as `closed()` returns them.
    body: Callable[[Outgoing[Any], Any], Body]
    # The form of a whole conversation, for `export`.
    export: ExportForm
    # The path of the request below the model's base URL.
    path: Callable[[Model, Options, Body], str]
    # Headers that the protocol always needs; never a key.
    headers: Callable[[Model, Options], dict[str, str]]
    # The body as keyword arguments of the provider's own Python SDK.
    sdk_kwargs: Callable[[Body, Model, Options], dict[str, Any]]
    # Read the conversation in a request body. The model is the origin of its answers; without one, their origin is
    # unknown and their signatures are never replayed. The last argument is the timestamp (Unix ms) of the answers.
    ingest: Callable[[Body, Model | None, int], Context]
    # What else is read of a request: its options, and which fields are not read.
    request: RequestForm
    # How much a body looks like one of this protocol: 0 for not at all.
    recognise: Callable[[Body], int]
    # For protocols whose history is not called `messages`: whether a bare list of turns is certainly one of theirs.
    is_own_list: Callable[[list[Body]], bool] | None = None
    rules: Sequence[Rule]
    # How a streamed answer is split into events, and the decoder that reads them.
    framing: Callable[[], Framing] = ServerSentEvents
    reader: Callable[[Answer], Reader]
    # The opaque data in the signature of a block of an answer, in the form that all clients send back.
    seals: Callable[[AssistantContent], Iterable[str]] = whole_signature
    # How answers are written; None: only their reading is implemented.
    answers: AnswerForm | None = None
