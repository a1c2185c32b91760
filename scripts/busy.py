"""Run the tests that use processes, threads, sockets or time repeatedly, together with processes that keep the machine
busy: a test that fails only here depends on timing. `make busy`, or:

    python scripts/busy.py --rounds 10 --busy 20 [TEST …]

A first run without busy processes finds these tests: it notes which of them start a process or a thread, open a socket,
run an event loop or sleep (tests/support/busy.py). Their names are kept in build/busy-tests.txt; delete it after tests
were added. Then each of them runs that many times. All child processes end with this process, even if it is killed:
each child reads from a pipe that is closed then.
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
from tempfile import TemporaryDirectory

ROOT = Path(__file__).parents[1]
FOUND = ROOT / "build" / "busy-tests.txt"
"""The names of the tests that depend on more than the processor. All others do not depend on the load."""

GOOD = re.compile(r"tests/.* $|\[gw\d+\] \[ *(\d+)%\] (?:PASSED|SKIPPED)")
"""Lines of `pytest -v`: the beginning of a test, and its good end."""

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
def child(code: str, *arguments: str, output: int | None = None, **variables: str) -> Iterator["subprocess.Popen[str]"]:
    """A Python process that ends when its standard input is closed."""
    command = [sys.executable, "-c", code, *arguments]
    with subprocess.Popen(
        command,
        cwd=ROOT,
        env={**os.environ, **variables},
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


def run_tests(mode: str, names: Path, arguments: list[str]) -> Counter[str]:
    """Run pytest in a mode of tests/support/busy.py, and return how often each test failed."""
    failed: Counter[str] = Counter()
    # With this variable there are fewer examples of each property: the rounds repeat them.
    variables = {"SEGUE_BUSY": mode, "SEGUE_BUSY_TESTS": str(names)}
    percents: set[str] = set()
    with child(PYTEST, "-v", "-rfE", *arguments, output=subprocess.PIPE, **variables) as tests:
        assert tests.stdout is not None
        for line in tests.stdout:
            good = GOOD.match(line)
            if good is None or good[1] not in (None, *percents):  # failures as they happen, and a line per percent
                print(line, end="", flush=True)
            percents |= {good[1]} if good and good[1] else set()
            if found := re.match(r"(?:FAILED|ERROR) (\S+)", line):
                failed[re.sub(r"-?round\d+", "", found[1]).replace("[]", "")] += 1
    if tests.returncode and not failed:
        failed[f"pytest itself, with status {tests.returncode}"] += 1
    return failed


def find() -> Counter[str]:
    """Run the tests once, and keep the names of those that depend on the load."""
    FOUND.parent.mkdir(exist_ok=True)
    with TemporaryDirectory(dir=FOUND.parent) as folder:
        names = Path(folder) / "names"
        failures = run_tests("find", names, ["-n", "2"])
        if not failures:
            FOUND.write_text("\n".join(sorted(set(names.read_text().split()))))
    return failures


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n\n")[0])
    parser.add_argument("--rounds", type=int, default=10, help="how often to run each test (10)")
    parser.add_argument("--busy", type=int, default=20, help="processes that keep the machine busy (20)")
    parser.add_argument("--workers", type=int, default=16, help="processes that run tests (16)")
    parser.add_argument("tests", nargs="*", metavar="TEST", help="files or folders of tests; all by default")
    args = parser.parse_args()
    if not FOUND.exists() and (failures := find()):
        return report("the first run", failures)
    files = sorted({name.partition("::")[0] for name in FOUND.read_text().split()})
    chosen = [each for each in files if not args.tests or any(Path(each).is_relative_to(test) for test in args.tests)]
    if not chosen:
        parser.error(f"no test of these uses processes, threads, sockets or time: {' '.join(args.tests)}")
    with ExitStack() as stack:
        for _ in range(args.busy):
            stack.enter_context(child(BUSY))
        began = time.monotonic()
        failures = run_tests(str(args.rounds), FOUND, ["-n", str(args.workers), *chosen])
        took, load = time.monotonic() - began, os.getloadavg()[0]
    return report(f"{args.rounds} rounds: {took:.0f} s, load {load:.0f} at the end", failures)


def report(what: str, failures: Counter[str]) -> int:
    """Print the result, and return the status of the process."""
    print(f"{what}, {failures.total()} failures")
    for name, times in failures.most_common():
        print(f"failed {times} times: {name}")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
