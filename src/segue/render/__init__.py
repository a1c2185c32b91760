"""From conversation and model to a request, and from an answer back to a message."""

from ..tokens import Estimate
from .answer import Decoder, decode
from .bodies import (
    RecognisedBody as RecognisedBody,
    ingest,
    lint,
    lint_request as lint_request,
    read_conversation as read_conversation,
    recognise_body as recognise_body,
)
from .conversation import ConversationLike, as_context as as_context
from .export import Export, export
from .ledger import Ledger
from .lists import plain_values as plain_values
from .preview import Preview, preview
from .project import project
from .read_request import ReadRequest, read_request, unread_fields as unread_fields
from .recognise import Recognised as Recognised, as_body as as_body, recognise as recognise
from .renderer import Renderer, Renderers as Renderers, encode, encode_again as encode_again
from .request import Request
from .sources import Sources, body_sources
from .writing import AnswerSettings, AnswerWriter, WrittenAnswer, events_of, write_answer, write_error

__all__ = [
    "AnswerSettings",
    "AnswerWriter",
    "ConversationLike",
    "Decoder",
    "Estimate",
    "Export",
    "Ledger",
    "Preview",
    "ReadRequest",
    "Renderer",
    "Request",
    "Sources",
    "WrittenAnswer",
    "body_sources",
    "decode",
    "encode",
    "events_of",
    "export",
    "ingest",
    "lint",
    "preview",
    "project",
    "read_request",
    "write_answer",
    "write_error",
]
