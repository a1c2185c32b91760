"""Conversation and model to request: what a target would get, and what it would cost."""

from .preview import Preview, preview
from .tokens import Estimate

__all__ = ["Estimate", "Preview", "preview"]
