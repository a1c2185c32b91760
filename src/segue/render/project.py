"""``project`` for any form of a conversation, and for models by name."""

from ..catalog import as_model
from ..projection import PolicyLike, Projection, project as project_context
from ..types import Model
from .conversation import ConversationLike, as_context


def project(context: ConversationLike, model: Model | str, policy: PolicyLike = None) -> Projection:
    """Render ``context`` for ``model``. The stored messages are never changed; the rendered ones are always valid.

    ``policy`` is a ``Policy``, the name of a preset, a strategy, or ``None`` for the default.
    """
    return project_context(as_context(context), as_model(model), policy)
