"""Files that are cut off or changed at random places: they are read as far as possible, or refused with an error of
segue."""

import json
import os
import random
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from support.mutations import OTHERS
from support.transcripts import CASES, lay_out

import segue
from segue import transcripts

CUTS = 10
CHANGES = 14


def attempt(path: Path) -> None:
    """Read a file. Anything but an error of segue fails the test."""
    for use in (transcripts.read, transcripts.list):
        with suppress(segue.SegueError):
            use(path)


@pytest.mark.parametrize("path", CASES, ids=[f"{path.parent.name}-{path.stem}" for path in CASES])
def test_a_file_that_is_cut_off_or_changed_raises_no_foreign_error(path: Path, tmp_path: Path) -> None:
    case = json.loads(path.read_text("utf-8"))
    choose = random.Random(path.stem)
    file = lay_out(case, tmp_path)
    if file.is_dir():
        file = next(each for each in sorted(file.rglob("*")) if each.is_file())
    whole = file.read_bytes()
    for _ in range(CUTS):
        file.write_bytes(whole[: choose.randrange(len(whole))])
        attempt(file)
    for changed in _changed(whole, choose):
        file.write_bytes(changed)
        attempt(file)


def _changed(data: bytes, choose: random.Random) -> Iterator[bytes]:
    """The file with a random value of JSON changed; one that is not JSON with a random byte changed."""
    documents = [_read(line) for line in data.splitlines()]
    if any(isinstance(each, dict) for each in documents):
        for _ in range(CHANGES):
            at = choose.randrange(len(documents))
            lines = [json.dumps(each) for each in documents]
            lines[at] = json.dumps(_mutant(documents[at], choose))
            yield "\n".join(lines).encode("utf-8", "replace")
    elif (document := _read(data)) is not None:
        for _ in range(CHANGES):
            yield json.dumps(_mutant(document, choose)).encode("utf-8", "replace")
    else:
        for _ in range(CHANGES):
            at = choose.randrange(len(data))
            yield data[:at] + bytes([choose.randrange(256)]) + data[at + 1 :]


def _read(data: bytes) -> Any:
    try:
        return json.loads(data)
    except ValueError:
        return None


def _mutant(document: Any, choose: random.Random) -> Any:
    """A copy of the document in which one value is replaced or removed."""
    copy = json.loads(json.dumps(document))
    places = [*_places(copy)]
    if not places:
        return choose.choice(OTHERS)
    container, key = choose.choice(places)
    if isinstance(container, dict) and choose.random() < 0.3:
        del container[key]
    else:
        container[key] = choose.choice(OTHERS)
    return copy


def _places(value: Any) -> Iterator[tuple[Any, Any]]:
    for key, item in value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ():
        yield value, key
        yield from _places(item)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no named pipes")
def test_a_pipe_is_refused_because_it_can_be_read_only_once(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(segue.FormatError, match="save it as a file"):
        segue.transcripts.read(tmp_path / "pipe")
