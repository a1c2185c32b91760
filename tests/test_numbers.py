"""Numbers and times from outside, wherever they are read.

A number may be too long for ``int`` (more than 4,300 digits) or have digits that it does not read (a superscript); a
time may be millions of years away.
"""

import ast
import json
import socket
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, strategies as st
from support.providers import CONTEXT, MODELS
from support.raw import raw, response

import segue
from segue import Connection, Retries
from segue.agent.owner import is_alive
from segue.cli import main
from segue.gateway.config import Config, GatewaySetting
from segue.gateway.start import address_of
from segue.session import MessageAdded, open_store
from segue.studio.home import _sessions
from segue.studio.view import Target
from segue.transcripts.reading import iso_time, shown_time
from segue.types.text import whole_number
from segue.wire.registry import PROTOCOLS

LONG = "9" * 5_000
NUMBERS = [LONG, "0" * 5_000, "\N{SUPERSCRIPT TWO}", "\N{ARABIC-INDIC DIGIT THREE}", "-1", "", "1_0", " 1"]


def test_digits_are_read_in_one_place() -> None:
    """`isdigit` accepts what `int` does not, so only one function has it."""
    source = Path(segue.__file__).parent
    names = {"isdigit", "isdecimal", "isnumeric"}
    found = {
        file.relative_to(source).as_posix()
        for file in source.rglob("*.py")
        for node in ast.walk(ast.parse(file.read_text()))
        if isinstance(node, ast.Attribute) and node.attr in names
    }
    assert found == {"types/text.py"}


@given(st.integers(0, 10**18 - 1))
def test_a_whole_number_is_read(number: int) -> None:
    assert whole_number(str(number)) == number


@given(st.text() | st.sampled_from([*NUMBERS, "9" * 19]))
def test_anything_else_is_none(text: str) -> None:
    found = whole_number(text)
    assert found is None or found == int(text)


def tools_with(**more: Any) -> list[segue.ToolDefinition]:
    schema = {"type": "object", "properties": {"a": {"$ref": f"#/allOf/{more['at']}"}}, "allOf": [{"type": "object"}]}
    return [segue.ToolDefinition("look", "", schema)]


def google(field: str, value: str) -> dict[str, Any]:
    schema = {"type": "OBJECT", "properties": {"a": {"type": "STRING", field: value}}}
    return {
        "contents": [{"role": "user", "parts": [{"text": "x"}]}],
        "tools": [{"functionDeclarations": [{"name": "f", "parameters": schema}]}],
    }


def listening(number: str) -> None:
    with pytest.raises(segue.ConfigError):
        address_of(Config(gateway=GatewaySetting(listen=f"127.0.0.1:{number}")))


READERS: dict[str, Callable[[str], object]] = {
    "a reference in a schema": lambda number: [
        segue.encode(segue.Context(messages=CONTEXT.messages, tools=tools_with(at=number)), model)
        for model in MODELS.values()
    ],
    "the schema of a tool of Gemini": lambda number: segue.ingest(google("minLength", number)),
    "the owner of a turn": lambda number: is_alive(f"{socket.gethostname()}/{number}/1/x", 0),
    "a limit in an address of the studio": lambda number: Target(
        "openai/gpt-5.4", choices=(("reasoning_limit", number or "x"),)
    ).policy(),
    "where a gateway listens": listening,
}


@pytest.mark.parametrize("number", NUMBERS, ids=range(len(NUMBERS)))
@pytest.mark.parametrize("read", READERS.values(), ids=READERS)
def test_any_text_in_place_of_a_number_can_be_read(read: Callable[[str], object], number: str) -> None:
    with suppress(segue.SegueError):
        read(number)


@pytest.mark.parametrize("number", NUMBERS, ids=range(len(NUMBERS)))
@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_a_refusal_may_name_any_place(protocol: str, number: str) -> None:
    """The field that an error names is looked up in the body, to leave it out."""
    words = "Unsupported parameter: Extra inputs are not permitted"
    fields = [f"{field}{at}" for field in ("messages", "contents", "system") for at in (f"[{number}].x", f".{number}")]
    answers = [
        {"error": {"message": f"{field}: {words}", "code": "unknown_parameter", "param": field}} for field in fields
    ]
    with raw(lambda asked: (response(json.dumps(answers[len(server.asked) % 6]).encode(), "400 Bad"), True)) as server:
        connection = Connection(base_url=server.url, api_key="k", retries=Retries(count=0))
        for _ in answers:
            message = segue.complete_sync(CONTEXT, MODELS[protocol], connection=connection, check=False)
            assert message.stop_reason == "error"


def test_a_streamed_argument_may_have_any_path() -> None:
    def chunk(part: dict[str, Any]) -> bytes:
        return f"data: {json.dumps({'candidates': [{'content': {'parts': [part]}}]})}\n\n".encode()

    for number in NUMBERS:
        decoder = segue.Decoder(segue.encode(CONTEXT, MODELS["google-generative-ai"], segue.Options(stream=True)))
        piece = {"partialArgs": [{"jsonPath": f"$.a[{number}]", "stringValue": "x"}], "willContinue": True}
        decoder.feed(chunk({"functionCall": {"name": "f", "willContinue": True}}) + chunk({"functionCall": piece}))
        decoder.close()
        assert decoder.message is not None


TIMES = [0, -1, 10**15, 10**18, -(10**18), 2**63 - 1]


@pytest.mark.parametrize("time", TIMES)
def test_a_time_of_any_size_is_shown(time: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert iso_time(time).endswith("Z") and shown_time(time)
    with open_store(tmp_path / "s.db") as store:
        store.create("far", time=time)
        store.append("far", [MessageAdded(key="m", time=time, message=segue.UserMessage("hi"))], after=0)
        assert str(_sessions(store.sessions()))
    assert main(["sessions", "--store", str(tmp_path / "s.db"), "list"]) == 0
    answer = segue.AssistantMessage([segue.TextContent("hi")], timestamp=time, **MADE)
    context = segue.Context(messages=[segue.UserMessage("x"), answer])
    for form in segue.transcripts.formats():
        if form.write is not None:
            segue.transcripts.write(context, form.name, directory=tmp_path / form.name)
    capsys.readouterr()


MADE: dict[str, Any] = {"protocol": "openai-responses", "provider": "openai", "model": "gpt-5.4"}
