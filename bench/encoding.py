"""The cost of making a request from a history (project, encode, JSON bytes), compared with peers and with bare JSON.

The JSON encoding of a finished body is a lower bound, so segue is compared with that; peers are compared with segue.
"""

from collections.abc import Callable, Iterator
from functools import partial

import msgspec

import segue
from segue.types import Context, ToolCall

from .conversations import tool_history
from .measure import Effort, Figure, measured
from .peers import BY_MSGSPEC, encoders_of, loaded
from .peers.encoders import TARGETS, Encoder, Peer, Target
from .report import Lines, Part, Section, Table, cell, ratio

EFFORTS = {100: Effort(15, 5), 1_000: Effort(25, 20), 10_000: Effort(5, 25, warm=False)}
CHECKED = 1_000
SEGUE, BARE = "segue", "bare JSON"

ABOUT = (
    "segue projects, encodes and writes JSON; “bare JSON” only writes the JSON of a finished body. Peers start from "
    "their own messages, which are built beforehand, and end with what they pass to the provider's SDK, followed by "
    "msgspec.json, which none of them uses. For chat completions some pass their messages on unchanged, so that JSON "
    "is nearly all that is measured; these appear twice, with the JSON encoder of OpenAI's SDK and with msgspec.json. "
    "No peer makes the repairs that segue makes, and a body that is about a seventh smaller has lost the thinking. "
    "The section on sending measures each library with its own JSON encoder."
)


def run() -> Iterator[Part]:
    contexts = {count: tool_history(count) for count in EFFORTS}
    panels: dict[str, dict[str, dict[int, Figure]]] = {}
    with loaded(*contexts.values()) as by_length:
        peers = dict(zip(contexts, by_length, strict=True))
        for target in TARGETS:
            encoders = {count: encoders_for(contexts[count], target, peers[count]) for count in contexts}
            sizes = {name: size_of(contexts[CHECKED], name, each.encode) for name, each in encoders[CHECKED].items()}
            figures = {count: per_message(count, encoders[count]) for count in contexts}
            yield table(target, encoders[CHECKED], sizes, figures, peers[CHECKED])
            drawn = [name for name in sizes if not name.endswith(BY_MSGSPEC)]
            panels[target.title] = {name: {count: figures[count][name] for count in contexts} for name in drawn}
    yield Lines(
        "bench-encode.svg",
        "From a history to the bytes of a request, from scratch",
        "messages",
        "µs per message",
        panels,
    )


def encoders_for(context: Context, target: Target, peers: list[Peer]) -> dict[str, Encoder]:
    model = segue.get_model(target.ref, protocol=target.protocol)
    body = segue.encode(context, model).body
    own = Encoder(f"segue.encode(context, {model.ref}).json()", lambda: segue.encode(context, model).json())
    bare = Encoder("msgspec.json.encode(body)", partial(msgspec.json.encode, body))
    return {SEGUE: own, BARE: bare} | encoders_of(peers, target)


def per_message(count: int, encoders: dict[str, Encoder]) -> dict[str, Figure]:
    """µs per message."""
    times = measured({name: encoder.encode for name, encoder in encoders.items()}, EFFORTS[count])
    return {name: figure.times(1e6 / count) for name, figure in times.items()}


def table(
    target: Target,
    encoders: dict[str, Encoder],
    sizes: dict[str, int],
    figures: dict[int, dict[str, Figure]],
    peers: list[Peer],
) -> Table:
    middle = figures[CHECKED]
    rows = [
        (
            name,
            *(cell(figures[count][name], "µs") for count in figures),
            ratio(middle[name], *((middle[BARE], "bare") if name == SEGUE else (middle[SEGUE], "segue"))),
            f"{sizes[name] / 1e3:,.0f} KB",
            encoder.called,
        )
        for name, encoder in encoders.items()
    ]
    left_out = {peer.title: why for peer in peers if isinstance(why := peer.encoders[target], str)}
    rows += [(title, *("" for _ in figures), "", "", f"left out: {why}") for title, why in left_out.items()]
    lengths = [f"{count:,} messages" for count in figures]
    return Table(
        f"To {target.title} ({target.model}), µs per message",
        ("", *lengths, f"ratio at {CHECKED:,}", f"body at {CHECKED:,}", "called"),
        rows,
    )


def size_of(context: Context, name: str, encode: Callable[[], bytes]) -> int:
    """The length of a body, after checking that every call of the history is in it, and that it is deterministic."""
    data = encode()
    for message in context.messages:
        for block in message.content:
            if isinstance(block, ToolCall) and block.arguments["path"].encode() not in data:
                raise AssertionError(f"{name} lost the call {block.id}")
    if encode() != data:
        raise AssertionError(f"{name} gives another body when it is called again")
    return len(data)


SECTION = Section("encode", "A history to the bytes of a request, from scratch", run, ABOUT)
