"""The peers: how each turns a history of its own types into the bytes of a request, and how it sends one."""

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
    """All peers with their messages of each of these histories, silent, and out of the collector's way."""
    peers = [[load(context) for load in PEERS] for context in contexts]
    logging.disable(logging.CRITICAL)  # some say a line for every message that they change
    gc.collect()
    gc.freeze()  # what they have loaded need not be looked through before every call
    try:
        yield peers
    finally:
        gc.unfreeze()
        logging.disable(logging.NOTSET)


BY_MSGSPEC = ", its JSON by msgspec"


def encoders_of(peers: list[Peer], target: Target) -> dict[str, Encoder]:
    """What those have that can do this target, by name and version; twice, where the JSON is nearly all there is to do:
    as their SDK writes it, and as quickly as all the others."""
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
    """The same of what they send with."""
    found = {peer.title: peer.senders[target] for peer in peers}
    return {title: sender for title, sender in found.items() if isinstance(sender, Sender)}
