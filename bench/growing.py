"""The total cost of all requests of a long session: peers encode the whole history each time, segue only what is new.

Every request of segue's session is measured. Peers are measured at some lengths and their sum is interpolated: one
session of the slowest peer would take an hour.
"""

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from itertools import pairwise
from operator import attrgetter
from statistics import mean, median

import msgspec
from msgspec.structs import replace

import segue
from segue.types import Context

from .conversations import tool_history
from .live import REQUESTS_A_TURN, Cost, messages_of_request, session
from .measure import Effort, Figure, seconds
from .peers import BY_MSGSPEC, encoders_of, loaded
from .peers.encoders import ANTHROPIC, TARGETS, Peer, Target
from .report import Bars, Lines, Part, Section, Table, cell, number, ratio

TURNS = 1_000
REQUESTS = TURNS * REQUESTS_A_TURN
SAMPLES = (1, 10, 100, 500, 1_000, 1_500, REQUESTS)
EARLY, LATE = 10, 1_000
EFFORT = Effort(5, 25)
SEGUE, SCRATCH, BARE = "segue", "segue, from scratch each time", "bare JSON of each body"
PARTS: dict[str, Callable[[Cost], float]] = {
    "the whole": attrgetter("whole"),
    "without copying the final bytes": attrgetter("render"),
}
Rounds = dict[str, dict[int, list[float]]]

ABOUT = (
    f"A turn has four messages (a question, a call, its result, the answer) and two requests: {REQUESTS:,} requests "
    "in all, from stored history to bytes that are ready to send. For segue, every request is measured: "
    'Session.requests.request(…).pieces(), which the client sends, and b"".join of them. Reading the new entries from '
    "a log in a SQLite file is listed separately. "
    f"The others are measured at requests {', '.join(f'{at:,}' for at in SAMPLES)}, with linear interpolation between "
    "them. They start from their own messages, built beforehand, and only convert them and write them with "
    "msgspec.json, without the provider's SDK, except for its JSON encoder if there is almost nothing to convert. The "
    "next section names the functions that are called."
)


def run() -> Iterator[Part]:
    context = tool_history(messages_of_request(REQUESTS))
    cuts = {at: replace(context, messages=context.messages[: messages_of_request(at)]) for at in SAMPLES}
    totals: dict[str, dict[str, Figure]] = {}
    session(context, segue.get_model(ANTHROPIC.ref))  # warm up
    with loaded(*cuts.values()) as peers:
        for target in TARGETS:
            own, others = measure(context, cuts, dict(zip(cuts, peers, strict=True)), target)
            sums = {SEGUE: summed(own, "whole")}
            sums |= {name: Figure.of(map(total, turned(samples))) for name, samples in others.items()}
            totals[target.title] = {name: sums[name] for name in sums if name == SEGUE or is_peer(name)}
            yield table(target, sums, own)
            yield growth(target, own)
            if target is ANTHROPIC:
                yield per_request(own, others)
    yield Bars(
        "bench-session.svg",
        f"All requests of a session of {TURNS:,} turns, from stored history to bytes (processor time, logarithmic)",
        "s",
        totals,
        logarithmic=True,
    )


def measure(
    context: Context, cuts: dict[int, Context], peers: dict[int, list[Peer]], target: Target
) -> tuple[list[list[Cost]], Rounds]:
    """The costs of segue's sessions, one per round, and those of the others at the sampled requests."""
    model = segue.get_model(target.ref, protocol=target.protocol)
    calls: dict[str, dict[int, Callable[[], bytes]]] = {SCRATCH: {}, BARE: {}}
    for at, cut in cuts.items():
        calls[SCRATCH][at] = partial(from_scratch, cut, model)
        calls[BARE][at] = partial(msgspec.json.encode, segue.encode(cut, model).body)
        for name, encoder in encoders_of(peers[at], target).items():
            calls.setdefault(name, {})[at] = encoder.encode
    for each in calls.values():
        each[EARLY]()  # warm up
    own: list[list[Cost]] = []
    others: Rounds = {name: {at: [] for at in SAMPLES} for name in calls}
    for _ in EFFORT.rounds():
        own.append(session(context, model))
        for name, samples in calls.items():
            for at, call in samples.items():
                others[name][at].append(seconds(call))
    return own, others


