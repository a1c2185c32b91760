"""How many requests for the conversations of the failure corpus would be accepted, by library and target.

Every library sends every conversation to every target on loopback; `bench.judge` judges the bodies that arrive.
"""

import json
import logging
import os
import subprocess
import sys
import warnings
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple
from unittest.mock import patch

from .corpus import Conversation, conversations, opaque_values
from .histories import Sent, send_all
from .judge import DISPUTED, Refusal
from .measure import Figure
from .peers.encoders import CHAT, KEY, REGION, RESPONSES, Target
from .provider import Recorder
from .report import Bars, Part, Section, Table
from .users import Library, libraries
from .users.library import ALL, title_of

ROOT = Path(__file__).parent.parent
BODIES = ROOT / "build" / "accepted"
JUDGE = Path(sys.prefix).parent / "bin" / "python"
"""The environment of the tests, which contains this one."""
SHOWN = 3

ABOUT = (
    "A conversation that changes models, is interrupted, cut or edited is refused by providers in many ways. "
    "`tests/cases/corpus` and `tests/cases/scenarios` collect such conversations from public issue threads. Each "
    "library sends each of them to each target, with the call that its users make. The bodies are recorded on loopback "
    "and judged; nothing is sent to a provider. The corpus is segue's own: it was collected to build segue, so the row "
    "of segue shows that segue does what it is made for. The other rows show how often users of other libraries meet "
    "these refusals."
    "\n\n"
    "**How a history is built.** As users of each library build it. The answers of a conversation are served in the "
    "protocol of the provider that gave them, the library reads them, and what it returns is appended to its messages. "
    "Messages of the user and results of tools are written as the library's documentation shows, with the ids that the "
    "library returned. An answer that failed is marked as failed where the library has such a mark, and left out where "
    "the library cannot read it. All tools of a history are defined, except where a case is about missing tools."
    "\n\n"
    "**Who judges.** The rules of `segue lint`, each with its source ([all rules](rules.md)); they contain the "
    "request types of the providers' SDKs as tables. botocore's validator for Bedrock, and the validator of "
    "mistral-common for Mistral. Signatures: those in a body must be of the target's own provider (Anthropic documents "
    "that its signatures are also valid on Bedrock). Warnings do not count, and where sources disagree, the milder "
    "reading counts; the last table lists these rules."
    "\n\n"
    "**How to repeat it.** `make bench ONLY=accepted` in a clone of the repository. It installs the pinned versions of "
    "all libraries, writes this page, and writes every body with its verdict to `build/accepted/`. How each library is "
    "used is in `bench/users/`, one file each; the judges are in `bench/judge.py`. Corrections are welcome."
)


class Verdict(NamedTuple):
    """What became of one conversation with one library and target."""

    names: tuple[str, ...]
    sent: Sent
    refusals: list[Refusal]

    @property
    def counted(self) -> list[Refusal]:
        return [refusal for refusal in self.refusals if not refusal.disputed]

    @property
    def accepted(self) -> bool:
        return not self.sent.raised and not self.counted


Verdicts = dict[tuple[str, Target], list[Verdict]]


def run() -> Iterator[Part]:
    every, used = conversations(), libraries()
    with quiet(), Recorder().running() as server:
        verdicts = judge_all([(library, each, send_all(library, each, server)) for library in used for each in every])
    write_bodies(verdicts)
    titles = list(dict.fromkeys(title for title, _ in verdicts))
    yield shares(titles, verdicts, len(every))
    yield Bars("bench-accepted.svg", TITLE, "%", panels(titles, verdicts))
    for target in ALL:
        yield refusals(target, titles, verdicts)
    yield calls(used)
    yield disputed(titles, verdicts)


@contextmanager
def quiet() -> Iterator[None]:
    """Some libraries log or warn for every message that they change. Clients of Bedrock require credentials."""
    credentials = {"AWS_ACCESS_KEY_ID": KEY, "AWS_SECRET_ACCESS_KEY": KEY, "AWS_REGION": REGION}
    logging.disable(logging.CRITICAL)
    try:
        with patch.dict(os.environ, credentials), warnings.catch_warnings(action="ignore"):
            yield
    finally:
        logging.disable(logging.NOTSET)


TITLE = "Conversations of the failure corpus whose request would be accepted"


# -- judging -----------------------------------------------------------------------------------------------------------


def judge_all(sent: list[tuple[Library, Conversation, dict[Target, Sent]]]) -> Verdicts:
    """Judge all bodies, in the environment of the tests."""
    rows = [
        (title_of(library), target, each, done)
        for library, each, by_target in sent
        for target, done in by_target.items()
    ]
    bodies = [question(target, each, done) for _, target, each, done in rows if not done.raised]
    answers = iter(asked_judge(bodies))
    found: Verdicts = {}
    for title, target, each, done in rows:
        refusals = [] if done.raised else [Refusal(*refusal) for refusal in json.loads(next(answers))]
        found.setdefault((title, target), []).append(Verdict(each.names, done, refusals))
    return found


