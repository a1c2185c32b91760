"""`segue lint` and `segue import`: request bodies from other programs."""

import json
import re
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
    assert main(["lint", str(path), "--model", MODELS[protocol], "--warnings"]) == 0
    assert capsys.readouterr().err == f"segue: {path}: a request body of {protocol}\nsegue: 0 errors, 0 warnings\n"


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


def test_import_shows_what_could_not_be_carried(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "body.json"
    path.write_text(json.dumps(ORPHAN | {"top_k": 4, "thinking": {"type": "disabled"}}))
    assert main(["import", str(path)]) == 0
    form, left = capsys.readouterr().err.splitlines()
    assert form == f"segue: {path}: a request body of anthropic-messages"
    assert left == "segue: left out: top_k: segue does not carry it"
    assert main(["import", str(path), "--json"]) == 0
    said = json.loads(capsys.readouterr().out)
    assert (said["protocol"], said["model"]) == ("anthropic-messages", "claude-sonnet-4-5")
    assert said["options"] == {"max_tokens": 10, "reasoning": "off"}
    assert said["changes"] == [{"code": "field-dropped", "detail": "top_k: segue does not carry it", "lossy": True}]
    assert said["context"]["messages"][0]["role"] == "toolResult"


def test_import_lists_the_first_fields_that_could_not_be_carried(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "body.json"
    path.write_text(json.dumps(ORPHAN | {f"new_{number}": 1 for number in range(23)}))
    assert main(["import", str(path)]) == 0
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 22 and lines[-1] == "segue: 3 more fields left out; --json lists all"


def test_findings_are_printed_and_an_error_is_status_1(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "body.json"
    path.write_text(json.dumps(ORPHAN))
    assert main(["lint", str(path), "--as", "anthropic-messages"]) == 1
    done = capsys.readouterr()
    assert "error  messages[0].content[0]: no call 'toolu_1' in the turn before" in done.out
    assert "the provider answers: " in done.out
    assert ".py" not in done.out, "files of segue's own source concern nobody who lints a body"
    assert main(["lint", str(path), "--as", "anthropic-messages", "--json"]) == 1
    findings = json.loads(capsys.readouterr().out)
    assert "ANT-20" in [finding["rule"] for finding in findings]
    assert set(findings[0]) == {"rule", "severity", "path", "message", "answers", "source"}


@pytest.mark.parametrize("command", ["lint", "import"])
@pytest.mark.parametrize(
    ("data", "text"),
    [
        (b"{oops", "not JSON"),
        (b"[1]", "list"),
        (b'"text"', "a request body is a JSON object"),
        (b"\xff", "not UTF-8"),
        (b"[" * 100_000, "nested too deeply"),
        (b"{}", "not a conversation in a known form"),
        (b'{"choices":[]}', "an answer of a provider"),
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


# -- what lint reports, and for whom -----------------------------------------------------------------------------------

KIMI = {
    "model": "kimi-k2.5",
    "messages": [{"role": "user", "content": "hi"}],
    "tools": [{"type": "function", "function": {"name": "look", "parameters": {"type": "object", "properties": {}}}}],
    "tool_choice": "required",
}


def linted(path: Path, capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[list[str], str]:
    """The rules of the findings, and what was printed on stderr."""
    main(["lint", str(path), "--json", *arguments])
    done = capsys.readouterr()
    return [finding["rule"] for finding in json.loads(done.out)], done.err


def test_only_what_concerns_the_target_is_reported(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Kimi does not accept a forced call; other providers of chat completions do."""
    path = tmp_path / "body.json"
    path.write_text(json.dumps(KIMI))
    for arguments in (("--model", "moonshot/kimi-k2.5"), ("--provider", "moonshot")):
        assert linted(path, capsys, *arguments)[0] == ["KIM-08"]
    assert "KIM-08" not in linted(path, capsys, "--model", "openai/gpt-4.1")[0]
    path.write_text(json.dumps({**KIMI, "model": "llama-3.3-70b-versatile"}))
    assert "KIM-08" not in linted(path, capsys, "--provider", "groq")[0]


def test_the_model_that_the_body_names_is_the_target_if_one_provider_has_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "body.json"
    path.write_text(json.dumps({**KIMI, "model": "kimi-k3.1-pro"}))
    rules, errors = linted(path, capsys)
    assert rules == ["KIM-08"] and "checked for moonshot/kimi-k3.1-pro, which the body names" in errors
    path.write_text(json.dumps({**KIMI, "model": "of nobody"}))
    rules, errors = linted(path, capsys)
    assert rules == [] and "checked for every provider of openai-completions" in errors


def test_warnings_are_counted_and_listed_on_request(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "body.json"
    path.write_text(json.dumps({**KIMI, "model": "of nobody"}))
    assert main(["lint", str(path)]) == 0
    done = capsys.readouterr()
    hidden = re.search(r"0 errors, (\d+) warnings?; --warnings lists", done.err)
    assert hidden is not None and done.out == ""
    assert main(["lint", str(path), "--warnings"]) == 0
    done = capsys.readouterr()
    assert done.out.count("warning  ") == int(hidden[1]) > 0 and "lists them" not in done.err


def test_a_conversation_is_linted_as_it_is_stored_for_a_model(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["lint", str(EXAMPLE)]) == 2
    assert (
        "this is a conversation of segue, not a request body; name the model that it is for" in capsys.readouterr().err
    )
    assert main(["lint", str(EXAMPLE), "--model", "mistral/mistral-large-latest"]) == 1
    done = capsys.readouterr()
    assert "2 calls without a result" in done.out and "Not the same number of function calls and responses" in done.out
    assert "checked as it is stored, for mistral/mistral-large-latest; segue encode changes" in done.err


def test_a_bare_list_is_linted_without_the_fields_around_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "list.json"
    path.write_text(json.dumps(ORPHAN["messages"]))
    rules, errors = linted(path, capsys)
    assert rules == ["ANT-20"] and "a list of messages of anthropic-messages" in errors
    calls = [
        {"role": "user", "content": "hi"},
        {"role": "assistant", "content": [{"type": "tool_use", "id": "toolu_1", "name": "look", "input": {}}]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "toolu_1", "content": "x"}]},
    ]
    path.write_text(json.dumps(calls))
    assert linted(path, capsys)[0] == [], "the tools are elsewhere"


def test_bodies_in_lines_are_linted_with_their_line_numbers(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "bodies.jsonl"
    good = {**ORPHAN, "messages": [{"role": "user", "content": "hi"}]}
    path.write_text("".join(f"{json.dumps(each)}\n" for each in (good, ORPHAN, good)))
    assert main(["lint", str(path)]) == 1
    assert "error  line 2: messages[0].content[0]: no call 'toolu_1'" in capsys.readouterr().out
