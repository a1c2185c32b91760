"""Conversation and model to request, and back from the answer: encode, preview, lint, ingest, decode."""

from .answer import Decoder, decode
from .foreign import ingest, lint
from .preview import Preview, preview
from .request import Request, encode
from .tokens import Estimate

__all__ = ["Decoder", "Estimate", "Preview", "Request", "decode", "encode", "ingest", "lint", "preview"]