def from_scratch(context: Context, model: segue.Model) -> bytes:
    return segue.encode(context, model).json()


def turned(samples: dict[int, list[float]]) -> list[dict[int, float]]:
    """The samples of each round, from the samples of each request in all rounds."""
    return [dict(zip(samples, taken, strict=True)) for taken in zip(*samples.values(), strict=True)]


def total(samples: Mapping[int, float]) -> float:
    """The sum over all requests, interpolated linearly between samples."""
    whole = samples[1]
    for (one, first), (other, last) in pairwise(samples.items()):
        steps = other - one
        whole += steps * (first + last) / 2 + (last - first) / 2
    return whole


def summed(own: list[list[Cost]], part: str) -> Figure:
    """The seconds of one part of all requests of a session."""
    return Figure.of(sum(map(attrgetter(part), costs)) for costs in own)


def around(costs: list[Cost], request: int, part: Callable[[Cost], float]) -> float:
    """The seconds of one part of a request near this number: the median of five turns around it, each the mean of its
    requests, because these do different work."""
    first = (request - 1) // REQUESTS_A_TURN - 2
    turns = [costs[turn * REQUESTS_A_TURN : (turn + 1) * REQUESTS_A_TURN] for turn in range(first, first + 5)]
    return median(mean(map(part, turn)) for turn in turns)


def table(target: Target, sums: dict[str, Figure], own: list[list[Cost]]) -> Table:
    rows = [(name, cell(figure, "s"), ratio(figure, sums[SEGUE], SEGUE)) for name, figure in sums.items()]
    apart = summed(own, "render")
    rows[1:1] = [
        ("… all but copying the final bytes", cell(apart, "s"), ratio(apart, sums[SEGUE], SEGUE)),
        ("in addition, reading the log", cell(summed(own, "read"), "s"), ""),
    ]
    notes = [
        f"{who} takes {number(sums[name].over(sums[SEGUE]))} times as long as segue; "
        f"{number(sums[name].over(apart))} times, apart from segue's copying."
        for who, name in quickest(sums).items()
    ]
    return Table(
        f"To {target.title} ({target.model}): {REQUESTS:,} requests, {len(own)} rounds",
        ("", "the whole session", "ratio"),
        rows,
        tuple(notes),
    )


def is_peer(name: str) -> bool:
    """Whether this is a peer that uses only its own code."""
    return name not in (SEGUE, SCRATCH, BARE) and not name.endswith(BY_MSGSPEC)


def quickest(sums: dict[str, Figure]) -> dict[str, str]:
    """The fastest peers to compare with: a description, and the name in ``sums``."""
    name = min(filter(is_peer, sums), key=sums.__getitem__)
    found = {f"The fastest peer, {name},": name}
    if quicker := [name for name in sums if name.endswith(BY_MSGSPEC)]:
        name = min(quicker, key=sums.__getitem__)
        found[f"{name},"] = name
    return found


def growth(target: Target, own: list[list[Cost]]) -> Table:
    """Compare the cost of a late request with that of an early one."""
    rows = []
    for what, part in PARTS.items():
        early, late = (Figure.of(around(costs, at, part) * 1e6 for costs in own) for at in (EARLY, LATE))
        rows.append((what, cell(early, "µs"), cell(late, "µs"), ratio(late, early)))
    heads = (f"request {EARLY:,}", f"request {LATE:,}")
    return Table(f"To {target.title}: an early request and a late one", ("segue", *heads, "ratio"), rows)


def per_request(own: list[list[Cost]], others: Rounds) -> Lines:
    """Plot how the cost of one request grows."""
    shown = [at for at in SAMPLES if EARLY <= at < REQUESTS]
    lines = {
        name: {at: Figure.of(around(costs, at, part) * 1e6 for costs in own) for at in shown}
        for name, part in ((SEGUE, attrgetter("whole")), ("segue, without the copying", attrgetter("render")))
    }
    lines |= {name: {at: Figure.of(taken[at]).times(1e6) for at in shown} for name, taken in others.items()}
    return Lines(
        "bench-requests.svg",
        "One request of a growing session, to Anthropic",
        "number of the request",
        "µs per request",
        {"": lines},
    )


SECTION = Section("session", f"A session of {TURNS:,} turns, every request of it", run, ABOUT)
