"""`segue lint` and `segue import`: request bodies from other programs."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

import segue
from segue.cli import main
from segue.wire.registry import PROTOCOLS

EXAMPLE = Path(__file__).parents[2] / "examples" / "three-models.json"
CONTEXT = segue.Context.from_json(EXAMPLE.read_bytes())
MODELS = {
    "anthropic-messages": "anthropic/claude-sonnet-4-5",
    "openai-completions": "groq/openai/gpt-oss-120b",
    "openai-responses": "openai/gpt-5.4",
    "google-generative-ai": "google/gemini-3-pro-preview",
    "bedrock-converse": "amazon-bedrock/anthropic.claude-sonnet-4-5-20250929-v1:0",
    "mistral-chat": "mistral/mistral-large-latest",
}
ORPHAN = {
    "model": "claude-sonnet-4-5",
    "max_tokens": 10,
    "messages": [{"role": "user", "content": [{"type": "tool_result", "tool_use_id": "toolu_1", "content": "x"}]}],
}


@pytest.fixture(params=PROTOCOLS)
def protocol(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def body_file(tmp_path: Path, protocol: str) -> Path:
    path = tmp_path / "body.json"
    path.write_bytes(segue.encode(CONTEXT, segue.get_model(MODELS[protocol])).json())
    return path


def test_bodies_that_segue_encodes_have_no_findings(
    protocol: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = body_file(tmp_path, protocol)
    assert main(["lint", str(path), "--as", protocol, "--model", MODELS[protocol]]) == 0
    assert capsys.readouterr().err == "segue: 0 errors, 0 warnings\n"


def test_the_protocol_is_detected(protocol: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["import", str(body_file(tmp_path, protocol))]) == 0
    read = segue.Context.from_json(capsys.readouterr().out)
    assert {message.protocol for message in read.messages if isinstance(message, segue.AssistantMessage)} == {protocol}


def test_import_reverses_encode(protocol: str, tmp_path: Path, capsysbinary: pytest.CaptureFixture[bytes]) -> None:
    path = body_file(tmp_path, protocol)
    assert main(["import", str(path), "--from", protocol, "--model", MODELS[protocol]]) == 0
    read = segue.Context.from_json(capsysbinary.readouterr().out)
    again = segue.encode(read, segue.get_model(MODELS[protocol])).body
    ours = json.loads(path.read_bytes())
    assert {name: again.get(name) for name in ("messages", "input", "contents")} == {
        name: ours.get(name) for name in ("messages", "input", "contents")
    }


def test_findings_are_printed_and_an_error_is_status_1(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "body.json"
    path.write_text(json.dumps(ORPHAN))
    assert main(["lint", str(path), "--as", "anthropic-messages"]) == 1
    done = capsys.readouterr()
    assert "error ANT-20  messages[0].content[0]" in done.out
    assert "the provider answers: " in done.out
    assert main(["lint", str(path), "--as", "anthropic-messages", "--json"]) == 1
    findings = json.loads(capsys.readouterr().out)
    assert "ANT-20" in [finding["rule"] for finding in findings]
    assert set(findings[0]) == {"rule", "severity", "path", "message", "answers", "source", "prevented_by"}


@pytest.mark.parametrize("command", ["lint", "import"])
@pytest.mark.parametrize(
    ("data", "text"),
    [
        (b"{oops", "not JSON"),
        (b"[1]", "a request body is a JSON object"),
        (b'"text"', "a request body is a JSON object"),
        (b"\xff", "not UTF-8"),
        (b"[" * 100_000, "nested too deeply"),
        (b"{}", "does not look like a request body of"),
    ],
)
def test_input_that_is_not_a_body_is_status_2(command: str, data: bytes, text: str) -> None:
    done = subprocess.run([sys.executable, "-m", "segue", command, "-"], input=data, capture_output=True, check=False)
    assert done.returncode == 2
    assert done.stdout == b""
    assert done.stderr.decode().startswith("segue: standard input: ")
    assert text in done.stderr.decode()
    assert done.stderr.count(b"\n") == 1


def test_a_body_of_another_protocol_is_reported_as_such(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = body_file(tmp_path, "google-generative-ai")
    for command, option in (("lint", "--as"), ("import", "--from")):
        assert main([command, str(path), option, "anthropic-messages"]) == 2
        assert "not a body of anthropic-messages; it looks like google-generative-ai" in capsys.readouterr().err


def test_a_body_of_50_megabytes_can_be_read(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = {"type": "text", "text": "x" * 1_000_000}
    body = {"model": "m", "max_tokens": 10, "messages": [{"role": "user", "content": [text] * 50}]}
    path = tmp_path / "large.json"
    path.write_text(json.dumps(body))
    assert main(["lint", str(path), "--as", "anthropic-messages"]) in (0, 1)
    assert main(["import", str(path), "--from", "anthropic-messages"]) == 0
    assert len(capsys.readouterr().out) > 50_000_000
