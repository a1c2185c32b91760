"""One version of segue in a process of its own: reads histories as JSON, and times what it is asked to do.

`versions.py` starts one for each version, with the sources of that version as its path. A line of input is a JSON list:
what to time, the file of a history, the model and its protocol. The answer is a line with the seconds.
"""

import json
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path
from time import thread_time

import segue

from .measure import seconds, without_garbage

REQUESTS = 500
LAST = 100


@cache
def history(path: str) -> segue.Context:
    return segue.Context.from_json(Path(path).read_bytes())


@cache
def model_of(ref: str, protocol: str) -> segue.Model:
    return segue.get_model(ref, protocol=protocol)


def from_scratch(context: segue.Context, model: segue.Model) -> float:
    """Seconds from a history to the bytes of a request."""
    return seconds(lambda: segue.encode(context, model).json())


def growing(context: segue.Context, model: segue.Model) -> float:
    """Seconds of one request, on average over the last requests of a session with two new messages in each."""
    lengths = range(1, 2 * REQUESTS, 2)
    contexts = [
        segue.Context(system_prompt=context.system_prompt, messages=context.messages[:length], tools=context.tools)
        for length in lengths
    ]
    renderer, start = segue.Renderer(model), 0.0
    with without_garbage():
        for number, (length, each) in enumerate(zip(lengths, contexts, strict=True)):
            if number == REQUESTS - LAST:
                start = thread_time()
            renderer.request(each, None, since=max(length - 2, 0)).pieces()
        return (thread_time() - start) / LAST


TIMED: dict[str, Callable[[segue.Context, segue.Model], float]] = {"from_scratch": from_scratch, "growing": growing}


def main() -> None:
    for line in sys.stdin:
        what, path, ref, protocol = json.loads(line)
        print(TIMED[what](history(path), model_of(ref, protocol)), flush=True)


if __name__ == "__main__":
    main()
