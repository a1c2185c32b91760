"""Conversation and model to request, and back from the answer: encode, preview, lint, ingest, decode."""

from ..tokens import Estimate
from .answer import Decoder, decode
from .foreign import ingest, lint
from .preview import Preview, preview
from .renderer import Renderer, Renderers as Renderers, encode
from .request import Request

__all__ = [
    "Decoder",
    "Estimate",
    "Preview",
    "Renderer",
    "Request",
    "decode",
    "encode",
    "ingest",
    "lint",
    "preview",
]
