"""`segue bulk` over a corpus with torn and unreadable rows: every row is converted, checked or rejected, and counted.

`make endurance` runs the same tests with 100,000 conversations.
"""

import gzip
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import zstandard
from support import type_judges
from support.cases import CASES
from support.corpora import (
    IS_LARGE,
    REJECTED_EVERY,
    TARGETS,
    clean,
    expected_changes,
    rows as corpus_rows,
    write,
    written,
)
from support.transcripts import CASES as FORMS, lay_out
from support.waiting import HANGS

import segue
from segue.bulk import Progress, Settings, on_this_machine, run
from segue.bulk.inputs import LEAST_SHARD_BYTES
from segue.cli import main

COUNT = 100_000 if IS_LARGE else 400
SAMPLE = COUNT // 40
JUDGES = dict(zip(TARGETS, (type_judges.anthropic, type_judges.responses, type_judges.mistral), strict=True))
ONE_CORE = on_this_machine(1)


def convert(path: Path, out: Path, **changed: Any) -> segue.bulk.Report:
    settings = {"model": segue.get_model(TARGETS[0])} | changed
    return run(Settings(command="convert", **settings), [str(path)], str(out), engine=ONE_CORE, shard_bytes=40_000)


@pytest.mark.parametrize("target", TARGETS)
def test_a_torn_corpus_is_valid_for_the_target_and_every_row_is_counted(target: str, tmp_path: Path) -> None:
    path, model = write(tmp_path / "corpus.jsonl", COUNT), segue.get_model(target)
    changes, refused = expected_changes(model, COUNT)
    report = run(Settings(command="convert", model=model), [str(path)], str(tmp_path / "out"))
    assert report.rows == COUNT
    assert report.rejected == refused >= COUNT // REJECTED_EVERY
    assert {code: line.rows for code, line in report.changes.items()} == changes
    assert report.fine + report.changed + report.rejected == COUNT
    done = written(tmp_path / "out")
    assert len(done) == COUNT - refused
    assert all(row["note"] == f"row {row['id']}" and row["rate"] == 1.5 for row in done)
    for at, row in enumerate(done):
        findings = segue.lint(row["messages"], model.protocol, model)
        assert [finding for finding in findings if finding.severity == "error"] == []
        if at % max(len(done) // SAMPLE, 1) == 0:
            assert JUDGES[target](row["messages"]) == []


def test_rejected_rows_are_written_with_their_place_and_reason(tmp_path: Path) -> None:
    path = write(tmp_path / "corpus.jsonl", 200)
    report = convert(path, tmp_path / "out")
    rejected = [json.loads(line) for line in (tmp_path / "out" / "rejected.jsonl").read_bytes().splitlines()]
    assert [row["row"] - 1 for row in rejected] == [at for at, found, _ in corpus_rows(200) if found is None]
    assert len(rejected) == report.rejected == sum(line.rows for line in report.reasons.values())
    assert all(row["file"] == str(path) and row["reason"] for row in rejected)
    assert rejected[0]["data"] == '{"id":39,"messages":['  # not JSON: the text itself
    assert rejected[1]["data"] == {"id": 79, "messages": "no conversation"}


def test_examples_name_rows_of_the_input(tmp_path: Path) -> None:
    path = write(tmp_path / "corpus.jsonl", 200)
    report = convert(path, tmp_path / "out")
    lines = path.read_text().splitlines()
    for code, line in report.changes.items():
        assert 0 < len(line.examples) <= 3
        for example in line.examples:
            stored = segue.Context.from_json(lines[example.row - 1])
            assert code in [change.code for change in segue.encode(stored, TARGETS[0]).changes]


@pytest.mark.parametrize("in_memory", [1 << 15, 10])
def test_duplicates_are_counted_and_dropped_on_request_wherever_they_are(
    in_memory: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("segue.bulk.duplicates.IN_MEMORY", in_memory)  # of 181 rows
    numbers = [at % 60 for at in range(180)]
    path = tmp_path / "corpus.jsonl"
    texts = [json.dumps(json.loads(clean(at).to_json()) | {"id": place}) for place, at in enumerate(numbers)]
    path.write_text("\n".join([*texts, "", "{"]) + "\n")
    assert convert(path, tmp_path / "counted").duplicates == 120
    report = convert(path, tmp_path / "dropped", drops_duplicates=True)
    assert (report.duplicates, report.dropped, report.rejected, report.rows) == (120, 120, 1, 181)
    assert [row["id"] for row in written(tmp_path / "dropped")] == list(range(60))
    assert len(written(tmp_path / "counted")) == 180


def test_lines_are_converted_without_pyarrow_which_needs_much_memory(tmp_path: Path) -> None:
    path = write(tmp_path / "corpus.jsonl", 50)
    script = """
import sys
from segue.bulk import Settings, on_this_machine, run
settings = Settings(command="convert", protocol="openai-completions", drops_duplicates=True)
report = run(settings, [sys.argv[1]], sys.argv[2], engine=on_this_machine(1))
assert report.rows == 50 and "pyarrow" not in sys.modules
"""
    subprocess.run([sys.executable, "-c", script, str(path), str(tmp_path / "out")], check=True)


def test_a_parquet_file_without_pyarrow_is_an_error_that_names_the_extra(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "rows.parquet").write_bytes(b"PAR1")
    monkeypatch.setattr("segue.bulk.inputs.find_spec", lambda name: None)
    with pytest.raises(segue.SettingError, match=r"rows\.parquet is a Parquet file; pip install 'segue\[bulk\]'"):
        convert(tmp_path / "rows.parquet", tmp_path / "out")


@pytest.mark.parametrize("ending", ["jsonl", "jsonl.gz", "jsonl.zst"])
def test_a_compressed_file_gives_a_compressed_file(ending: str, tmp_path: Path) -> None:
    data = "".join(text + "\n" for _, _, text in corpus_rows(45)).encode()
    pack = {"jsonl": bytes, "jsonl.gz": gzip.compress, "jsonl.zst": zstandard.ZstdCompressor().compress}[ending]
    unpack = {
        "jsonl": bytes,
        "jsonl.gz": gzip.decompress,
        "jsonl.zst": lambda data: zstandard.ZstdDecompressor().decompressobj().decompress(data),
    }[ending]
    folder = tmp_path / "in" / "deep"
    folder.mkdir(parents=True)
    (folder / f"corpus.{ending}").write_bytes(pack(data))
    (tmp_path / "in" / "notes.txt").write_text("not data")
    report = run(
        Settings(command="convert", protocol="openai-completions"), [str(tmp_path / "in")], str(tmp_path / "out")
    )
    assert (report.rows, report.rejected) == (45, 1)
    lines = unpack((tmp_path / "out" / "deep" / f"corpus-00000.{ending}").read_bytes()).splitlines()
    assert len(lines) == 44
    assert json.loads(lines[1])["messages"]["messages"][0]["role"] == "system"


def test_a_limit_gives_the_first_rows(tmp_path: Path) -> None:
    path = write(tmp_path / "corpus.jsonl", 120)
    settings = Settings(command="convert", model=segue.get_model(TARGETS[0]))
    report = run(settings, [str(path)], str(tmp_path / "out"), limit=50, engine=ONE_CORE, shard_bytes=9_000)
    assert report.rows == 50
    assert [row["id"] for row in written(tmp_path / "out")] == [at for at in range(50) if at != 39]


def test_a_second_run_does_nothing_again_and_another_one_is_refused(tmp_path: Path) -> None:
    path = write(tmp_path / "corpus.jsonl", 50)
    first = convert(path, tmp_path / "out")

    def no_engine(work: object, shards: object) -> Any:
        raise AssertionError("a finished run must not work on shards")

    settings = Settings(command="convert", model=segue.get_model(TARGETS[0]))
    again = run(settings, [str(path)], str(tmp_path / "out"), engine=no_engine, shard_bytes=40_000)
    assert again == first
    with pytest.raises(segue.SettingError, match=r"other settings \(policy\)"):
        convert(path, tmp_path / "out", policy="llxprt")
    path.write_text(path.read_text() + "\n")
    with pytest.raises(segue.SettingError, match="other input"):
        convert(path, tmp_path / "out")


def test_a_directory_with_other_files_is_left_alone(tmp_path: Path) -> None:
    path = write(tmp_path / "corpus.jsonl", 5)
    with pytest.raises(segue.SettingError, match="is not empty"):
        convert(path, tmp_path)


def test_the_command_prints_a_table_and_its_status_says_whether_rows_were_rejected(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = write(tmp_path / "corpus.jsonl", 60)
    assert main(["bulk", "convert", str(path), "--to", TARGETS[2], "--out", str(tmp_path / "a"), "--workers", "1"]) == 1
    shown = capsys.readouterr()
    assert "60 rows: " in shown.out and "1 rejected" in shown.out and "id-projected" in shown.out
    assert f"results are in {tmp_path / 'a'}" in shown.err
    arguments = [str(path), "--limit", "20", "--workers", "1", "--json", "--out"]
    assert main(["bulk", "stats", *arguments, str(tmp_path / "b")]) == 0
    report = json.loads(capsys.readouterr().out)
    assert report["sizes"]["calls"] >= 16 and report["forms"] == {"a conversation of segue": 20}
    assert main(["bulk", "lint", *arguments, str(tmp_path / "c")]) == 1
    assert json.loads(capsys.readouterr().out)["faulty"] > 0


def test_lint_finds_what_the_linter_finds(tmp_path: Path) -> None:
    path = write(tmp_path / "corpus.jsonl", 120)
    model = segue.get_model(TARGETS[0])
    run(Settings(command="lint", model=model), [str(path)], str(tmp_path / "out"), engine=ONE_CORE)
    for row in written(tmp_path / "out"):
        stored = segue.Context.from_json(json.dumps({name: row[name] for name in row if not name.startswith("segue_")}))
        if stored.tools:
            body = segue.encode(stored, model, policy="off").json()
            found = segue.lint(body, model.protocol, model)
            assert row["segue_findings"] == list({each.rule: 0 for each in found if each.severity == "error"})


def test_a_file_of_another_tool_is_one_row(tmp_path: Path) -> None:
    case = json.loads((CASES / "transcripts" / "claude-code" / "injected.json").read_text())
    path = tmp_path / "session.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in case["files"]["session.jsonl"]))
    settings = Settings(command="convert", protocol="openai-completions")
    report = run(settings, [str(path)], str(tmp_path / "out"), engine=ONE_CORE)
    assert (report.rows, report.rejected) == (1, 0)
    [row] = written(tmp_path / "out")
    assert row["tool"] == "claude-code"
    assert (
        row["messages"]["messages"]
        == segue.export(segue.transcripts.read(path).context, settings.protocol or "").body["messages"]
    )


@pytest.mark.parametrize(
    "name", ["cursor-calls-without-ids", "opencode-export", "pydantic-ai-signatures", "vercel-model-messages"]
)
def test_a_document_of_another_tool_is_not_taken_for_a_list_of_messages(name: str, tmp_path: Path) -> None:
    case = next(each for each in FORMS if f"{each.parent.name}-{each.stem}" == name)
    path = lay_out(json.loads(case.read_text("utf-8")), tmp_path)
    settings = Settings(command="convert", protocol="openai-completions")
    report = run(settings, [str(path)], str(tmp_path / "out"), engine=ONE_CORE)
    assert (report.rows, report.rejected) == (1, 0)
    [row] = written(tmp_path / "out")
    assert row["tool"] == case.parent.name


def test_progress_reaches_the_end_also_if_a_run_is_continued(tmp_path: Path) -> None:
    path = write(tmp_path / "corpus.jsonl", 60)
    settings = Settings(command="stats")
    seen: list[Progress] = []

    def stopped(work: Any, shards: Any) -> Any:
        yield from map(work, list(shards)[:2])
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run(settings, [str(path)], str(tmp_path / "out"), engine=stopped, progress=seen.append, shard_bytes=9_000)
    assert len(seen) == 2 and sum(each.size for each in seen) < seen[0].total == path.stat().st_size
    continued: list[Progress] = []
    run(settings, [str(path)], str(tmp_path / "out"), progress=continued.append, shard_bytes=9_000)
    assert sum(each.rows for each in continued) == 60
    assert sum(each.size for each in continued) == path.stat().st_size


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no pseudo-terminals")
def test_a_terminal_shows_rows_per_second_and_the_time_that_is_left(tmp_path: Path) -> None:
    import pexpect

    path = tmp_path / "corpus.jsonl"
    line = clean(1).to_json() + b"\n"
    path.write_bytes(line * (3 * LEAST_SHARD_BYTES // len(line)))
    arguments = ["-m", "segue", "bulk", "stats", str(path), "--out", str(tmp_path / "out"), "--workers", "1"]
    environment = os.environ | {"TERM": "xterm"}
    terminal = pexpect.spawn(sys.executable, arguments, env=environment, encoding="utf-8", timeout=HANGS)
    terminal.expect(r"100%\S* [\d,]+ rows, [\d,]+ a second \S*0:00:00")
    terminal.expect(pexpect.EOF)
    terminal.close()
    assert terminal.exitstatus == 0
