"""OpenAI Chat Completions and the family that speaks it: ``POST /chat/completions``."""

from typing import Any

from ...dialects import OpenAICompletions
from ...types import Model, Options
from ..common.options import cache_key
from ..protocol import Body, Protocol
from .decode import Reader
from .encode import body
from .export import EXPORT_FORM
from .ingest import ingest
from .read import REQUEST_FORM
from .reasoning import seals
from .recognise import recognise
from .rules import RULES
from .sdk import sdk_kwargs
from .turns import ChatTurns
from .write import ANSWER_FORM


def _path(model: Model, options: Options, body: Body) -> str:
    return "/chat/completions"


def _headers(model: Model, options: Options) -> dict[str, str]:
    assert isinstance(model.dialect, OpenAICompletions)
    name, key = model.dialect.affinity_header, cache_key(options)
    return {} if name is None or key is None else {name: key}


def _sdk_kwargs(body: dict[str, Any], model: Model, options: Options) -> dict[str, Any]:
    return sdk_kwargs(body, model)


PROTOCOL = Protocol(
    name="openai-completions",
    dialect=OpenAICompletions,
    history="messages",
    turns=ChatTurns,
    body=body,
    export=EXPORT_FORM,
    path=_path,
    headers=_headers,
    sdk_kwargs=_sdk_kwargs,
    ingest=ingest,
    recognise=recognise,
    rules=RULES,
    request=REQUEST_FORM,
    reader=Reader,
    answers=ANSWER_FORM,
    seals=seals,
)
