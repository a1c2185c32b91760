"""OpenAI Responses: ``POST /responses`` of OpenAI and Azure, without state on the server."""

from typing import Any

from ...dialects import OpenAIResponses
from ...types import Model, Options
from ..protocol import Body, Protocol
from .decode import Reader
from .encode import ResponsesTurns, body
from .export import EXPORT_FORM
from .ingest import ingest, recognise
from .rules import RULES

__all__ = ["PROTOCOL"]


def _path(model: Model, options: Options, body: Body) -> str:
    return "/responses"


def _headers(model: Model, options: Options) -> dict[str, str]:
    return {"content-type": "application/json"}


def _sdk_kwargs(body: Body, model: Model, options: Options) -> dict[str, Any]:
    """Arguments of ``openai.OpenAI().responses.create``, which has one for every field that we send."""
    return dict(body)


PROTOCOL = Protocol(
    name="openai-responses",
    dialect=OpenAIResponses,
    history="input",
    turns=ResponsesTurns,
    body=body,
    export=EXPORT_FORM,
    path=_path,
    headers=_headers,
    sdk_kwargs=_sdk_kwargs,
    ingest=ingest,
    recognise=recognise,
    rules=RULES,
    reader=Reader,
)
