"""Mistral chat completions, in both directions."""

from collections.abc import Iterable
from typing import Any

from ...dialects import MistralChat
from ...types import AssistantContent, Model, Options, TextContent
from ..common.seals import whole_signature
from ..common.vertex import vertex_path
from ..protocol import Body, Protocol
from .decode import Reader
from .encode import MistralTurns, body
from .export import EXPORT_FORM
from .ingest import ingest, recognise
from .read import REQUEST_FORM
from .rules import RULES


def path(model: Model, options: Options, body: Body) -> str:
    assert isinstance(model.dialect, MistralChat)
    return vertex_path(model, options) if model.dialect.surface == "vertex" else "/chat/completions"


def headers(model: Model, options: Options) -> dict[str, str]:
    return {"content-type": "application/json", "accept": "text/event-stream" if options.stream else "application/json"}


def sdk_kwargs(body: Body, model: Model, options: Options) -> dict[str, Any]:
    """Arguments of ``Mistral.chat.complete``, or of ``Mistral.chat.stream`` with the option ``stream``."""
    return dict(body)


def seals(block: AssistantContent) -> Iterable[str]:
    """The signature of thinking or of a call. That of a text holds its references, which do not go back."""
    return [] if type(block) is TextContent else whole_signature(block)


PROTOCOL = Protocol(
    name="mistral-chat",
    dialect=MistralChat,
    history="messages",
    turns=MistralTurns,
    body=body,
    export=EXPORT_FORM,
    path=path,
    headers=headers,
    sdk_kwargs=sdk_kwargs,
    ingest=ingest,
    recognise=recognise,
    rules=RULES,
    request=REQUEST_FORM,
    reader=Reader,
    seals=seals,
)
