"""``project``: render any stored conversation for any target model, with a report of the changes."""

from collections.abc import Sequence

from msgspec import Struct

from ..errors import ProjectionError
from ..types import Change, Context, Message, Model, ToolKey
from .pipeline import Rendering
from .policy import ContextTranslationStrategy, Policy, PolicyLike, resolve_policy
from .prefix import Prefix
from .summary import summarize


class ProjectedContext(Context, frozen=True, kw_only=True):
    """A conversation as one target accepts it.

    It can be read, written and projected like any conversation. Projecting it again for the same target changes
    nothing.
    """


class Projection(Struct, frozen=True, kw_only=True):
    """The result of ``project``: the rendered conversation, and every change that was made."""

    context: ProjectedContext
    changes: list[Change]
    model: Model
    # For each rendered message, the index of the stored one that it was made from.
    sources: list[int]
    # The stored tool behind each rendered name, where they differ, to translate calls back.
    names: dict[str, ToolKey]

    def summary(self) -> str:
        """The changes in a few lines, for a person."""
        return summarize(self.changes, self.model.ref, len(self.context.messages))

    def prefix_digest(self) -> str:
        """The digest of everything that this rendering sends. Some models bind their answer to it."""
        prefix = Prefix(self.context.system_prompt, self.context.tools)
        for message in self.context.messages:
            prefix.add(message)
        return prefix.digest()


def project(context: Context, model: Model, policy: PolicyLike = None) -> Projection:
    """Render ``context`` for ``model``. The stored messages are never changed; the rendered ones are always valid.

    ``policy`` is a ``Policy``, the name of a preset, a strategy, or ``None`` for the default.
    """
    rendering = rendered(context, model, policy)
    return Projection(
        context=ProjectedContext(
            system_prompt=rendering.frame.system_prompt, messages=rendering.messages, tools=rendering.frame.tools
        ),
        changes=rendering.changes,
        model=model,
        sources=rendering.sources,
        names=rendering.names,
    )


def rendered(context: Context, model: Model, policy: PolicyLike = None) -> Rendering:
    """The rendering behind ``project``."""
    choices, strategy = resolve_policy(policy)
    messages: Sequence[Message] = context.messages
    if strategy is not None:
        messages = Context(messages=list(strategy.translate_for_provider(list(messages), model))).messages
    rendering = Rendering(context.system_prompt, messages, context.tools, model, choices)
    rendering.extend(0, len(messages))
    if choices.passes:
        require_messages(rendering)
    return rendering


def require_messages(rendering: Rendering) -> None:
    """Raise an error where there is nothing to send."""
    if not rendering.messages:
        alone = " (a system prompt alone is not enough)" if rendering.frame.system_prompt else ""
        raise ProjectionError(f"there is nothing to send: the conversation has no message with content{alone}")


class DefaultContextTranslation:
    """The built-in strategy, for custom strategies to fall back on: the messages that ``project`` would render.

    It does not check whether thinking is still bound to its prefix. The projection that follows does: it knows the
    system prompt and the tools.
    """

    def __init__(self, policy: Policy | str | None = None) -> None:
        self.policy = policy

    def translate_for_provider(self, messages: list[Message], target: Model) -> list[Message]:
        """The messages as ``target`` accepts them."""
        choices, _ = resolve_policy(self.policy)
        rendering = Rendering(None, messages, [], target, choices, checks_prefix=False)
        rendering.extend(0, len(messages))
        return rendering.messages


_: type[ContextTranslationStrategy] = DefaultContextTranslation
