"""What one model gets of a conversation: everything on a page that concerns a model, by the index of the message."""

import warnings
from collections import Counter, defaultdict
from typing import Any, Literal

from msgspec import Struct

from ..catalog import get_model
from ..errors import SegueError
from ..render import Preview, Sources, body_sources, encode, lint, preview
from ..rules import Finding
from ..types import Change, Context, Message, Model
from .view import Target

State = Literal["same", "changed", "absent"]


class Column(Struct, frozen=True, kw_only=True):
    """One model's column."""

    target: Target
    # Why there is nothing to show: an unknown model, a policy that does not exist, nothing to send.
    error: str = ""
    preview: Preview | None = None
    # The rendered messages, and the changes, by the index of the stored message; None: the whole request.
    messages: dict[int, list[Message]] = {}
    changes: dict[int | None, list[Change]] = {}
    # What the provider would refuse if the conversation were sent as it is stored.
    findings: dict[int | None, list[Finding]] = {}
    # Why this was not checked.
    unchecked: str = ""

    def cell(self, index: int, stored: Message) -> "Cell":
        """What the model gets of the message at ``index``."""
        messages, changes = self.messages.get(index, []), self.changes.get(index, [])
        if not messages:
            state: State = "absent"
        else:
            state = "changed" if changes or messages != [stored] else "same"
        return Cell(state, messages, changes, self.findings.get(index, []))

    def counts(self) -> Counter[str]:
        """How many changes lose something (``lost``) and do not (``adapted``), and how many places would be refused."""
        found = Counter("lost" if change.lossy else "adapted" for each in self.changes.values() for change in each)
        found["refused"] = sum(each.severity == "error" for found in self.findings.values() for each in found)
        return found


class Cell(Struct, frozen=True):
    """What a model gets of one stored message."""

    state: State
    messages: list[Message]
    changes: list[Change]
    findings: list[Finding]


def column_of(context: Context, target: Target) -> Column:
    """Render ``context`` for a target."""
    try:
        model, policy = _model(target.model), target.policy()
        previewed = preview(context, model, policy)
    except SegueError as error:
        return Column(target=target, error=error.for_shell())
    sources = previewed.request.projection.sources
    messages: dict[int, list[Message]] = defaultdict(list)
    for source, message in zip(sources, previewed.request.messages, strict=True):
        messages[source].append(message)
    changes: dict[int | None, list[Change]] = defaultdict(list)
    for change in previewed.changes:
        changes[change.message].append(change)
    findings, unchecked = _refused(context, model)
    return Column(
        target=target,
        preview=previewed,
        messages=dict(messages),
        changes=dict(changes),
        findings=findings,
        unchecked=unchecked,
    )


def _model(name: str) -> Model:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the column says that the model is not in the catalog
        return get_model(name)


def _refused(context: Context, model: Model) -> tuple[dict[int | None, list[Finding]], str]:
    """What a provider refuses in the conversation as it is stored, and why that could not be checked."""
    try:
        request = encode(context, model, None, "off")
        findings = lint(request.json(), model.protocol, model)
    except SegueError as error:
        return {}, error.for_shell()
    return (_by_message(request.sources, findings) if findings else {}), ""


def findings_in_body(body: dict[str, Any], protocol: str) -> dict[int | None, list[Finding]]:
    """The findings of a request body that was opened, by the index of the message that was read from their place."""
    findings = lint(body, protocol)
    return _by_message(body_sources(body, protocol), findings) if findings else {}


def _by_message(sources: Sources, findings: list[Finding]) -> dict[int | None, list[Finding]]:
    found: dict[int | None, list[Finding]] = defaultdict(list)
    for finding in findings:
        found[next(iter(sources.messages(finding.path)), None)].append(finding)
    return dict(found)
