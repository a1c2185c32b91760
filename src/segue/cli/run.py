"""`segue run`: run one prompt from a script. The same agent as in the chat; flags decide which tools may run.

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
from ..types.text import whole_number
from . import agent_host
from .files import read_bytes
from .model_choice import provider_hint
from .signals import handle_signals
from .terminal import Busy, Screen, flush, print_note, print_text, write_json
from .turn_view import TurnView

if TYPE_CHECKING:
    from ..events import TurnEvent

STATUS: dict[How, int] = {"done": 0, "failed": 1, "limit": 1, "cancelled": 130}
"""The exit status for each way that a run can end."""

DENIED = "it was not allowed beforehand, and nobody can be asked"


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("prompt", metavar="PROMPT", help="the prompt; - for standard input")
    agent_host.configure(parser)
    parser.add_argument(
        "--json", action="store_true", help="print every event as a line of JSON; the last one is the outcome"
    )
    parser.add_argument("--quiet", action="store_true", help="do not print tool calls to stderr")
    allowed = parser.add_mutually_exclusive_group()
    allowed.add_argument(
        "--allow",
        metavar="TOOL,…",
        action="append",
        default=[],
        help="run these tools without asking; other tools that need approval are denied",
    )
    allowed.add_argument("--allow-all", action="store_true", help="run all tools without asking")
    parser.add_argument(
        "--max-steps", metavar="N", type=_at_least_one, help="stop after this many answers of the model"
    )
    parser.add_argument(
        "--max-tokens", metavar="N", type=_at_least_one, help="stop after this many tokens, over all requests"
    )
    parser.add_argument("--max-cost", metavar="DOLLARS", type=_amount, help="stop when the run has cost this much")


def run(args: argparse.Namespace) -> int:
    prompt = read_bytes("-").decode("utf-8", "replace") if args.prompt == "-" else args.prompt
    if not prompt.strip():
        raise SettingError("the prompt is empty")
    return STATUS[asyncio.run(_run(args, prompt)).how]


async def _run(args: argparse.Namespace, prompt: str) -> Outcome:
    limits = RunLimits(steps=args.max_steps, tokens=args.max_tokens, cost=args.max_cost)
    async with agent_host.open_host(args, limits) as host:
        host.approve = approval_from_flags(args, host.tools.all)
        for note in host.tools.notes:
            print_note(note)
        if host.choice.offline:
            print_note(f"{host.model.ref} answers: {host.choice.why}. {provider_hint()}")
        agent = await host.agent(prompt)
        show = _event_printer(args)
        if args.json:
            _write({"type": "session", "session": agent.session.id, "model": host.model.ref})
        async with agent.stream(prompt) as events:
            # A cancelled run stores what has arrived, and closes the log.
            with (
                handle_signals(dict.fromkeys(("SIGINT", "SIGTERM", "SIGHUP"), events.cancel)),
                Busy(f"{host.model.ref} answers") as waiting,
            ):
                async for event in events:
                    with waiting.paused():
                        show(event)
        outcome = events.outcome
        assert outcome is not None
        _write(outcome_document(outcome)) if args.json else _print_outcome(outcome)
        return outcome


def approval_from_flags(args: argparse.Namespace, tools: Iterable[Tool]) -> Approve:
    """Approve tools as the flags say. A tool that they do not name is denied."""
    allowed = {name.strip() for names in args.allow for name in names.split(",") if name.strip()}
    known = [tool.name for tool in tools]
    unknown = sorted(allowed.difference(known))
    if unknown:
        raise SettingError(f"--allow: unknown tool {', '.join(unknown)}; the tools are {', '.join(known) or 'none'}")

    def approve(request: ApprovalRequest) -> Approval:
        return Allow() if args.allow_all or request.tool.name in allowed else Deny(DENIED)

    return approve


# -- output -----------------------------------------------------------------------------------------------------------


def _event_printer(args: argparse.Namespace) -> "Callable[[TurnEvent], None]":
    """The function for each event: it prints JSON to stdout, or calls and results to stderr, or nothing."""
    if args.json:
        return lambda event: _write(event_document(event))
    if args.quiet:
        return lambda event: None
    return TurnView(Screen(stderr=True), texts=False).show


def event_document(event: "TurnEvent") -> dict[str, Any]:
    """An event for JSON: its type and its fields, without the partial answer."""
    fields = [name for name in event.__struct_fields__ if name != "partial"]
    return {"type": event.type, **{name: _plain(getattr(event, name)) for name in fields}}


def outcome_document(outcome: Outcome) -> dict[str, Any]:
    """The outcome of a run, for JSON."""
    fields = ("how", "reason", "text", "usage", "cost", "steps")
    return {"type": "outcome", **{name: getattr(outcome, name) for name in fields}}


def _plain(value: Any) -> Any:
    if isinstance(value, ProviderError):
        return {"kind": value.kind, "text": value.text, "status": value.status, "retryable": value.retryable}
    return value


def _write(document: dict[str, Any]) -> None:
    write_json(msgspec.json.encode(document) + b"\n")
    flush()


def _print_outcome(outcome: Outcome) -> None:
    text = outcome.text
    if text:
        print_text(text)
    if outcome.how != "done":
        print_note(f"{outcome.how}: {outcome.reason}" if outcome.reason else outcome.how)


# -- the rest ---------------------------------------------------------------------------------------------------------


def _at_least_one(text: str) -> int:
    number = whole_number(text)
    if number is None or number < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number of 1 or more")
    return number


def _amount(text: str) -> float:
    try:
        amount = float(text)
    except ValueError:
        amount = 0.0
    if not 0 < amount < float("inf"):
        raise argparse.ArgumentTypeError(f"{text!r} is not an amount of dollars above 0")
    return amount
