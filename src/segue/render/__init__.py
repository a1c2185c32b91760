"""Conversation and model to request: encode, preview, lint, ingest."""

from .foreign import ingest, lint
from .preview import Preview, preview
from .request import Request, encode
from .tokens import Estimate

__all__ = ["Estimate", "Preview", "Request", "encode", "ingest", "lint", "preview"]
