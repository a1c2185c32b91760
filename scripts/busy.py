"""Run the tests that use processes, threads, sockets or time repeatedly, together with processes that keep the machine
busy: a test that fails only here depends on timing. `make busy`, or:

    python scripts/busy.py --rounds 10 --busy 20 [TEST …]

The tests are collected once, and each of them runs that many times in a row. All child processes end with this process,
even if it is killed: each child reads from a pipe that is closed then.
"""

import argparse
import os
import re
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

ROOT = Path(__file__).parents[1]
TESTS = [
    *("agent", "bulk", "cli", "client", "gateway", "healing", "router", "session", "studio", "telemetry", "testing"),
    *("tools", "transport", "catalog/test_refreshed.py", "wire/*/test_answers.py"),
    *("test_docs.py", "test_first_minutes.py", "test_leftovers.py", "test_tour.py"),
]
"""Paths in tests/ of tests that use the network, wait, or start processes. All others do not depend on the load."""

BUSY = """
import os, threading
threading.Thread(target=lambda: (os.read(0, 1), os._exit(0)), daemon=True).start()
while True:
    pass
"""
PYTEST = """
import os, signal, sys, threading, time
import pytest
lifeline = os.dup(0)
os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
def end():
    os.read(lifeline, 1)
    os.kill(os.getpid(), signal.SIGINT)  # so that tests can end what they have started
    time.sleep(60)
    os.killpg(os.getpid(), signal.SIGKILL)
signal.signal(signal.SIGINT, signal.default_int_handler)
threading.Thread(target=end, daemon=True).start()
sys.exit(pytest.main(sys.argv[1:]))
"""


@contextmanager
def child(code: str, *arguments: str, rounds: int = 1, output: int | None = None) -> Iterator["subprocess.Popen[str]"]:
    """A Python process that ends when its standard input is closed."""
    command = [sys.executable, "-c", code, *arguments]
    with subprocess.Popen(
        command,
        cwd=ROOT,
        env={**os.environ, "SEGUE_BUSY": str(rounds)},  # fewer examples of each property: the rounds repeat them
        stdin=subprocess.PIPE,
        stdout=output,
        text=True,
        process_group=0,  # not its own session: Linux divides processors among sessions first
    ) as process:
        assert process.stdin is not None
        try:
            yield process
        finally:
            process.stdin.close()
            process.wait()


def failures_in(rounds: int, arguments: list[str]) -> Counter[str]:
    """Run the tests, and return how often each of them failed."""
    failed: Counter[str] = Counter()
    with child(PYTEST, *arguments, rounds=rounds, output=subprocess.PIPE) as tests:
        assert tests.stdout is not None
        for line in tests.stdout:
            print(line, end="", flush=True)
            if found := re.match(r"(?:FAILED|ERROR) (\S+)", line):
                failed[re.sub(r"-?round\d+", "", found[1]).replace("[]", "")] += 1
    if tests.returncode and not failed:
        failed[f"pytest itself, with status {tests.returncode}"] += 1
    return failed


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n\n")[0])
    parser.add_argument("--rounds", type=int, default=10, help="how often to run each test (10)")
    parser.add_argument("--busy", type=int, default=20, help="processes that keep the machine busy (20)")
    parser.add_argument("--workers", type=int, default=16, help="processes that run tests (16)")
    parser.add_argument(
        "tests", nargs="*", metavar="TEST", help="tests, as arguments of pytest; by default those listed in TESTS"
    )
    args = parser.parse_args()
    tests = args.tests or [str(path) for name in TESTS for path in sorted((ROOT / "tests").glob(name))]
    workers = ["-n", str(args.workers)] if args.workers > 1 else []
    with ExitStack() as stack:
        for _ in range(args.busy):
            stack.enter_context(child(BUSY))
        began = time.monotonic()
        failures = failures_in(args.rounds, ["-q", "-rfE", *workers, *tests])
        took, load = time.monotonic() - began, os.getloadavg()[0]
    print(f"{args.rounds} rounds: {took:.0f} s, load {load:.0f} at the end, {failures.total()} failures")
    for name, times in failures.most_common():
        print(f"failed in {times} of {args.rounds} rounds: {name}")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
