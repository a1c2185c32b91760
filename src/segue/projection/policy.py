"""The choices that projection leaves to its user. Presets change the choices, never the validity."""

from collections.abc import Callable, Sequence
from typing import Literal, Protocol, get_args, runtime_checkable

from msgspec import Struct

from ..errors import ProjectionError
from ..types import AssistantMessage, Message, Model

FailedTurns = Literal["drop", "keep-text", "drop-all"]
OrphanResults = Literal["text", "pair", "drop"]
Reasoning = Literal["labelled", "text", "drop", "auto"]
IdFunction = Callable[[str, Model, AssistantMessage], str]

_CHOICES: dict[str, tuple[str, ...]] = {
    "failed_turns": get_args(FailedTurns),
    "orphan_results": get_args(OrphanResults),
    "reasoning": get_args(Reasoning),
}
KEEPS: dict[FailedTurns, tuple[bool, bool]] = {
    "drop": (True, False),
    "keep-text": (True, True),
    "drop-all": (False, False),
}
"""Whether calls with a real result are kept of a failed turn, and whether text is kept without any."""


class Policy(Struct, frozen=True, kw_only=True):
    """How a conversation is rendered. ``Policy()`` is the default; ``Policy.preset(name)`` gives the named ones."""

    # Answers that ended in `error` or `aborted`: `drop` keeps only calls with a real result and the text around them,
    # `keep-text` keeps the readable text of every failed turn, `drop-all` keeps nothing of it, results included.
    failed_turns: FailedTurns = "drop"
    # Results that answer no call: as marked user text, with a call made up for them, or not at all.
    orphan_results: OrphanResults = "text"
    # What the model is told of a call that has no result.
    missing_result: str = "No result provided"
    # Readable thinking of another model: as text after "[Reasoning] ", as plain text, not at all, or as suits the
    # target's protocol best.
    reasoning: Reasoning = "labelled"
    # How many characters of such thinking are kept (all, if not given).
    reasoning_limit: int | None = None
    # Asked for ids that would otherwise be changed: (id, target, message) -> id. It must be valid and unique.
    tool_call_id: IdFunction | None = None
    # False: no pass at all. Messages go out as they are, and validity is the caller's affair.
    passes: bool = True

    def __post_init__(self) -> None:
        for name, choices in _CHOICES.items():
            if getattr(self, name) not in choices:
                raise ProjectionError(f"policy {name} {getattr(self, name)!r} is none of {', '.join(choices)}")
        if not self.missing_result.strip():
            raise ProjectionError("policy missing_result must say something: providers refuse an empty result")
        if self.reasoning_limit is not None and self.reasoning_limit < 1:
            raise ProjectionError("policy reasoning_limit must be at least 1; reasoning='drop' keeps no thinking")

    @classmethod
    def preset(cls, name: str) -> "Policy":
        """A policy by its name."""
        try:
            return PRESETS[name]
        except KeyError:
            raise ProjectionError(f"no policy is called {name!r}; there are {', '.join(PRESETS)}") from None


PRESETS: dict[str, Policy] = {
    "default": Policy(),
    "or": Policy(failed_turns="drop-all", orphan_results="drop", reasoning="text"),
    "alchemy": Policy(failed_turns="drop-all", orphan_results="drop", reasoning="text"),
    "phi-core": Policy(failed_turns="keep-text", reasoning="auto"),
    "llxprt": Policy(orphan_results="pair", missing_result="Tool call interrupted or cancelled"),
    "off": Policy(passes=False),
}
"""Named after the projects whose choices they are; ``off`` renders nothing."""


@runtime_checkable
class ContextTranslationStrategy(Protocol):
    """A strategy of the caller's own, passed where a policy is.

    What it returns goes through all passes under the default policy, so it cannot break the protocol.
    """

    def translate_for_provider(self, messages: list[Message], target: Model) -> Sequence[Message]:
        """The messages to render for ``target``. The given ones must not be changed."""
        ...


PolicyLike = Policy | str | ContextTranslationStrategy | None
"""What may be passed as a policy: one, the name of a preset, a strategy, or ``None`` for the default."""


def resolve(policy: PolicyLike) -> tuple[Policy, ContextTranslationStrategy | None]:
    """The policy to render under, and the strategy to ask first."""
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
