"""From conversation and model to a request, and from an answer back to a message."""

from .answer import Decoder, decode
from .bodies import ingest, lint
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