def question(target: Target, conversation: Conversation, sent: Sent) -> str:
    # any-llm falls back to chat completions where it has no reason to use Responses.
    spoken = CHAT if target == RESPONSES and sent.path.endswith("/chat/completions") else target
    own = opaque_values(conversation.context, FAMILIES.get(target.provider, (target.provider,)))
    return json.dumps([spoken.protocol, spoken.ref, sent.body.decode("utf-8", "surrogatepass"), own])


FAMILIES = {
    "anthropic": ("anthropic", "amazon-bedrock"),
    "amazon-bedrock": ("anthropic", "amazon-bedrock"),
}
"""Providers that accept each other's signatures: "signature values are compatible across platforms" (Anthropic,
Extended thinking, 2026-11)."""


def asked_judge(bodies: list[str]) -> list[str]:
    command = [str(JUDGE), "-W", "ignore", "-m", "bench.judge"]
    done = subprocess.run(command, cwd=ROOT, input="\n".join(bodies), capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"the judge failed; `make bench` installs what it needs:\n{done.stderr}")
    return done.stdout.splitlines()


def write_bodies(verdicts: Verdicts) -> None:
    """Everything that was judged, one file for each library and target."""
    BODIES.mkdir(parents=True, exist_ok=True)
    for (title, target), every in verdicts.items():
        rows = [
            {
                "conversation": each.names,
                "accepted": each.accepted,
                "raised": each.sent.raised,
                "refusals": [refusal._asdict() for refusal in each.refusals],
                "path": each.sent.path,
                "body": json.loads(each.sent.body or b"null"),
            }
            for each in every
        ]
        name = f"{title.split()[0]}-{target.title.replace(' ', '-')}.json".lower()
        (BODIES / name).write_text(json.dumps(rows, indent=1))


# -- tables ------------------------------------------------------------------------------------------------------------


def shares(titles: list[str], verdicts: Verdicts, count: int) -> Table:
    rows = []
    for title in titles:
        by_target = [verdicts[title, target] for target in ALL]
        cells = [str(accepted(every)) for every in by_target]
        total = sum(map(accepted, by_target))
        rows.append((title, *cells, f"{total} of {len(ALL) * count} ({100 * total / len(ALL) / count:.0f} %)"))
    return Table(
        f"Accepted requests, of {count} conversations each", ("", *(target.title for target in ALL), "all"), rows
    )


def accepted(every: list[Verdict]) -> int:
    return sum(verdict.accepted for verdict in every)


def panels(titles: list[str], verdicts: Verdicts) -> dict[str, dict[str, Figure]]:
    return {
        target.title: {
            title: Figure.of([100 * accepted(verdicts[title, target]) / len(verdicts[title, target])])
            for title in titles
        }
        for target in ALL
    }


def refusals(target: Target, titles: list[str], verdicts: Verdicts) -> Table:
    """The three most frequent refusals of each library, in the provider's words."""
    rows = []
    for title in titles:
        every = verdicts[title, target]
        raised = sum(bool(verdict.sent.raised) for verdict in every)
        refused = len(every) - accepted(every) - raised
        words = Counter(text for verdict in every for text in {refusal.words for refusal in verdict.counted})
        errors = Counter(shortened(verdict.sent.raised) for verdict in every if verdict.sent.raised)
        rows.append((title, f"{accepted(every)}", f"{refused}", most(words), f"{raised}", most(errors)))
    words_head = "most frequent refusals, in the provider's words"
    head = ("", "accepted", "refused", words_head, "raised", "most frequent errors")
    return Table(f"{target.title} ({target.model})", head, rows)


def most(texts: "Counter[str]") -> str:
    ranked = sorted(texts.items(), key=lambda pair: (-pair[1], pair[0]))
    return "; ".join(f"{count} × “{text}”" for text, count in ranked[:SHOWN])


def shortened(raised: str) -> str:
    """An error without the values in it, so that equal errors are counted together."""
    return raised.partition(" Received - ")[0].partition(" in position ")[0].partition(" Traceback ")[0][:160]


def calls(used: list[Library]) -> Table:
    rows = [
        (title_of(library), target.title, f"`{library.called(target)}`", "" if number else library.settings)
        for library in used
        for number, target in enumerate(library.targets)
    ]
    return Table("How each library was called", ("", "target", "call", "switched on"), rows)


def disputed(titles: list[str], verdicts: Verdicts) -> Table:
    """What would change if the disputed rules counted."""
    rows = []
    for row in DISPUTED:
        counts = [
            sum(
                verdict.accepted and any(refusal.judge == row.rule for refusal in verdict.refusals)
                for target in ALL
                for verdict in verdicts[title, target]
            )
            for title in titles
        ]
        rows.append((row.rule, row.why, *map(str, counts)))
    head = ("rule", "why it is not counted", *titles)
    return Table("Rules that are not counted, and how many accepted requests break them", head, rows)


SECTION = Section("accepted", "Accepted requests", run, ABOUT, page="accepted.md")
