"""Anthropic Messages: ``POST /v1/messages``."""

from typing import Any

from ...dialects import AnthropicMessages
from ...types import Model, Options
from ..common.binding import BETA, HEADER
from ..common.vertex import vertex_path
from ..protocol import Body, Protocol
from .decode import Reader
from .encode import VERSION, AnthropicTurns, body
from .export import EXPORT_FORM
from .ingest import ingest, recognise
from .read import REQUEST_FORM
from .rules import RULES
from .shapes import SDK_FIELDS
from .write import ANSWER_FORM


def _path(model: Model, options: Options, body: Body) -> str:
    return vertex_path(model, options) if _dialect(model).surface == "vertex" else "/v1/messages"


def _headers(model: Model, options: Options) -> dict[str, str]:
    dialect = _dialect(model)
    version = {} if dialect.surface == "vertex" else {"anthropic-version": dialect.api_version}
    return version | ({HEADER: BETA} if dialect.prefix_bound else {})


def _dialect(model: Model) -> AnthropicMessages:
    assert isinstance(model.dialect, AnthropicMessages)
    return model.dialect


def _sdk_kwargs(body: Body, model: Model, options: Options) -> dict[str, Any]:
    """For ``messages.create(**kwargs)`` of ``anthropic.Anthropic`` or ``anthropic.AnthropicVertex``, which moves the
    model to the path; what it has no argument for goes into ``extra_body``."""
    vertex = _dialect(model).surface == "vertex"
    named = {"model": model.id} | {name: value for name, value in body.items() if not (vertex and name == VERSION)}
    kwargs: dict[str, Any] = {name: value for name, value in named.items() if name in SDK_FIELDS}
    others = {name: value for name, value in named.items() if name not in SDK_FIELDS}
    headers = {HEADER: BETA} if "block_binding" in body.get("thinking", {}) else {}
    return kwargs | ({"extra_body": others} if others else {}) | ({"extra_headers": headers} if headers else {})


PROTOCOL = Protocol(
    name="anthropic-messages",
    dialect=AnthropicMessages,
    history="messages",
    turns=AnthropicTurns,
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
)
