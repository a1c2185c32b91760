"""What a page shows, as its URL says it: the models with their policies, the difference, the raw body, the search.

``/c/3f2a?to=openai/gpt-5.4,mistral/mistral-large-latest&1.reasoning=drop&diff=1#m115``: the policy of the first model
is in the fields that begin with ``1.``.
"""

from collections.abc import Mapping
from typing import Any
from urllib.parse import quote, urlencode

from msgspec import Struct
from msgspec.structs import asdict, replace

from ..projection import CHOICES, PRESETS, Policy
from ..types.text import whole_number

MOST_COLUMNS = 6
DEFAULT = "default"
FREE = ("missing_result", "reasoning_limit")
"""The fields of a policy with any text or number."""


class Target(Struct, frozen=True):
    """One column: a model, a preset, and the choices that differ from it."""

    model: str
    preset: str = DEFAULT
    choices: tuple[tuple[str, str], ...] = ()

    def policy(self) -> Policy:
        """The policy. A ``ProjectionError`` if a value is not one of its choices."""
        chosen: dict[str, Any] = dict(self.choices)
        if limit := chosen.get("reasoning_limit"):
            chosen["reasoning_limit"] = whole_number(limit) or 0
        return Policy(**(asdict(Policy.preset(self.preset)) | chosen))

    def python(self) -> str:
        """The policy as an argument of ``encode``; empty for the default."""
        if not self.choices:
            return "" if self.preset == DEFAULT else f", policy={self.preset!r}"
        policy, plain = self.policy(), Policy()
        fields = [name for name in (*CHOICES, *FREE, "passes") if getattr(policy, name) != getattr(plain, name)]
        written = ", ".join(f"{name}={getattr(policy, name)!r}" for name in fields)
        return f", policy=segue.Policy({written})"

    @property
    def name(self) -> str:
        """The model, and the policy if it is not the default, in a few words."""
        changed = [f"{name} {value}" for name, value in self.choices]
        policy = [] if self.preset == DEFAULT else [f"preset {self.preset}"]
        return " · ".join([self.model, *policy, *changed])


class View(Struct, frozen=True):
    """What a page of a conversation shows."""

    to: tuple[Target, ...] = ()
    # The two columns to compare; 0 is the stored conversation.
    diff: tuple[int, int] | None = None
    # The column whose body is shown.
    raw: int = 0
    # The text to find, and which of the places with it, from 1.
    find: str = ""
    hit: int = 1
    # The message whose surroundings are part of the page.
    at: int = 0

    def query(self) -> str:
        """The view as the query of a URL; empty for one that shows nothing but the conversation."""
        fields: list[tuple[str, str]] = []
        if self.to:
            fields.append(("to", ",".join(target.model for target in self.to)))
        for number, target in enumerate(self.to, 1):
            if target.preset != DEFAULT:
                fields.append((f"{number}.preset", target.preset))
            fields += [(f"{number}.{name}", value) for name, value in target.choices]
        if self.diff is not None:
            fields.append(("diff", "1" if self.diff == self._first_two() else f"{self.diff[0]},{self.diff[1]}"))
        if self.raw:
            fields.append(("raw", str(self.raw)))
        if self.find:
            fields += [("find", self.find), ("hit", str(self.hit))]
        if self.at:
            fields.append(("at", str(self.at)))
        return urlencode(fields, safe="/,:", quote_via=quote)

    def change(self, **changes: Any) -> "View":
        """A copy with these fields changed."""
        return replace(self, **changes)

    def with_target(self, number: int, target: Target | None) -> "View":
        """A copy with another target in column ``number``, or without that column."""
        kept = [each for at, each in enumerate(self.to, 1) if at != number or target is not None]
        changed = [target if target is not None and at == number else each for at, each in enumerate(kept, 1)]
        return replace(self, to=tuple(changed), diff=None if target is None else self.diff, raw=0)

    def compared(self) -> "View":
        """A copy that shows the difference of the first two models, or of the conversation and the only model."""
        return replace(self, diff=self._first_two(), raw=0)

    def _first_two(self) -> tuple[int, int]:
        return (1, 2) if len(self.to) > 1 else (0, 1)


def view_of(query: Mapping[str, str]) -> View:
    """Read a view from the fields of a URL. What cannot be read is ignored."""
    names = [name.strip() for name in query.get("to", "").split(",") if name.strip()]
    if added := query.get("add", "").strip():
        names.append(added)
    to = tuple(_target(query, number, name) for number, name in enumerate(names[:MOST_COLUMNS], 1))
    view = View(
        to=to,
        raw=_number(query.get("raw"), 0, len(to)),
        find=query.get("find", "")[:500],
        hit=_number(query.get("hit"), 1, 1_000_000_000),
        at=_number(query.get("at"), 0, 1_000_000_000),
    )
    return view.change(diff=_diff(query.get("diff", ""), view)) if to else view


def _target(query: Mapping[str, str], number: int, name: str) -> Target:
    preset = query.get(f"{number}.preset", DEFAULT)
    base = PRESETS.get(preset, PRESETS[DEFAULT])
    choices = []
    for field in (*CHOICES, *FREE):
        value = query.get(f"{number}.{field}", "").strip()
        if value and value != str(getattr(base, field)):
            choices.append((field, value))
    return Target(name, preset, tuple(choices))


def _diff(text: str, view: View) -> tuple[int, int] | None:
    if not text:
        return None
    first, _, second = text.partition(",")
    if not second:
        return view.compared().diff
    one, other = _number(first, 0, len(view.to)), _number(second, 0, len(view.to))
    return (one, other) if one != other else None


def _number(text: str | None, default: int, most: int) -> int:
    number = None if text is None else whole_number(text)
    return default if number is None else min(number, most)
