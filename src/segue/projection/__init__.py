"""Render a stored conversation for a target model. The stored conversation is never changed."""

from .frame import STUB_TOOL as STUB_TOOL, Frame as Frame
from .origin import same_origin as same_origin, upstream_of as upstream_of, with_upstream as with_upstream
from .pairing import Pairing as Pairing
from .pipeline import Mark as Mark, Rendering as Rendering
from .policy import PRESETS as PRESETS, ContextTranslationStrategy, Policy, PolicyLike, resolve_policy as resolve_policy
from .prefix import Prefix as Prefix
from .project import (
    DefaultContextTranslation,
    ProjectedContext,
    Projection,
    project,
    require_messages as require_messages,
)
from .step import PendingChange as PendingChange, Report as Report, spelled_out as spelled_out
from .summary import summarize as summarize

__all__ = [
    "ContextTranslationStrategy",
    "DefaultContextTranslation",
    "Policy",
    "PolicyLike",
    "ProjectedContext",
    "Projection",
    "project",
]
