"""`segue lint`: list what a provider would refuse in a request body, and why.

Without a model or provider, only what every provider of the protocol refuses. A conversation that is not a request body
is checked as if it were sent to the model without any change.
"""

import argparse
from collections.abc import Iterator
from itertools import chain, groupby
from typing import Any

import msgspec
from msgspec.structs import replace

from ..catalog import Catalog, get_model
from ..errors import FormatError
from ..render import RecognisedBody, encode, export, lint, recognise_body
from ..rules import Finding, Severity
from ..types import Context, Model, ToolCall, ToolDefinition, ToolResultMessage, first_lines
from ..types.codec import json_text
from ..types.text import count_of
from ..wire import PROTOCOLS, protocol_of
from .files import FILE_HELP, Conversations, open_input
from .formats import LINES, WHOLE, Found, find
from .printable import one_line
from .terminal import Screen, busy, print_note, write_json

CHOOSE = "name the model that it is for, with --model PROVIDER/MODEL"


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", metavar="FILE", help=f"a request body, or {FILE_HELP}")
    parser.add_argument("--as", dest="protocol", choices=PROTOCOLS, help="the protocol (default: recognised)")
    target = parser.add_mutually_exclusive_group()
    target.add_argument("--model", metavar="PROVIDER/MODEL", help="the model that the body is for")
    target.add_argument("--provider", metavar="PROVIDER", help="the provider that the body is for")
    parser.add_argument(
        "--warnings", action="store_true", help="also list what is ignored or changed, and what some providers refuse"
    )
    parser.add_argument("--json", action="store_true", help="print the findings as JSON")
    parser.add_argument("--catalog", metavar="FILE", help="your own catalog file")


def run(args: argparse.Namespace) -> int:
    linter = Linter(args)
    with busy(f"checking {linter.conversations.name}"):
        findings = list(linter.findings())
    for note in linter.notes:
        print_note(note)
    shown = [finding for finding in findings if args.warnings or finding.severity == "error"]
    if args.json:
        write_json(msgspec.json.encode([_as_json(finding) for finding in shown]) + b"\n")
    else:
        draw_findings(shown, hidden=len(findings) - len(shown))
    return 1 if any(finding.severity == "error" for finding in findings) else 0


