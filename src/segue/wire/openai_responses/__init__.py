"""OpenAI Responses: ``POST /responses`` of OpenAI and Azure, without state on the server."""

from typing import Any

from ...dialects import OpenAIResponses
from ...types import Model, Options
from ..protocol import Body, Protocol
from .decode import Reader
from .encode import ResponsesTurns, body
from .export import EXPORT_FORM
from .ingest import ingest, is_own_list, recognise
from .read import REQUEST_FORM
from .replay import seals
from .rules import RULES
from .write import ANSWER_FORM

__all__ = ["PROTOCOL"]


def _path(model: Model, options: Options, body: Body) -> str:
    return "/responses"


def _headers(model: Model, options: Options) -> dict[str, str]:
    return {}


def _sdk_kwargs(body: Body, model: Model, options: Options) -> dict[str, Any]:
    """Arguments of ``openai.OpenAI().responses.create``. Extra fields go into ``extra_body``."""
    others = {name: body[name] for name in options.extra}
    known = {name: value for name, value in body.items() if name not in others}
    return known | ({"extra_body": others} if others else {})


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
    is_own_list=is_own_list,
    rules=RULES,
    request=REQUEST_FORM,
    reader=Reader,
    answers=ANSWER_FORM,
    seals=seals,
)
