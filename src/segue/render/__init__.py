"""Conversation and model to request, and back from the answer: encode, preview, lint, ingest, decode."""

from .answer import Decoder, decode
from .foreign import ingest, lint
from .preview import Preview, preview
from .renderer import Renderer, encode
from .renderer import Renderers as Renderers
from .request import Request
from .tokens import Estimate

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
