"""``project``: any stored conversation, made safe for any target model, with a report."""

from collections.abc import Sequence

from msgspec import Struct

from ..errors import ProjectionError
from ..types import Change, Context, Message, Model
from .passes.names import valid_name
from .pipeline import STUB_TOOL, Rendering
from .policy import ContextTranslationStrategy, Policy, PolicyLike, resolve
from .prefix import Prefix
from .summary import summarize


class ProjectedContext(Context, frozen=True, kw_only=True):
    """A conversation as one target takes it. Encoders accept nothing else, so that no one can forget to project.

    It reads, writes and projects like any conversation; projecting it for the same target again changes nothing.
    """


class Projection(Struct, frozen=True, kw_only=True):
    """What ``project`` gives: the rendered conversation, and every change that was made."""

    context: ProjectedContext
    changes: list[Change]
    model: Model
    # For each rendered message, the index of the stored one that it was made from.
    sources: list[int]
    # The stored name behind each rendered tool name that differs: for the way back.
    names: dict[str, str]

    def summary(self) -> str:
        """The changes in a few lines, for a person."""
        return summarize(self.changes, self.model.ref, len(self.context.messages))

    @property
    def stubbed(self) -> bool:
        """Whether the one tool is the stand-in for tools that the history calls and the request does not define."""
        return self.context.tools == [STUB_TOOL]

    def rendered_name(self, name: str) -> str:
        """The name under which the target knows a tool."""
        return valid_name(name, self.model.dialect.name_form)

    def prefix_digest(self) -> str:
        """The digest of everything that this rendering sends, which an answer to it is bound to."""
        prefix = Prefix(self.context.system_prompt, self.context.tools)
        for message in self.context.messages:
            prefix.add(message)
        return prefix.digest()


def project(context: Context, model: Model, policy: PolicyLike = None) -> Projection:
    """Render ``context`` for ``model``. What is stored is never changed; what is rendered is always valid.

    ``policy`` is a ``Policy``, the name of a preset, a strategy, or ``None`` for the default.
    """
    choices, strategy = resolve(policy)
    messages: Sequence[Message] = context.messages
    if strategy is not None:
        messages = Context(messages=list(strategy.translate_for_provider(list(messages), model))).messages
    if not choices.passes:
        return _as_it_is(context, model)
    rendering = Rendering(context.system_prompt, messages, context.tools, model, choices)
    if not rendering.messages:
        alone = " (a system prompt alone is no request)" if rendering.system_prompt else ""
        raise ProjectionError(f"there is nothing to send: the conversation has no message with content{alone}")
    rendered = ProjectedContext(
        system_prompt=rendering.system_prompt, messages=rendering.messages, tools=rendering.tools
    )
    return Projection(
        context=rendered,
        changes=rendering.report.changes,
        model=model,
        sources=rendering.sources,
        names=rendering.names,
    )


def _as_it_is(context: Context, model: Model) -> Projection:
    same = ProjectedContext(system_prompt=context.system_prompt, messages=list(context.messages), tools=context.tools)
    return Projection(context=same, changes=[], model=model, sources=list(range(len(same.messages))), names={})


class DefaultContextTranslation:
    """The built-in strategy, for custom ones to fall back on: the messages that ``project`` would render.

    Whether thinking is still bound to its prefix is left to the projection that follows, which knows the system prompt
    and the tools.
    """

    def __init__(self, policy: Policy | str | None = None) -> None:
        self.policy = policy

    def translate_for_provider(self, messages: list[Message], target: Model) -> list[Message]:
        """The messages as ``target`` takes them."""
        choices, _ = resolve(self.policy)
        if not choices.passes:
            return list(messages)
        return Rendering(None, messages, [], target, choices, checks_prefix=False).messages


_: type[ContextTranslationStrategy] = DefaultContextTranslation
