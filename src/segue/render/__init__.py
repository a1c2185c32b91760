"""From conversation and model to a request, and from an answer back to a message."""

from ..tokens import Estimate
from .answer import Decoder, decode
from .bodies import ingest, lint
from .export import Export, export
from .preview import Preview, preview
from .renderer import Renderer, Renderers as Renderers, encode
from .request import Request

__all__ = [
    "Decoder",
    "Estimate",
    "Export",
    "Preview",
    "Renderer",
    "Request",
    "decode",
    "encode",
    "export",
    "ingest",
    "lint",
    "preview",
]
