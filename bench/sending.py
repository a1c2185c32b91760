"""The cost of sending a history, from messages to an answer, with the single call that a user makes, and of peers.

Requests from scratch only show how each library makes a body. The total cost of a call also includes the library's
other work on the history, the provider's SDK, which reads every message again, its JSON, and HTTP.
"""

import os
import time
from collections.abc import Callable, Iterator
from functools import partial
from unittest.mock import patch

import segue
from segue.types import Context

from .conversations import tool_history
from .encoding import SEGUE, size_of
from .measure import Effort, Figure, measured
from .peers import loaded, senders_of
from .peers.encoders import KEY, REGION, TARGETS, Peer, Sender, Target, run as wait_for
from .provider import answering, arrived
from .report import Bars, Part, Section, Table, cell, ratio

COUNT = 1_000
EFFORT = Effort(15, 5, warm=False)  # every body was sent twice before, for a check

ABOUT = (
    f"{COUNT:,} messages, built beforehand, are sent to a provider on loopback with the function that each library "
    "offers: projection or conversion, the provider's SDK if one is used, JSON, HTTP, and reading a short answer. CPU "
    "time of this process is measured, in all threads, because some libraries work in other threads; the provider has "
    "its own process. Clients and connections are kept between calls. The fixed cost of a call is included for all. "
    "Every body was checked for all calls of the history. A body that is about a seventh smaller has lost the thinking."
)


def run() -> Iterator[Part]:
    context = tool_history(COUNT)
    panels: dict[str, dict[str, Figure]] = {}
    credentials = {"AWS_ACCESS_KEY_ID": KEY, "AWS_SECRET_ACCESS_KEY": KEY, "AWS_REGION": REGION}
    with patch.dict(os.environ, credentials), loaded(context) as (peers,):
        for target in TARGETS:
            senders = {SEGUE: own(context, target)} | senders_of(peers, target)
            with answering(target) as url:
                calls = {name: sender.at(url) for name, sender in senders.items()}
                sizes = {name: size_of(context, name, partial(sent, call, url)) for name, call in calls.items()}
                times = measured(calls, EFFORT, time.process_time)
            figures = {name: figure.times(1e6 / COUNT) for name, figure in times.items()}
            yield table(target, senders, sizes, figures, peers)
            panels[target.title] = figures
    yield Bars(
        "bench-send.svg",
        f"{COUNT:,} messages sent to a provider, by the call that a user makes (processor time a message, logarithmic)",
        "µs",
        panels,
        logarithmic=True,
    )


def own(context: Context, target: Target) -> Sender:
    model = segue.get_model(target.ref, protocol=target.protocol)

    def at(url: str) -> Callable[[], object]:
        connection = segue.Connection(base_url=url, api_key=KEY)

        def send() -> None:
            answer = wait_for(segue.complete(context, model, connection=connection))
            assert answer.stop_reason == "stop", answer.error_message

        return send

    return Sender(f"segue.complete(context, {model.ref})", at)


def sent(call: Callable[[], object], url: str) -> bytes:
    """The body that a call sends."""
    call()
    return arrived(url)


def table(
    target: Target, senders: dict[str, Sender], sizes: dict[str, int], figures: dict[str, Figure], peers: list[Peer]
) -> Table:
    rows = [
        (
            name,
            cell(figures[name], "µs"),
            ratio(figures[name], figures[SEGUE], SEGUE),
            f"{sizes[name] / 1e3:,.0f} KB",
            sender.called,
        )
        for name, sender in senders.items()
    ]
    left_out = {peer.title: why for peer in peers if isinstance(why := peer.senders[target], str)}
    rows += [(title, "", "", "", f"left out: {why}") for title, why in left_out.items()]
    return Table(
        f"To {target.title} ({target.model}) and back, µs per message",
        ("", f"{COUNT:,} messages", "ratio", "body that arrived", "called"),
        rows,
    )


SECTION = Section("send", "A history to a provider: the call that a user makes", run, ABOUT)
