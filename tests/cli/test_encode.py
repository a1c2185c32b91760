"""`segue encode`: one body per conversation, many of them on all cores and in constant memory."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import segue
from segue.cli import main

EXAMPLE = Path(__file__).parents[2] / "examples" / "three-models.json"
TARGET = "anthropic/claude-sonnet-4-5"


def conversation(number: int) -> str:
    return json.dumps({"messages": [{"role": "user", "content": f"number {number}"}]})


def run(*arguments: str, stdin: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    command = [sys.executable, "-m", "segue", "encode", *arguments]
    return subprocess.run(command, input=stdin, capture_output=True, check=False)


def test_the_body_is_printed(capsysbinary: pytest.CaptureFixture[bytes]) -> None:
    assert main(["encode", str(EXAMPLE), "--to", TARGET]) == 0
    done = capsysbinary.readouterr()
    context = segue.Context.from_json(EXAMPLE.read_bytes())
    assert done.out == segue.encode(context, segue.get_model(TARGET)).json() + b"\n"
    announced, summary = done.err.splitlines()
    assert announced == f"segue: {EXAMPLE}: a conversation of segue".encode()
    assert summary.startswith(b"segue: 1 conversation for anthropic/claude-sonnet-4-5: ")
    assert b"1 \xc3\x97 failed-turn-dropped" in done.err


def test_json_has_path_headers_and_changes_as_well(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["encode", str(EXAMPLE), "--to", TARGET, "--json", "--reasoning", "low", "--max-tokens", "4096"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["path"] == "/v1/messages"
    assert document["headers"]["anthropic-version"] in ("2023-06-01", "2026-10-21")
    assert document["body"]["max_tokens"] == 4096
    assert "failed-turn-dropped" in [change["code"] for change in document["changes"]]


def test_options_and_protocol_can_be_chosen(capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["--to", "openai/gpt-5.4", "--protocol", "openai-completions", "--stream", "--tool-choice", "probe"]
    assert main(["encode", str(EXAMPLE), *arguments]) == 0
    body = json.loads(capsys.readouterr().out)
    assert body["stream"] is True
    assert body["tool_choice"] == {"type": "function", "function": {"name": "probe"}}


def test_a_bad_option_is_status_2(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["encode", str(EXAMPLE), "--to", TARGET, "--reasoning", "loud"]) == 2
    assert "option reasoning must be one of off, minimal" in capsys.readouterr().err


@pytest.mark.parametrize("count", [3, 500])
def test_many_conversations_give_one_line_each_in_order(count: int, tmp_path: Path) -> None:
    path = tmp_path / "conversations.jsonl"
    path.write_text("".join(conversation(number) + "\n" for number in range(count)))
    done = run(str(path), "--to", TARGET)
    assert done.returncode == 0, done.stderr
    bodies = [json.loads(line) for line in done.stdout.splitlines()]
    assert [body["messages"][0]["content"][0]["text"] for body in bodies] == [f"number {n}" for n in range(count)]
    assert f"{count} conversations".encode() in done.stderr


def test_a_bad_line_is_reported_with_its_number_and_the_others_are_encoded(tmp_path: Path) -> None:
    lines = [conversation(number) for number in range(300)]
    lines[7] = "{oops"
    lines[200] = '{"messages":[]}'
    path = tmp_path / "conversations.jsonl"
    path.write_text("\n".join(lines) + "\n")
    done = run(str(path), "--to", TARGET)
    assert done.returncode == 2
    assert len(done.stdout.splitlines()) == 298
    _, *errors = done.stderr.decode().splitlines()
    assert errors[0] == f"segue: {path}:8: not JSON: object keys must be strings (byte 1)"
    assert errors[1].startswith(f"segue: {path}:201: there is nothing to send")


def test_one_message_per_line_is_one_conversation() -> None:
    stdin = b'{"role":"user","content":"a"}\n{"role":"user","content":"b"}\n'
    done = run("-", "--to", TARGET, stdin=stdin)
    assert len(done.stdout.splitlines()) == 1


@pytest.mark.skipif((os.cpu_count() or 1) < 2, reason="there is only one core")
def test_a_long_file_is_encoded_by_several_processes(tmp_path: Path) -> None:
    path = tmp_path / "conversations.jsonl"
    path.write_text((conversation(0) + "\n") * 2_000)
    script = (
        "import resource, segue.cli, segue.cli.encode, sys\n"
        "segue.cli.encode.PART_BYTES = 20_000\n"
        f"status = segue.cli.main(['encode', {str(path)!r}, '--to', {TARGET!r}])\n"
        "children = resource.getrusage(resource.RUSAGE_CHILDREN)\n"
        "print(children.ru_utime + children.ru_stime > 0, file=sys.stderr)\n"
        "sys.exit(status)"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stderr.splitlines()[-1] == "True"
    assert len(done.stdout.splitlines()) == 2_000
