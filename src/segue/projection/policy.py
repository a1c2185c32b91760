"""The choices that projection leaves to its user. Presets change the choices, never the validity."""

from collections.abc import Callable, Sequence
from typing import Literal, Protocol, get_args, runtime_checkable

from msgspec import Struct

from ..errors import ProjectionError
from ..types import AssistantMessage, Message, Model

FailedTurns = Literal["drop", "keep-text", "drop-all"]
OrphanResults = Literal["text", "pair", "drop"]
Reasoning = Literal["labelled", "text", "drop", "auto"]
ProviderBlocks = Literal["text", "drop"]
DeclaredNames = Literal["rendered", "kept"]
IdFunction = Callable[[str, Model, AssistantMessage], str]

CHOICES: dict[str, tuple[str, ...]] = {
    "failed_turns": get_args(FailedTurns),
    "orphan_results": get_args(OrphanResults),
    "reasoning": get_args(Reasoning),
    "provider_content": get_args(ProviderBlocks),
    "declared_names": get_args(DeclaredNames),
}
"""The fields of a policy that have a few values, and these values."""
KEEPS: dict[FailedTurns, tuple[bool, bool]] = {
    "drop": (True, False),
    "keep-text": (True, True),
    "drop-all": (False, False),
}
"""Whether calls with a real result are kept of a failed turn, and whether text is kept without any."""


class Policy(Struct, frozen=True, kw_only=True):
    """How a conversation is rendered. ``Policy()`` is the default; ``Policy.preset(name)`` returns a named one."""

    # Answers that ended in `error` or `aborted`: `drop` keeps only calls with a real result and the text around them,
    # `keep-text` keeps the readable text of every failed turn, `drop-all` keeps nothing of it, results included.
    failed_turns: FailedTurns = "drop"
    # Results that answer no call: shown as marked user text, paired with a call made up for them, or left out.
    orphan_results: OrphanResults = "text"
    # The text of the placeholder for a missing result.
    missing_result: str = "No result provided"
    # Readable thinking of another model: shown as text after "[Reasoning] ", as plain text, left out, or whatever
    # suits the target's protocol best.
    reasoning: Reasoning = "labelled"
    # How many characters of such thinking are kept; `None` keeps all.
    reasoning_limit: int | None = None
    # Content that only its provider can read back, for another model: shown as text after "[kind] ", or left out.
    provider_content: ProviderBlocks = "text"
    # Returns the id to send for an id that would otherwise be changed: (id, target, message) -> id. The returned id
    # must be valid and unique.
    tool_call_id: IdFunction | None = None
    # Names of tools that the request declares: in the form that the target accepts, or as they are, because the caller
    # reads the answers without segue; then a name that the target refuses is only reported.
    declared_names: DeclaredNames = "rendered"
    # False: no pass runs. Messages are sent unchanged, and the caller is responsible for their validity.
    passes: bool = True

    def __post_init__(self) -> None:
        for name, choices in CHOICES.items():
            if getattr(self, name) not in choices:
                raise ProjectionError(f"policy {name} {getattr(self, name)!r} is not one of {', '.join(choices)}")
        if not self.missing_result.strip():
            raise ProjectionError("policy missing_result must not be blank: providers refuse an empty result")
        if self.reasoning_limit is not None and self.reasoning_limit < 1:
            raise ProjectionError("policy reasoning_limit must be at least 1; reasoning='drop' keeps no thinking")

    @classmethod
    def preset(cls, name: str) -> "Policy":
        """The preset of this name."""
        try:
            return PRESETS[name]
        except KeyError:
            raise ProjectionError(f"there is no policy {name!r}; choose one of {', '.join(PRESETS)}") from None


PRESETS: dict[str, Policy] = {
    "default": Policy(),
    "or": Policy(failed_turns="drop-all", orphan_results="drop", reasoning="text", provider_content="drop"),
    "alchemy": Policy(failed_turns="drop-all", orphan_results="drop", reasoning="text", provider_content="drop"),
    "phi-core": Policy(failed_turns="keep-text", reasoning="auto", provider_content="drop"),
    "llxprt": Policy(
        orphan_results="pair", missing_result="Tool call interrupted or cancelled", provider_content="drop"
    ),
    "off": Policy(passes=False),
}
"""Named after the projects that make these choices; ``off`` sends messages unchanged."""


@runtime_checkable
class ContextTranslationStrategy(Protocol):
    """A custom strategy, passed in place of a policy.

    The messages that it returns go through all passes under the default policy, so it cannot break the protocol.
    """

    def translate_for_provider(self, messages: list[Message], target: Model) -> Sequence[Message]:
        """The messages to render for ``target``. The ``messages`` argument must not be changed."""
        ...


PolicyLike = Policy | str | ContextTranslationStrategy | None
"""A policy, the name of a preset, a strategy, or ``None`` for the default."""


def resolve_policy(policy: PolicyLike) -> tuple[Policy, ContextTranslationStrategy | None]:
    """The policy to render with, and the strategy to apply first, if there is one."""
    match policy:
        case None:
            return PRESETS["default"], None
        case Policy():
            return policy, None
        case str():
            return Policy.preset(policy), None
        case ContextTranslationStrategy():
            return PRESETS["default"], policy
    raise TypeError(
        "a policy is a segue.Policy, the name of a preset, or an object with translate_for_provider(messages, target), "
        f"not {type(policy).__name__}"
    )
