"""Render a stored conversation for a target model. The stored conversation is never changed."""

from .policy import PRESETS as PRESETS, ContextTranslationStrategy, Policy, PolicyLike
from .project import DefaultContextTranslation, ProjectedContext, Projection, project

__all__ = [
    "ContextTranslationStrategy",
    "DefaultContextTranslation",
    "Policy",
    "PolicyLike",
    "ProjectedContext",
    "Projection",
    "project",
]
