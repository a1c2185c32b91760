"""`segue transfer`: take a session of one tool to another, which resumes it."""

import argparse
import os

from ..catalog import get_model
from ..client import complete_sync
from ..compaction import accept, compacted, obstacle, plan, request, summary_message
from ..errors import ProjectionError, SettingError
from ..projection import summarize
from ..render import preview
from ..transcripts import Transcript, Written, format_named, formats, write
from ..types import Context, Model
from .found_transcripts import branch_named, chosen, name_of, print_left_out, read_transcript
from .terminal import busy, print_note, print_text


def configure(parser: argparse.ArgumentParser) -> None:
    written = ", ".join(form.name for form in formats() if form.write is not None)
    parser.add_argument(
        "source", metavar="FROM", help="a tool (its latest session here), a file, or the id of a session"
    )
    parser.add_argument("target", metavar="TO", help=f"the other tool: {written}")
    parser.add_argument("--id", metavar="ID", help="the session, if FROM has several")
    parser.add_argument("--branch", metavar="ID", help="a branch or sub-agent of it; the beginning of its id is enough")
    parser.add_argument("--cwd", metavar="DIR", help="the project's directory (default: that of the session)")
    parser.add_argument("--into", metavar="DIR", help="write below this directory, not where the tool keeps its files")
    parser.add_argument("--model", metavar="MODEL", help="the model that continues; its window is checked")
    parser.add_argument("--provider", metavar="NAME", default="", help="the provider that the other tool is set to use")
    parser.add_argument("--compact", metavar="MODEL", help="make it fit: this model summarises the older turns")
    parser.add_argument(
        "--tools",
        choices=("keep", "translate", "text"),
        default="keep",
        help="names of the other agent's tools: keep them, translate the common ones, or show calls as text",
    )
    parser.add_argument("--dry-run", action="store_true", help="only show what would change")
    parser.add_argument("--report", action="store_true", help="list every change with its place")


def run(args: argparse.Namespace) -> int:
    form = format_named(args.target)
    if form.write is None:
        raise SettingError(f"segue reads the format of {form.title}, but does not write it")
    path, identity = chosen(args.source, args.cwd or os.getcwd(), args.id)
    found = read_transcript(path, identity)
    print_note(f"{path}: {name_of(found)}")
    print_left_out(found, path, args.report)
    conversation: Transcript | Context = found
    if args.branch is not None:
        conversation = branch_named(found, args.branch).context
    model = args.model or form.speaks
    if model is not None:
        conversation = _fitting(conversation, get_model(model), args.compact)
    written = write(
        conversation,
        args.target,
        directory=args.into,
        cwd=args.cwd or found.cwd,
        title=found.title,
        provider=args.provider,
        names=args.tools,
        dry_run=args.dry_run,
    )
    _print(written, args)
    return 0


def _fitting(conversation: Transcript | Context, target: Model, summariser: str | None) -> Transcript | Context:
    """The conversation, compacted if it does not fit the window of the target and the user wants that."""
    context = conversation.context if isinstance(conversation, Transcript) else conversation
    try:
        size = preview(context, target)
    except ProjectionError:
        return conversation  # there is nothing to send
    if size.fits:
        return conversation
    shown = f"about {size.tokens.tokens:,} tokens do not fit the window of {target.ref} ({target.context_window:,})"
    if summariser is None:
        print_note(f"warning: {shown}; --compact MODEL makes it fit")
        return conversation
    print_note(shown)
    return _summarised(context, target, get_model(summariser))


def _summarised(context: Context, target: Model, summariser: Model) -> Context:
    """The conversation with its older turns as a summary."""
    planned = plan(context, target, summariser)
    if planned is None or not planned.fits:
        raise SettingError(f"it cannot be made to fit: {obstacle(context, target, summariser)}")
    so_far: str | None = None
    for part in range(len(planned.parts)):
        with busy(f"{summariser.ref} summarises part {part + 1} of {len(planned.parts)}"):
            answer = complete_sync(request(context, planned, part, so_far, summariser), summariser)
        so_far = accept(answer.text, planned).text
        if not so_far:
            raise SettingError(f"{summariser.ref} wrote no summary; try another model")
    messages = compacted(context.messages, planned, summary_message(so_far or ""))
    return Context(messages, system_prompt=context.system_prompt, tools=context.tools)


def _print(written: Written, args: argparse.Namespace) -> None:
    for change in written.changes:
        print_note(str(change))
    if written.projected:
        print_note(summarize(written.projected, args.target, len(written.context.messages)))
    if args.dry_run:
        print_note(f"would write {written.path}")
        return
    print_note(f"wrote {written.path}; continue with")
    print_text(written.resume)
