"""What the recipes share: ask a strict stand-in without segue and with it, and print what happens.

The stand-in plays a provider on this machine and refuses what the provider refuses, in its words. No account is needed.
"""

import logging
import sys
from collections.abc import Callable, Sequence
from typing import Any

from segue.testing import StandIn

ANSWER = "It is 18 degrees in Paris."
Ask = Callable[[StandIn, bool], str]


def show(ask: Ask, history: Any, provider: str = "mistral", script: Sequence[Any] = (ANSWER,)) -> None:
    """Call ``ask`` without segue and with it. The exit status is 1 unless only the first one fails.

    ``history`` is what the framework stores; it must stay as it is.
    """
    stored = plain(history)
    handler = logging.StreamHandler(sys.stdout)
    handler.setFormatter(Lines())
    logging.getLogger("segue").addHandler(handler)
    logging.getLogger("segue").setLevel(logging.INFO)
    refused = asked(ask, provider, script, repaired=False)
    accepted = not asked(ask, provider, script, repaired=True)
    unchanged = plain(history) == stored
    print(f"history:       {'unchanged' if unchanged else 'CHANGED'}", flush=True)
    sys.exit(not (refused and accepted and unchanged))


def asked(ask: Ask, provider: str, script: Sequence[Any], *, repaired: bool) -> bool:
    """Ask a new stand-in, print its answer or its refusal, and return whether the caller got the refusal."""
    title = "with segue:" if repaired else "without segue:"
    with StandIn(provider, script=script) as server:
        try:
            print(f"{title:14} {ask(server, repaired)}", flush=True)
        except Exception:  # each framework has its own error for a refusal
            if not server.refused:
                raise
            print(f"{title:14} refused ({server.refused[-1].status}): {server.refused[-1].text}", flush=True)
            return True
    return False


class Lines(logging.Formatter):
    """One line of the log for each change."""

    def format(self, record: logging.LogRecord) -> str:
        return "\n".join(f"segue's log:   {line}" for line in record.getMessage().splitlines())


def plain(value: Any) -> Any:
    """A copy that can be compared, of a framework's objects."""
    if isinstance(value, dict):
        return {key: plain(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [plain(each) for each in value]
    return plain(vars(value)) if hasattr(value, "__dict__") and not isinstance(value, type) else repr(value)
