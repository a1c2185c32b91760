"""`segue run`: one prompt for scripts. The same agent as in the chat; what may run is said by flags.

Exit status: 0 done, 1 failed or ended by a limit, 2 bad usage or settings, 130 cancelled.
"""

import argparse
import asyncio
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

import msgspec

from ..agent import Outcome, RunLimits
from ..agent.events import How
from ..errors import ProviderError, SettingError
from ..tools import Allow, Approval, ApprovalRequest, Approve, Deny, Tool
from . import offline, talk
from .files import read_bytes
from .signals import handled
from .terminal import Screen, flush, print_note, say, write
from .view import View

if TYPE_CHECKING:
    from ..events import TurnEvent

STATUS: dict[How, int] = {"done": 0, "failed": 1, "limit": 1, "cancelled": 130}
"""The exit status for each way in which a run may end."""

DENIED = "it was not allowed beforehand, and nobody can be asked"


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("prompt", metavar="PROMPT", help="what is asked; - for standard input")
    talk.configure(parser)
    parser.add_argument("--json", action="store_true", help="write every event as a line of JSON; the last is outcome")
    parser.add_argument("--quiet", action="store_true", help="do not print on stderr what is called")
    allowed = parser.add_mutually_exclusive_group()
    allowed.add_argument(
        "--allow",
        metavar="TOOL,…",
        action="append",
        default=[],
        help="let these tools run though they want to be asked for; others of that kind are denied",
    )
    allowed.add_argument("--allow-all", action="store_true", help="let all tools run")
    parser.add_argument("--max-steps", metavar="N", type=_at_least_one, help="answers of the model, at most")
    parser.add_argument("--max-tokens", metavar="N", type=_at_least_one, help="tokens of all requests, at most")
    parser.add_argument("--max-cost", metavar="DOLLARS", type=_amount, help="what the run may cost")


def run(args: argparse.Namespace) -> int:
    prompt = read_bytes("-").decode("utf-8", "replace") if args.prompt == "-" else args.prompt
    if not prompt.strip():
        raise SettingError("the prompt is empty")
    return STATUS[asyncio.run(_run(args, prompt)).how]


async def _run(args: argparse.Namespace, prompt: str) -> Outcome:
    limits = RunLimits(steps=args.max_steps, tokens=args.max_tokens, cost=args.max_cost)
    async with talk.talking(args, None, limits) as begun:
        begun.approve = approval_by(args, begun.tools)
        for note in begun.notes:
            print_note(note)
        if begun.choice.offline:
            print_note(f"{begun.model.ref} answers: {begun.choice.why}. {offline.way_out()}")
        agent = await begun.agent(prompt)
        show = _shown(args)
        if args.json:
            _write({"type": "session", "session": agent.session.id, "model": begun.model.ref})
        async with agent.stream(prompt) as events:
            # What had arrived is stored, and the log is closed.
            with handled(dict.fromkeys(("SIGINT", "SIGTERM", "SIGHUP"), events.cancel)):
                async for event in events:
                    show(event)
        outcome = events.outcome
        assert outcome is not None
        _write(outcome_document(outcome)) if args.json else _print_outcome(outcome)
        return outcome


def approval_by(args: argparse.Namespace, tools: Iterable[Tool]) -> Approve:
    """What the flags say to tools that ask."""
    allowed = {name.strip() for names in args.allow for name in names.split(",") if name.strip()}
    known = [tool.name for tool in tools]
    unknown = sorted(allowed.difference(known))
    if unknown:
        raise SettingError(f"--allow: there is no tool {', '.join(unknown)}; there are {', '.join(known) or 'none'}")

    def approve(asked: ApprovalRequest) -> Approval:
        return Allow() if args.allow_all or asked.tool.name in allowed else Deny(DENIED)

    return approve


# -- output -----------------------------------------------------------------------------------------------------------


def _shown(args: argparse.Namespace) -> "Callable[[TurnEvent], None]":
    """What is done with each event: written as JSON, or what is called told on stderr, or nothing."""
    if args.json:
        return lambda event: _write(event_document(event))
    if args.quiet:
        return lambda event: None
    return View(Screen(stderr=True), texts=False).show


def event_document(event: "TurnEvent") -> dict[str, Any]:
    """An event as JSON can hold it: its type and its fields, without the answer that grows on every event."""
    fields = [name for name in event.__struct_fields__ if name != "partial"]
    return {"type": event.type, **{name: _plain(getattr(event, name)) for name in fields}}


def outcome_document(outcome: Outcome) -> dict[str, Any]:
    """What came of a run, as JSON can hold it."""
    fields = ("how", "reason", "text", "usage", "cost", "steps")
    return {"type": "outcome", **{name: getattr(outcome, name) for name in fields}}


def _plain(value: Any) -> Any:
    if isinstance(value, ProviderError):
        return {"kind": value.kind, "text": value.text, "status": value.status, "retryable": value.retryable}
    return value


def _write(document: dict[str, Any]) -> None:
    write(msgspec.json.encode(document) + b"\n")
    flush()


def _print_outcome(outcome: Outcome) -> None:
    text = outcome.text
    if text:
        say(text)
    if outcome.how != "done":
        print_note(f"{outcome.how}: {outcome.reason}" if outcome.reason else outcome.how)


# -- the rest ---------------------------------------------------------------------------------------------------------


def _at_least_one(text: str) -> int:
    if not text.isascii() or not text.isdigit() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is no whole number from 1 on")
    return int(text)


def _amount(text: str) -> float:
    try:
        amount = float(text)
    except ValueError:
        amount = 0.0
    if not 0 < amount < float("inf"):
        raise argparse.ArgumentTypeError(f"{text!r} is no amount of dollars above 0")
    return amount
