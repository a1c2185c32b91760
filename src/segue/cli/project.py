"""`segue project`: what another model would get of a conversation, and what it would not."""

import argparse
from collections import defaultdict

import msgspec

from ..catalog import Catalog, get_model
from ..errors import FormatError, ProjectionError
from ..projection import PRESETS
from ..render import Preview, preview
from ..types import AssistantMessage, Change, Context, Message
from .files import Conversations
from .printable import flat
from .show import Picture
from .terminal import Screen, write


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", metavar="FILE", help="a conversation as JSON or JSONL; - for standard input")
    parser.add_argument("--to", required=True, metavar="PROVIDER/MODEL", help="the model to render for")
    parser.add_argument("--policy", default="default", choices=PRESETS, help="a preset of choices (default: default)")
    parser.add_argument("--full", action="store_true", help="do not cut long texts and results")
    parser.add_argument("--json", action="store_true", help="write the rendered conversation and the report as JSON")
    parser.add_argument("--catalog", metavar="FILE", help="a catalog file of your own")


def run(args: argparse.Namespace) -> int:
    model = get_model(args.to, catalog=Catalog.load(args.catalog) if args.catalog else None)
    conversations = Conversations(args.file)
    screen = None if args.json else Screen()
    for number, context in enumerate(conversations):
        try:
            ahead = preview(context, model, args.policy)
        except (ProjectionError, FormatError) as error:
            conversations.complain(f"{conversations.name}: conversation {number + 1}: {error}")
            continue
        if screen is None:
            write(_as_json(ahead) + b"\n")
        else:
            if number:
                screen.rule()
            _draw(screen, context, ahead, full=args.full)
    return conversations.status


def _as_json(ahead: Preview) -> bytes:
    document = {
        "model": ahead.model.ref,
        "context": msgspec.Raw(ahead.request.projection.context.to_json()),
        "changes": ahead.changes,
        "fits": ahead.fits,
        "sure": ahead.sure,
        "tokens": ahead.tokens,
        "contextWindow": ahead.model.context_window,
        "limits": ahead.limits,
        "cost": ahead.cost,
    }
    return msgspec.json.encode(document)


def _draw(screen: Screen, context: Context, ahead: Preview, *, full: bool) -> None:
    head, *rest = ahead.summary().splitlines()
    screen.line((head, "bold"))
    for line in rest:
        screen.line((f"  {line}", "red" if line.startswith(("lost", "over a limit", "does not")) else ""))
    screen.line()
    RenderedPicture(screen, context, ahead, full=full).draw()


class RenderedPicture(Picture):
    """The rendered conversation, numbered as it is stored, with each change beside the message that it concerns."""

    def __init__(self, screen: Screen, stored: Context, ahead: Preview, *, full: bool) -> None:
        super().__init__(screen, ahead.request.projection.context, thinking=False, full=full)
        self.stored = stored
        self.sources = ahead.request.projection.sources
        self.rendered = set(self.sources)
        self.notes: dict[int | None, list[Change]] = defaultdict(list)
        for change in ahead.changes:
            self.notes[change.message].append(change)
        self.next = 0
        """The first stored message of which nothing was said yet."""

    def draw_head(self) -> None:
        super().draw_head()
        self._print_changes(None)

    def draw_message(self, index: int, message: Message) -> None:
        self._tell_gone(self.sources[index])
        super().draw_message(index, message)
        group = len(self.pairing.batches[index].calls) if index in self.pairing.batches else 0
        if isinstance(message, AssistantMessage) or group == 0:
            for source in dict.fromkeys(self.sources[index : index + group + 1]):
                self._print_changes(source)

    def number(self, index: int) -> int:
        return self.sources[index]

    def draw_foot(self) -> None:
        self._tell_gone(len(self.stored.messages))
        super().draw_foot()

    def _tell_gone(self, until: int) -> None:
        """What is stored before ``until`` and is not rendered at all."""
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
                (f"  {flat(change.detail)}", "dim"),
            )
