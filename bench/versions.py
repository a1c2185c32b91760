"""What rendering costs beside an earlier version, and beside the peers, in one run.

Both versions run in processes of their own, each with its own sources, and take turns with the peers.
"""

import json
import os
import subprocess
import sys
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from io import BytesIO
from pathlib import Path
from tempfile import TemporaryDirectory

import segue
from segue.types import Context

from .conversations import tool_history
from .measure import Effort, Figure, seconds
from .own_history import own_history, without_thinking
from .peers import BY_MSGSPEC, any_llm, encoders_of, loaded
from .peers.encoders import ANTHROPIC, GEMINI, MISTRAL, TARGETS, Peer, Target
from .report import Part, Section, Table, cell, ratio
from .version_worker import LAST

EARLIER = "fc09bd3"
ROOT = Path(__file__).resolve().parent.parent
MESSAGES = 1_000
EFFORT = Effort(25, 20, least=5)
THIS, BEFORE = "this version", f"earlier version ({EARLIER})"
OWN, FOREIGN, PLAIN = "own", "foreign", "plain"
GROWING = "growing"
TITLES = {
    OWN: f"A history of {MESSAGES:,} messages that the target itself made, from scratch, µs per message",
    FOREIGN: f"A history of {MESSAGES:,} messages that another model made, from scratch, µs per message",
    PLAIN: f"A history of {MESSAGES:,} messages of the target itself, without thinking, from scratch, µs per message",
    GROWING: f"One request of a growing session: the last {LAST} until {MESSAGES:,} messages, µs per request",
}

ABOUT = (
    f"The earlier version is commit {EARLIER}, the last one before conversations could hold files and provider "
    "content; it runs from its own "
    "sources, with the same dependencies, in its own process. A history that the target itself made has the ids of its "
    "protocol, and its thinking where the target accepts it; one of another model was made by Claude, or by Gemini for "
    "Anthropic. Peers: from their own messages, built beforehand, to what they pass to the provider's SDK, and its "
    "JSON; in a growing session they convert the whole history for each request. any-llm neither repairs a history nor "
    "keeps its thinking, so it is measured only where there is none."
)


def run() -> Iterator[Part]:
    with TemporaryDirectory() as folder:
        try:
            earlier = checked_out(Path(folder))
        except Unavailable as error:
            yield Table("Left out", ("the earlier version", "why"), [(EARLIER, str(error))])
            return
        with version(ROOT) as this, version(earlier) as before:
            found = {target: measured(target, Path(folder), this, before) for target in (*TARGETS, MISTRAL)}
    for kind, title in TITLES.items():
        yield table(title, {target: figures[kind] for target, figures in found.items()})


class Unavailable(Exception):
    """The earlier version cannot be had here; the text says why."""


def checked_out(folder: Path) -> Path:
    """The sources of the earlier version, from the history of this repository."""
    try:
        command = ["git", "-C", str(ROOT), "archive", "--format=zip", EARLIER, "src"]
        archive = subprocess.run(command, capture_output=True, check=True).stdout
    except FileNotFoundError:
        raise Unavailable("git is not installed") from None
    except subprocess.CalledProcessError as error:
        raise Unavailable(f"git archive: {error.stderr.decode(errors='replace').strip()}") from None
    with zipfile.ZipFile(BytesIO(archive)) as files:
        files.extractall(folder / "earlier")
    return folder / "earlier"


Ask = Callable[..., float]


@contextmanager
def version(root: Path) -> Iterator[Ask]:
    """A function that asks the segue under ``root``, in a process of its own, how many seconds something takes."""
    environment = os.environ | {"PYTHONPATH": str(root / "src")}
    command = [sys.executable, "-m", "bench.version_worker"]
    with subprocess.Popen(
        command, env=environment, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as worker:
        questions, answers = worker.stdin, worker.stdout
        assert questions is not None
        assert answers is not None

        def ask(*question: str) -> float:
            print(json.dumps(question), file=questions, flush=True)
            answer = answers.readline()
            if not answer:
                raise RuntimeError(f"the segue of {root} stopped when it was asked for {question}")
            return float(answer)

        yield ask


def histories(target: Target) -> dict[str, Context]:
    """The histories to render for a target, by kind."""
    history = tool_history(MESSAGES)
    own = own_history(history, model_of(target))
    foreign = own_history(history, model_of(GEMINI)) if target is ANTHROPIC else history
    return {OWN: own, FOREIGN: foreign, PLAIN: without_thinking(own)}


def model_of(target: Target) -> segue.Model:
    return segue.get_model(target.ref, protocol=target.protocol)


def measured(target: Target, folder: Path, this: Ask, before: Ask) -> dict[str, dict[str, Figure]]:
    """Figures by kind and name: µs per message, and of a growing session per request."""
    found: dict[str, dict[str, Figure]] = {}
    contexts = histories(target)
    with loaded(*contexts.values()) as peers:
        for kind, context, with_messages in zip(contexts, contexts.values(), peers, strict=True):
            path = folder / f"{kind}-{target.protocol}.json"
            path.write_bytes(context.to_json())
            asked = (str(path), target.ref, target.protocol)
            calls = {name: partial(ask, "from_scratch", *asked) for name, ask in ((THIS, this), (BEFORE, before))}
            calls |= peer_calls(with_messages, target, kind)
            found[kind] = {name: figure.times(1e6 / MESSAGES) for name, figure in in_turns(calls).items()}
            if kind == OWN:
                sessions = {name: partial(ask, GROWING, *asked) for name, ask in ((THIS, this), (BEFORE, before))}
                found[GROWING] = {name: figure.times(1e6) for name, figure in in_turns(sessions).items()}
    # A peer has nothing that grows: a request costs what its whole history costs.
    whole = {name: figure.times(MESSAGES) for name, figure in found[OWN].items() if name not in (THIS, BEFORE)}
    found[GROWING] |= whole
    return found


def peer_calls(peers: list[Peer], target: Target, kind: str) -> dict[str, partial[float]]:
    """What the peers do that can have this history, by their names."""
    able = [peer for peer in peers if target in peer.encoders and (kind == PLAIN or peer.name != any_llm.NAME)]
    encoders = encoders_of(able, target)
    return {name: partial(seconds, each.encode) for name, each in encoders.items() if not name.endswith(BY_MSGSPEC)}


def in_turns(calls: dict[str, partial[float]]) -> dict[str, Figure]:
    """Seconds of each call in several rounds, after one that does not count."""
    taken: dict[str, list[float]] = {name: [] for name in calls}
    for call in calls.values():
        call()
    for _ in EFFORT.rounds():
        for name, call in calls.items():
            taken[name].append(call())
    return {name: Figure.of(values) for name, values in taken.items()}


def table(title: str, found: dict[Target, dict[str, Figure]]) -> Table:
    names = list(dict.fromkeys(name for figures in found.values() for name in figures))
    rows = []
    for target, figures in found.items():
        cells = [cell(figures[name], "µs") if name in figures else "" for name in names]
        cells.insert(2, ratio(figures[THIS], figures[BEFORE], "earlier"))
        rows.append((f"{target.title} ({target.model})", *cells))
    names.insert(2, "ratio")
    return Table(title, ("target", *names), rows)


SECTION = Section("versions", "Rendering, beside an earlier version", run, ABOUT)
