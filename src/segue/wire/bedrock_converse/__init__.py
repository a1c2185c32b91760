"""Amazon Bedrock Converse: ``POST /model/{id}/converse`` and ``/converse-stream``."""

from functools import lru_cache
from urllib.parse import quote

from ...dialects import BedrockConverse
from ...types import Model, Options
from ..protocol import Body, Protocol
from .decode import Reader
from .encode import BedrockTurns, body
from .export import EXPORT_FORM
from .frames import EventStream
from .ingest import ingest, recognise
from .options import streams
from .read import REQUEST_FORM
from .rules import RULES
from .sdk import sdk_kwargs

__all__ = ["PROTOCOL"]


@lru_cache(maxsize=1024)
def _quoted(name: str) -> str:
    """A part of a path. Cached, because quoting takes longer than encoding a message."""
    return quote(name, safe="")


def _path(model: Model, options: Options, body: Body) -> str:
    whole = f"/model/{_quoted(model.id)}/converse"
    return f"{whole}-stream" if streams(model, options, "toolConfig" in body) else whole


def _headers(model: Model, options: Options) -> dict[str, str]:
    return {}


PROTOCOL = Protocol(
    name="bedrock-converse",
    dialect=BedrockConverse,
    history="messages",
    turns=BedrockTurns,
    body=body,
    export=EXPORT_FORM,
    path=_path,
    headers=_headers,
    sdk_kwargs=sdk_kwargs,
    ingest=ingest,
    recognise=recognise,
    rules=RULES,
    framing=EventStream,
    request=REQUEST_FORM,
    reader=Reader,
)
