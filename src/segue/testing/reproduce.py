"""A small reproduction of a refused request, without anything of the user's, to be pasted into an issue."""

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

from msgspec import Struct

from .. import wire
from ..catalog import as_model
from ..errors import FormatError
from ..render import encode, lint, recognise_body
from ..rules import shape
from ..types import Context, Model
from ..types.codec import json_text
from .disguise import Vocabulary, disguise
from .shrink import shrink
from .standin import StandIn

_CHANGING = re.compile(r"'[^']*'|\"[^\"]*\"|`[^`]*`|\b\w*\d\w*\b|\b\w+[.[]\S*\d\S*|\S+_\S+|\S+\.\.\.\S+")
"""What differs between two refusals for the same reason: what is quoted, ids, names and numbers."""


class Refused(Struct, frozen=True, order=True):
    """Why a body is refused."""

    # The number of the rule; "" if a stand-in refuses it although no rule does.
    rule: str
    # The provider's error text.
    words: str
    # What is wrong in this body, where a rule says it.
    fault: str = ""

    @property
    def reason(self) -> tuple[str, str, str]:
        """The same for all refusals that differ only in ids, names and numbers."""
        return self.rule, _CHANGING.sub("…", self.words), _CHANGING.sub("…", self.fault)


class Reproduction(Struct, frozen=True):
    """A request that is refused for one reason, and contains nothing else."""

    protocol: str
    model: str | None
    refused: Refused
    body: dict[str, Any]

    def json(self) -> str:
        """The body as JSON, with one message a line."""
        lines = []
        for name, value in self.body.items():
            if isinstance(value, list) and value and all(isinstance(item, dict) for item in value):
                items = ",\n".join(f"  {_line(item)}" for item in value)
                lines.append(f"{_line(name)}: [\n{items}]")
            else:
                lines.append(f"{_line(name)}: {_line(value)}")
        return "{" + ",\n".join(lines) + "}"

    def text(self) -> str:
        """The reproduction as Markdown, to be pasted."""
        about = f"`{self.protocol}`" + (f", `{self.model}`" if self.model else "")
        rule = f"Rule {self.refused.rule}" if self.refused.rule else "A stand-in"
        return f"{about}. {rule}: {self.refused.words}\n\n```json\n{self.json()}\n```\n"


def reproduce(
    request: Any, protocol: str | None = None, model: Model | str | None = None, rule: str | None = None
) -> Reproduction:
    """Make a small reproduction of a refused request: a body or a conversation, which is checked as it would be sent.

    It is refused for the same reason, the first one or that of ``rule``. Texts, names, values and ids are replaced by
    others with the same kinds of characters. A ``FormatError`` if the request is not refused.
    """
    target = as_model(model) if model is not None else None
    body, protocol = _body(request, protocol, target)
    refusals, vocabulary = _judge(protocol, target), Vocabulary(_table(protocol))
    reasons = [each.reason for each in refusals(body)]
    reason = next((each for each in reasons if rule in (None, each[0])), None)
    if reason is None:
        by = f"rule {rule}" if rule else "any rule that segue knows"
        raise FormatError(f"this request is not refused by {by}; pass the model that refused it")

    public = vocabulary.has_value("model", body.get("model", ""))

    def holds(candidate: Any) -> bool:
        if public and candidate.get("model") != body["model"]:
            return False
        try:
            found = {each.reason for each in refusals(candidate)}
        except FormatError:
            return False
        return reason in found and found.issubset(reasons)

    small = disguise(shrink(body, holds), vocabulary, holds)
    found = next(each for each in refusals(small) if each.reason == reason)
    return Reproduction(protocol, f"{target.provider}/{target.id}" if target else None, found, small)


def _body(request: Any, protocol: str | None, model: Model | None) -> tuple[dict[str, Any], str]:
    """The request as a body, with its protocol."""
    if isinstance(request, Context):
        return _as_stored(request, model), model.protocol if model else ""
    text = request if isinstance(request, bytes | str) else json_text(request)
    recognised = recognise_body(text, protocol)
    if recognised.form.protocol is None:
        return _as_stored(recognised.conversation(), model), model.protocol if model else ""
    return json.loads(json_text(recognised.form.body)), recognised.form.protocol


def _as_stored(context: Context, model: Model | None) -> dict[str, Any]:
    if model is None:
        raise FormatError("name the model that refused this conversation")
    body: dict[str, Any] = json.loads(json.dumps(encode(context, model, policy="off").body))
    return body


def _judge(protocol: str, model: Model | None) -> Callable[[Any], list[Refused]]:
    """A function that returns every refusal of a body."""
    standin = StandIn(model.provider) if model is not None else None

    def refusals(body: Any) -> list[Refused]:
        findings = [each for each in lint(body, protocol, model) if each.severity == "error"]
        if findings or standin is None or model is None:
            return [Refused(each.rule, each.answers or each.message, each.message) for each in findings]
        refusal = standin.refusal_for(body, model)
        return [Refused("", refusal.text)] if refusal else []

    return refusals


def _table(protocol: str) -> shape.Table:
    return shape.load(Path(wire.__file__).with_name(protocol.replace("-", "_")) / "shape.json")


def _line(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)
