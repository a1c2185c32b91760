"""Rendering a stored conversation for a target model, without touching what is stored."""

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
