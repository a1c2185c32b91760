"""What it costs to take a history to a request: project, encode, JSON bytes; beside peers and beside bare JSON.

Nobody can be quicker than the JSON encoding of a body that is already there, so that is the measure for segue; peers
are measured against segue.
"""

import gc
import logging
from collections.abc import Callable, Iterator
from functools import partial

import msgspec

import segue
from segue.types import Context, ToolCall

from .conversations import tool_history
from .measure import medians
from .peers import any_llm, langchain, litellm, pydantic_ai
from .peers.encoders import TARGETS, Encoder, Peer, Target

PEERS = (litellm.peer, pydantic_ai.peer, any_llm.peer, langchain.peer)
COUNT = 1000
ROUNDS = 9  # the slowest take a third of a second for a call
SEGUE, BARE = "segue", "bare JSON"


def run() -> None:
    context = tool_history(COUNT)
    peers = [load(context) for load in PEERS]
    logging.disable(logging.CRITICAL)  # some say a line for every message that they change
    gc.freeze()  # what the peers have loaded need not be looked through before every call
    print(
        f"\nproject + encode + JSON bytes, {COUNT:,} messages, µs per message"
        "\n  peers: from their own messages, built beforehand, to what they hand the provider's SDK, then msgspec.json;"
        "\n  none of them repairs what segue repairs, and a body of about 1,000 KB has lost the thinking"
    )
    print("\n" + "\n".join([measure(context, target, peers) for target in TARGETS]))
    logging.disable(logging.NOTSET)
    gc.unfreeze()


def measure(context: Context, target: Target, peers: list[Peer]) -> str:
    """Print the table of one target; the summary in a line is returned."""
    model = segue.get_model(target.ref, protocol=target.protocol)

    def whole() -> bytes:
        return segue.encode(context, model).json()

    body = segue.encode(context, model).body
    own = Encoder(f"segue.encode({model.ref}).json()", whole)
    bare = Encoder("msgspec.json.encode(body)", partial(msgspec.json.encode, body))
    named = {SEGUE: own, BARE: bare} | dict(encoders_of(peers, target))
    sizes = {name: size_of(context, name, encoder.encode) for name, encoder in named.items()}
    times = medians({name: encoder.encode for name, encoder in named.items()}, ROUNDS)

    print(f"\nto {target.title} ({target.model})")
    for name, encoder in named.items():
        shape = "; its messages have this shape already" if encoder.same_shape else ""
        against, word = (BARE, "bare JSON") if name == SEGUE else (SEGUE, "segue")
        print(
            f"  {name:<20}{times[name] / COUNT * 1e6:>9.2f} µs  {times[name] / times[against]:>7.2f} × {word:<10}"
            f"{sizes[name] / 1e3:>7,.0f} KB  {encoder.called}{shape}"
        )
    for peer in peers:
        why = peer.encoders[target]
        if isinstance(why, str):
            print(f"  {peer.title:<20}  left out: {why}")
    return summary(target, named, times)


def encoders_of(peers: list[Peer], target: Target) -> Iterator[tuple[str, Encoder]]:
    for peer in peers:
        encoder = peer.encoders[target]
        if isinstance(encoder, Encoder):
            yield peer.title, encoder


def size_of(context: Context, name: str, encode: Callable[[], bytes]) -> int:
    """The length of a body, once it is sure that every call of the history is in it, and the same each time."""
    data = encode()
    for message in context.messages:
        for block in message.content:
            if isinstance(block, ToolCall) and block.arguments["path"].encode() not in data:
                raise AssertionError(f"{name} lost the call {block.id}")
    if encode() != data:
        raise AssertionError(f"{name} gives another body when it is called again")
    return len(data)


def summary(target: Target, named: dict[str, Encoder], times: dict[str, float]) -> str:
    """One line on one target. Where the fastest peer has nothing to convert, the fastest that has is named, too."""
    own = times[SEGUE]
    line = f"{target.title}: segue {own / COUNT * 1e6:.2f} µs, {own / times[BARE]:.1f} × bare"
    peers = sorted((times[name], name) for name in named if name not in (SEGUE, BARE))
    converting = [(seconds, name) for seconds, name in peers if not named[name].same_shape]
    for word, (seconds, name) in {"fastest peer": peers[0], "fastest that converts": converting[0]}.items():
        if word == "fastest peer" or named[peers[0][1]].same_shape:
            line += f", {word} {name} {seconds / own:.2f} × segue"
    return line
