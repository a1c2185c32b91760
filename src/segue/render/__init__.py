"""Conversation and model together: what a request would be."""

from .preview import Preview, preview
from .tokens import Estimate

__all__ = ["Estimate", "Preview", "preview"]
