"""The public names: one table, generated from what the rooms export. `import segue` loads nothing heavy."""

import subprocess
import sys
from importlib import import_module
from pathlib import Path
from typing import get_args

from public_names import with_names

import segue

SOURCE = Path(segue.__file__)
USER = """
from typing import assert_type
import msgspec
import segue
from segue import AssistantMessage, Context, Model, Request, Stream, SyncStream

context = Context(messages=[segue.UserMessage("Hello")])
model = segue.get_model("openai/gpt-5.1")
assert_type(model.replace(base_url="http://localhost"), Model)
assert_type(segue.encode(context, model), Request)
assert_type(segue.stream(context, "openai/gpt-5.1", policy="strict"), Stream)
assert_type(segue.complete_sync(context, model, options=segue.Options(max_tokens=3)), AssistantMessage)
assert_type(segue.send_sync(segue.encode(context, model)), SyncStream)
assert_type(segue.open_store("sessions.db"), segue.Store)
history = [{"role": "user", "content": "Hello"}]
assert_type(segue.complete_sync(history, "openai/gpt-5.1", check=False), AssistantMessage)
assert_type(segue.project([segue.UserMessage("Hello")], model), segue.Projection)
assert_type(segue.preview({"messages": history}, "openai/gpt-5.1"), segue.Preview)
assert_type(segue.export("Hello", "openai-completions"), segue.Export)

class City(msgspec.Struct):
    name: str

options = segue.Options(response_format=City, extra={"seed": 7})
assert_type(segue.parse(segue.complete_sync("Hello", model, options), City), City)
assert_type(segue.Session.open("2026").ask_sync("Hello"), AssistantMessage)
assert_type(segue.Agent(session="2026").run_sync("Hello"), segue.Outcome)

def shown(event: segue.events.TurnEvent) -> str:
    if isinstance(event, segue.events.Error):
        return str(event.error)
    return event.how if isinstance(event, segue.events.TurnEnd) else event.type

async def ask() -> None:
    async with segue.Client(segue.Connection(api_key="k")) as client:
        assert_type(await client.complete(context, model), AssistantMessage)
    assert_type(await segue.complete(context, model), AssistantMessage)
    segue.complete_sync(model, context)
"""


def test_the_table_of_names_is_what_the_rooms_export() -> None:
    source = SOURCE.read_text()
    assert with_names(source) == source, "run `make docs`"


def test_every_public_name_is_exported_by_one_room() -> None:
    exported = [name for room in segue._NAMES for name in import_module(f"segue.{room}").__all__]
    assert sorted(exported) == segue.__all__
    for name, room in segue._HOMES.items():
        assert getattr(segue, name) is getattr(import_module(f"segue.{room}"), name)


def test_rooms_events_and_doubles_are_there_after_a_plain_import() -> None:
    script = "import segue; print(segue.events.Error.type, segue.testing.StandIn.__name__, segue.client.reach.__name__)"
    done = subprocess.run([sys.executable, "-I", "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["error", "StandIn", "reach"]
    assert {"events", "testing", *segue._NAMES} <= set(dir(segue))


def test_events_are_those_of_streams_and_of_turns() -> None:
    stream_events, turn_events = import_module("segue.types.events"), import_module("segue.agent.events")
    assert segue.events.__all__ == dir(segue.events) == sorted([*stream_events.__all__, *turn_events.__all__])
    for union in (segue.events.Event, segue.events.TurnEvent):
        for event in get_args(union):
            assert getattr(segue.events, event.__name__) is event
    assert not {*segue.events.__all__} & {*segue.__all__}
    assert not hasattr(segue.events, "no_such_event")


def test_type_checkers_see_the_types_of_public_names(tmp_path: Path) -> None:
    """A user's script is checked without the source on mypy's path, as an installed package is; the last line is wrong
    on purpose."""
    script = tmp_path / "user.py"
    script.write_text(USER)
    command = [sys.executable, "-m", "mypy", "--strict", "--config-file=", f"--cache-dir={tmp_path}/cache", str(script)]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.stdout.count(": error:") == 2 and done.stdout.count("[arg-type]") == 2, done.stdout
    assert {line.split(":")[1] for line in done.stdout.splitlines() if "[arg-type]" in line} == {
        str(len(USER.splitlines()))
    }


def test_an_unknown_name_is_an_attribute_error() -> None:
    assert not hasattr(segue, "no_such_name")


def loaded_by(code: str) -> set[str]:
    script = f"import sys\n{code}\nprint('\\n'.join(sys.modules))"
    done = subprocess.run([sys.executable, "-I", "-c", script], capture_output=True, text=True, check=True)
    return {name.split(".")[0] for name in done.stdout.split()}


def test_import_segue_loads_no_http_no_command_line_and_no_sdk() -> None:
    """Only the client and the agent, which uses it, load HTTP; tools
    need an event loop."""
    names = [name for name, room in segue._HOMES.items() if room not in {"client", "agent", "tools"}]
    everything = "; ".join(["import segue", *(f"segue.{name}" for name in names)])
    heavy = {
        "rich",
        "argparse",
        "httpx",
        "httpx2",
        "http",
        "ssl",
        "socket",
        "asyncio",
        "pydantic",
        "anthropic",
        "openai",
    }
    assert not loaded_by(everything) & heavy


def test_tools_load_an_event_loop_but_no_http_no_command_line_and_no_server() -> None:
    names = [name for name, room in segue._HOMES.items() if room == "tools"]
    everything = "; ".join(["import segue", *(f"segue.{name}" for name in names)])
    heavy = {"rich", "argparse", "httpx", "httpx2", "http", "pydantic", "mcp", "jsonschema_rs", "docstring_parser"}
    assert not loaded_by(everything) & heavy
