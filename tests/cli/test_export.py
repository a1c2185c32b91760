"""`segue export`: a conversation in the form of a protocol, as one line of JSON."""

import io
import json
from pathlib import Path
from types import SimpleNamespace

import pytest

import segue
from segue.cli import main
from segue.wire.registry import PROTOCOLS

EXAMPLE = Path(__file__).parents[2] / "examples" / "three-models.json"


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_the_body_is_printed_and_changes_are_counted(
    protocol: str, capsysbinary: pytest.CaptureFixture[bytes], tmp_path: Path
) -> None:
    assert main(["export", str(EXAMPLE), "--as", protocol]) == 0
    done = capsysbinary.readouterr()
    exported = segue.export(segue.Context.from_json(EXAMPLE.read_bytes()), protocol)
    assert done.out == exported.json() + b"\n"
    assert f"segue: 1 conversation as {protocol}: " in done.err.decode()
    for change in exported.changes:
        assert f" × {change.code}" in done.err.decode()
    (tmp_path / "body.json").write_bytes(done.out)
    assert main(["import", str(tmp_path / "body.json"), "--from", protocol]) == 0


def test_a_bad_line_is_reported_and_the_others_are_exported(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    lines = b'{"messages":[{"role":"user","content":"one"}]}\n{"messages":3}\n{"messages":[]}\n'
    monkeypatch.setattr("sys.stdin", SimpleNamespace(buffer=io.BytesIO(lines), fileno=lambda: 0))
    assert main(["export", "-", "--as", "mistral-chat"]) == 2
    done = capsys.readouterr()
    assert [json.loads(line) for line in done.out.splitlines()] == [
        {"messages": [{"role": "user", "content": "one"}]},
        {"messages": []},
    ]
    assert done.err.splitlines()[-1] == "segue: 2 conversations as mistral-chat: no changes"
    assert "standard input:2" in done.err


def test_a_protocol_is_required(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="2"):
        main(["export", str(EXAMPLE)])
    assert "--as" in capsys.readouterr().err