class Linter:
    """Checks the documents of a file."""

    def __init__(self, args: argparse.Namespace) -> None:
        self.args = args
        self.catalog = Catalog.load(args.catalog) if args.catalog else Catalog.default()
        self.conversations = Conversations(args.file, args.protocol)
        self.notes: dict[str, None] = {}
        """What the user should know: the forms of the documents, and what they were checked for."""

    def findings(self) -> Iterator[Finding]:
        """The findings of all documents. Those in JSONL have their line in the path."""
        source = self.conversations.source
        if self.conversations.is_transcript:
            yield from self._conversation(self.conversations.transcript())
            return
        with open_input(self.args.file) as file:
            head = first_lines(iter(file))
            lines, found = chain(head, file), find(head)
            if found is LINES:
                for number, line in enumerate(lines, 1):
                    if line.strip():
                        for finding in self._document(line, number):
                            yield replace(finding, path=f"line {number}: {finding.path}")
            elif found is WHOLE:
                yield from self._document(b"".join(lines), None)
            else:
                for item in found.read(lines, source):
                    if isinstance(item, FormatError):
                        raise item
                    self._note(item.form)
                    yield from self._conversation(item)

    def _document(self, data: bytes, line: int | None) -> list[Finding]:
        source = self.conversations.source
        try:
            if source.protocol is not None:
                return lint(data, source.protocol, self._model(source.protocol, {}))
            body = recognise_body(data)
            self._note(body.form.name)
            if body.form.protocol is None:
                return self._conversation(Found(body.conversation(), body.form.name))
            return self._body(data, body, body.form.protocol)
        except FormatError as error:
            raise error.at(source.name, line) from None

    def _body(self, data: bytes, recognised: RecognisedBody, protocol: str) -> list[Finding]:
        form = recognised.form
        model = self._model(protocol, form.body)
        if not form.is_list:
            return lint(data, protocol, model)
        # The list alone: what the rest of the request has is not known, apart from the tools that the list uses.
        body = json_text({**_tools_used(recognised, protocol), **form.body})
        found = lint(body, protocol, model)
        return [finding for finding in found if finding.path.startswith(protocol_of(protocol).history)]

    def _conversation(self, found: Found) -> list[Finding]:
        """Check a conversation as it would be sent if nothing were changed for the model."""
        if not self.args.model:
            raise FormatError(f"this is {found.form}, not a request body; {CHOOSE}", source=self.conversations.name)
        model = get_model(self.args.model, catalog=self.catalog)
        self.notes[f"checked as it is stored, for {model.ref}; segue encode changes what it would refuse"] = None
        return lint(encode(found.context, model, None, "off").json(), model.protocol, model)

    def _model(self, protocol: str, body: dict[str, Any]) -> Model | None:
        """The model that the body is for: the named one, the one of the named provider, or the one in the body."""
        named = body.get("model") or body.get("modelId")
        if self.args.model:
            provider = self.catalog.find(self.args.model)[0]
            if protocol not in provider.protocols:
                raise FormatError(
                    f"this is a body of {protocol}, but {provider.name} speaks {', '.join(provider.protocols)}; "
                    f"segue encode --to {self.args.model} makes a body for it"
                )
            return get_model(self.args.model, protocol=protocol, catalog=self.catalog)
        if self.args.provider:
            provider = self.catalog.provider(self.args.provider)
            return self.catalog.resolve(f"{provider.id}/{named if isinstance(named, str) and named else '-'}", protocol)
        model = self._model_in_body(protocol, named)
        whom = f"{model.ref}, which the body names" if model else f"every provider of {protocol}; {CHOOSE}, for more"
        self.notes[f"checked for {whom}"] = None
        return model

    def _model_in_body(self, protocol: str, named: object) -> Model | None:
        """The model of that name, if exactly one provider of the protocol has it."""
        speaking = [each.id for each in self.catalog.providers.values() if protocol in each.protocols]
        having = [each for each in speaking if self.catalog.row(f"{each}/{named}") is not None]
        return self.catalog.resolve(f"{having[0]}/{named}", protocol) if len(having) == 1 else None

    def _note(self, form: str) -> None:
        self.notes[f"{self.conversations.name}: {form}"] = None


def _as_json(finding: Finding) -> dict[str, str]:
    fields: dict[str, str] = msgspec.structs.asdict(finding)
    del fields["prevented_by"]  # about segue itself
    return fields


def _tools_used(body: RecognisedBody, protocol: str) -> dict[str, Any]:
    """Definitions of the tools that a list of messages calls, in the form of the protocol."""
    try:
        messages = body.conversation().messages
    except FormatError:  # the findings say what is wrong with it
        return {}
    names = {block.name: None for each in messages for block in each.content if isinstance(block, ToolCall)}
    if not names and any(isinstance(each, ToolResultMessage) for each in messages):
        names = {"tool": None}
    tools = [ToolDefinition(name, "a tool", {"type": "object", "properties": {}}) for name in names]
    return export(Context(messages=[], tools=tools), protocol).body if tools else {}


def draw_findings(findings: list[Finding], hidden: int = 0) -> None:
    """Print each finding. Those of one rule share the provider's own error message, and its source."""
    screen = Screen()
    for _, group in groupby(findings, lambda finding: (finding.rule, finding.severity)):
        for finding in (found := list(group)):
            place = f"{one_line(finding.path)}: " if finding.path else ""
            severity = (f"{finding.severity}  ", _STYLES[finding.severity])
            screen.line(severity, (f"{place}{one_line(finding.message)}", "bold"))
        if found[0].answers:
            screen.line((f"the provider answers: {one_line(found[0].answers)}", ""), indent=4)
        screen.line((f"rule {found[0].rule}; source: {one_line(found[0].source)}", "dim"), indent=4)
    errors = sum(finding.severity == "error" for finding in findings)
    warnings = len(findings) - errors + hidden
    more = f"; --warnings lists {'it' if hidden == 1 else 'them'}" if hidden else ""
    print_note(f"{count_of(errors, 'error')}, {count_of(warnings, 'warning')}{more}")


_STYLES: dict[Severity, str] = {"error": "bold red", "warning": "yellow"}
