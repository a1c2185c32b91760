"""Amazon Bedrock Converse: ``POST /model/{id}/converse`` and ``/converse-stream``."""

from urllib.parse import quote

from ...types import Model, Options
from ..protocol import Protocol
from .decode import Reader
from .encode import encode
from .frames import EventStream
from .ingest import ingest, recognise
from .options import streams
from .rules import RULES
from .sdk import sdk_kwargs

__all__ = ["PROTOCOL"]


def _path(model: Model, options: Options) -> str:
    return f"/model/{quote(model.id, safe='')}/converse" + ("-stream" if streams(model, options) else "")


def _headers(model: Model, options: Options) -> dict[str, str]:
    return {}


PROTOCOL = Protocol(
    name="bedrock-converse",
    encode=encode,
    path=_path,
    headers=_headers,
    sdk_kwargs=sdk_kwargs,
    ingest=ingest,
    recognise=recognise,
    rules=RULES,
    framing=EventStream,
    reader=Reader,
)
