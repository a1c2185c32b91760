"""Render a stored conversation for a target model. The stored conversation is never changed."""

from .attachments import (
    accepts_file as accepts_file,
    accepts_place as accepts_place,
    accepts_provider_content as accepts_provider_content,
    file_as_text as file_as_text,
    image_as_text as image_as_text,
    matches as matches,
    provider_content_as_text as provider_content_as_text,
)
from .frame import STUB_TOOL as STUB_TOOL, Frame as Frame, adapted_tool as adapted_tool, grammar_of as grammar_of
from .origin import (
    same_origin as same_origin,
    signature_digests as signature_digests,
    upstream_of as upstream_of,
    with_upstream as with_upstream,
)
from .pairing import Pairing as Pairing
from .pipeline import Mark as Mark, Rendering as Rendering
from .policy import (
    CHOICES as CHOICES,
    PRESETS as PRESETS,
    ContextTranslationStrategy,
    Policy,
    PolicyLike,
    resolve_policy as resolve_policy,
)
from .prefix import Prefix as Prefix
from .project import (
    DefaultContextTranslation,
    ProjectedContext,
    Projection,
    project as project,
    rendered as rendered,
    require_messages as require_messages,
)
from .step import NameMap as NameMap, PendingChange as PendingChange, Report as Report, spelled_out as spelled_out
from .summary import phrase as phrase, summarize as summarize

__all__ = [
    "ContextTranslationStrategy",
    "DefaultContextTranslation",
    "Policy",
    "PolicyLike",
    "ProjectedContext",
    "Projection",
]
