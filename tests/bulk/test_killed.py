"""A run that is killed and started again gives the same files as one run: no row twice, none missing."""

import os
import random
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from support.corpora import IS_LARGE, TARGETS, write
from support.waiting import until

import segue
from segue.bulk import Settings, on_this_machine, run

COUNT, KILLS = (20_000, 50) if IS_LARGE else (160, 3)
SHARD_BYTES = 100_000 if IS_LARGE else 8_000
SCRIPT = """
import sys, segue
from segue.bulk import Settings, run
path, out, target, size, drops = sys.argv[1:]
settings = Settings(command="convert", model=segue.get_model(target), drops_duplicates=drops == "True")
run(settings, [path], out, shard_bytes=int(size))
"""


def files(out: Path) -> dict[str, bytes]:
    """Everything that a run leaves, apart from its manifest, in which the order of shards may differ."""
    found = [file for file in sorted(out.rglob("*")) if file.is_file() and file.name != "manifest.json"]
    return {str(file.relative_to(out)): file.read_bytes() for file in found}


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no process groups to kill")
@pytest.mark.parametrize("drops", [False, True])
def test_a_run_that_is_killed_again_and_again_gives_the_same_files_as_one_run(drops: bool, tmp_path: Path) -> None:
    path, out, chance = write(tmp_path / "corpus.jsonl", COUNT), tmp_path / "out", random.Random(7)
    settings = Settings(command="convert", model=segue.get_model(TARGETS[1]), drops_duplicates=drops)
    run(settings, [str(path)], str(tmp_path / "once"), engine=on_this_machine(1), shard_bytes=SHARD_BYTES)
    expected = files(tmp_path / "once")
    shards = sum(name.startswith("corpus-") for name in expected)
    assert shards > KILLS
    arguments = [str(path), str(out), TARGETS[1], str(SHARD_BYTES), str(drops)]
    killed = 0
    for kill in range(KILLS + 1):
        process = subprocess.Popen([sys.executable, "-c", SCRIPT, *arguments], start_new_session=True)
        if kill < KILLS:
            wanted = kill * shards // (KILLS + 1)

            def far_enough(wanted: int = wanted, process: "subprocess.Popen[bytes]" = process) -> bool:
                return process.poll() is not None or len(list(out.glob("corpus-*.jsonl"))) > wanted

            until(far_enough)
            until(lambda: chance.random() < 0.3)  # not always right after a shard was finished
            killed += process.poll() is None
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        else:
            assert process.wait() == 0
    assert killed
    assert files(out) == expected


class Killed(BaseException):
    """In place of a kill."""


@pytest.mark.parametrize("drops", [False, True])
def test_a_run_that_ends_at_any_file_is_continued(drops: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every file appears by a rename: the run ends before each of them, and nothing is tidied up."""
    path = write(tmp_path / "corpus.jsonl", 60)
    settings = Settings(command="convert", model=segue.get_model(TARGETS[1]), drops_duplicates=drops)
    monkeypatch.setattr("segue.bulk.manifest.PAUSE", 0.0)

    def convert(out: Path) -> None:
        run(settings, [str(path)], str(out), engine=on_this_machine(1), shard_bytes=15_000)

    convert(tmp_path / "once")
    expected = files(tmp_path / "once")
    rename, left, renamed = os.replace, [0], 0

    def dying(source: Path, target: Path) -> None:
        left[0] -= 1
        if not left[0]:
            raise Killed
        rename(source, target)

    while True:
        renamed += 1
        out = tmp_path / str(renamed)
        left[0] = renamed
        with monkeypatch.context() as patched:
            patched.setattr("os.replace", dying)
            patched.setattr(Path, "unlink", lambda self, missing_ok=False: None)
            try:
                convert(out)
            except Killed:
                pass
            else:
                break
        convert(out)
        assert files(out) == expected
    assert renamed > (20 if drops else 12)
