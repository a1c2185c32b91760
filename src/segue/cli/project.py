"""`segue project`: show a conversation as another model would receive it, with every change."""

import argparse
from collections import defaultdict

import msgspec

from ..catalog import Catalog, get_model
from ..errors import FormatError, ProjectionError
from ..projection import PRESETS
from ..render import Preview, preview
from ..types import AssistantMessage, Change, Context, Message
from .conversation_view import ConversationView
from .files import FILE_HELP, Conversations
from .printable import one_line
from .terminal import Screen, write_json


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", metavar="FILE", help=FILE_HELP)
    parser.add_argument("--to", required=True, metavar="PROVIDER/MODEL", help="the model to render for")
    parser.add_argument("--policy", default="default", choices=PRESETS, help="the policy preset (default: default)")
    parser.add_argument("--full", action="store_true", help="do not shorten long texts and results")
    parser.add_argument("--json", action="store_true", help="print the rendered conversation and the report as JSON")
    parser.add_argument("--catalog", metavar="FILE", help="your own catalog file")


def run(args: argparse.Namespace) -> int:
    model = get_model(args.to, catalog=Catalog.load(args.catalog) if args.catalog else None)
    conversations = Conversations(args.file)
    screen = None if args.json else Screen()
    for number, context in enumerate(conversations):
        try:
            previewed = preview(context, model, args.policy)
        except (ProjectionError, FormatError) as error:
            conversations.report_error(f"{conversations.name}: conversation {number + 1}: {error}")
            continue
        if screen is None:
            write_json(_as_json(previewed) + b"\n")
        else:
            if number:
                screen.rule()
            _draw(screen, context, previewed, full=args.full)
    return conversations.status


def _as_json(previewed: Preview) -> bytes:
    document = {
        "model": previewed.model.ref,
        "context": msgspec.Raw(previewed.request.projection.context.to_json()),
        "changes": previewed.changes,
        "fits": previewed.fits,
        "sure": previewed.sure,
        "tokens": previewed.tokens,
        "contextWindow": previewed.model.context_window,
        "inputLimit": previewed.model.input_limit(),
        "retires": previewed.model.retires,
        "limits": previewed.limits,
        "cost": previewed.cost,
    }
    return msgspec.json.encode(document)


def _draw(screen: Screen, context: Context, previewed: Preview, *, full: bool) -> None:
    head, *rest = previewed.summary().splitlines()
    screen.line((head, "bold"))
    for line in rest:
        screen.line((f"  {line}", "red" if line.startswith(("lost", "over a limit", "does not")) else ""))
    screen.line()
    ProjectionView(screen, context, previewed, full=full).draw()


class ProjectionView(ConversationView):
    """Draws the rendered conversation with the numbers of the stored one, and each change below its message."""

    def __init__(self, screen: Screen, stored: Context, previewed: Preview, *, full: bool) -> None:
        super().__init__(screen, previewed.request.projection.context, thinking=False, full=full)
        self.stored = stored
        self.sources = previewed.request.projection.sources
        self.rendered = set(self.sources)
        self.notes: dict[int | None, list[Change]] = defaultdict(list)
        for change in previewed.changes:
            self.notes[change.message].append(change)
        self.next = 0
        """Index of the first stored message that is not drawn yet, neither as a message nor as left out."""

    def draw_head(self) -> None:
        super().draw_head()
        self._print_changes(None)

    def draw_message(self, index: int, message: Message) -> None:
        self._draw_left_out(self.sources[index])
        super().draw_message(index, message)
        group = len(self.pairing.batches[index].calls) if index in self.pairing.batches else 0
        if isinstance(message, AssistantMessage) or group == 0:
            for source in dict.fromkeys(self.sources[index : index + group + 1]):
                self._print_changes(source)

    def number(self, index: int) -> int:
        return self.sources[index]

    def draw_foot(self) -> None:
        self._draw_left_out(len(self.stored.messages))
        super().draw_foot()

    def _draw_left_out(self, until: int) -> None:
        """Draw the stored messages before ``until`` that are not rendered at all."""
        for index in range(self.next, until):
            if index not in self.rendered and index in self.notes:
                self.screen.line()
                self.line(0, (f"{index:>3} ", "dim"), ("left out", "bold red"))
                self._print_changes(index)
        self.next = max(self.next, until)

    def _print_changes(self, index: int | None) -> None:
        for change in self.notes.pop(index, ()):
            self.line(
                4,
                ("~ ", "yellow"),
                (change.code, "red" if change.lossy else "yellow"),
                (f"  {one_line(change.detail)}", "dim"),
            )
