"""The peers (other libraries): how each turns its own messages into the bytes of a request, and how it sends one."""

import gc
import logging
from collections.abc import Iterator
from contextlib import contextmanager

from segue.types import Context

from . import any_llm, langchain, litellm, pydantic_ai
from .encoders import Encoder, Peer, Sender, Target

PEERS = (litellm.peer, pydantic_ai.peer, any_llm.peer, langchain.peer)


@contextmanager
def loaded(*contexts: Context) -> Iterator[list[list[Peer]]]:
    """Load all peers with their messages for each of these histories, without their logs, and outside the garbage
    collector."""
    peers = [[load(context) for load in PEERS] for context in contexts]
    logging.disable(logging.CRITICAL)  # some log a line for every message that they change
    gc.collect()
    gc.freeze()  # so that collections before each call do not scan what they have loaded
    try:
        yield peers
    finally:
        gc.unfreeze()
        logging.disable(logging.NOTSET)


BY_MSGSPEC = ", its JSON by msgspec"


def encoders_of(peers: list[Peer], target: Target) -> dict[str, Encoder]:
    """The encoders of the peers that support this target, by name and version. A peer with almost nothing to convert
    appears twice: with the JSON encoder of its SDK, and with that of all others."""
    found: dict[str, Encoder] = {}
    for peer in peers:
        encoder = peer.encoders[target]
        if isinstance(encoder, Encoder) and encoder.by_sdk is not None:
            found[peer.title] = Encoder(f"{encoder.called}; OpenAI's SDK writes", encoder.by_sdk)
            found[peer.title + BY_MSGSPEC] = encoder
        elif isinstance(encoder, Encoder):
            found[peer.title] = encoder
    return found


def senders_of(peers: list[Peer], target: Target) -> dict[str, Sender]:
    """The senders of the peers that support this target."""
    found = {peer.title: peer.senders[target] for peer in peers}
    return {title: sender for title, sender in found.items() if isinstance(sender, Sender)}
