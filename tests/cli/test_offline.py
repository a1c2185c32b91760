"""Who answers when nobody names a model: a model whose key is set, or the best of what works without one."""

import asyncio
import json
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from threading import Event

import pytest
from support.kitchen import environment
from support.loopback import serve
from support.waiting import HANGS

import segue
from segue.catalog import Catalog
from segue.cli import demo, offline
from segue.cli.offline import FIRST_CHOICES, SMALL, STAND_IN, Reach, choose
from segue.errors import SettingError
from segue.types import Context, TextContent, ToolCall, ToolDefinition, ToolResultMessage, UserMessage

Setting = Callable[..., None]


@pytest.fixture
def setting(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Setting:
    """Sets an environment without keys, and more."""

    def set_to(url: str = "http://127.0.0.1:9", **more: str) -> None:
        env = environment(tmp_path, url, **more)
        for name in {key for provider in Catalog.load().providers.values() for key in provider.keys} | {"SEGUE_MODEL"}:
            monkeypatch.delenv(name, raising=False)
        for name, value in env.items():
            monkeypatch.setenv(name, value)

    return set_to


@pytest.fixture
def _waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """A server that answers is waited for, however long a busy machine takes."""
    monkeypatch.setattr(offline, "PATIENCE", HANGS)


def listing(body: bytes, status: int = 200, wait: Event | None = None) -> AbstractContextManager[str]:
    """A server that answers every GET with ``body``."""
    return serve(body, "application/json", status, wait)


def chosen(named: str | None = None) -> offline.Choice:
    async def choosing() -> offline.Choice:
        return await choose(named, Reach())

    return asyncio.run(choosing())


def models(*names: str) -> bytes:
    return json.dumps({"object": "list", "data": [{"id": name} for name in names]}).encode()


def test_every_provider_that_needs_nothing_but_a_key_has_a_first_choice_that_the_catalog_knows() -> None:
    catalog = Catalog.load()
    providers = {catalog.resolve(ref).provider for ref in FIRST_CHOICES if catalog.resolve(ref).known}
    assert len(providers) == len(FIRST_CHOICES)
    assert providers == {each.id for each in catalog.providers.values() if each.needs_key and "{" not in each.base_url}


@pytest.mark.parametrize("ref", FIRST_CHOICES)
def test_a_key_that_is_set_decides(ref: str, setting: Setting) -> None:
    [key, *_] = segue.get_provider(ref.partition("/")[0]).keys
    setting(**{key: "sk-secret-of-the-tests-0123456789"})
    choice = chosen()
    assert (choice.model.ref, choice.offline) == (ref, False)
    assert "sk-secret" not in choice.why


def test_a_model_that_is_named_goes_before_the_environment_and_that_before_keys(setting: Setting) -> None:
    setting(OPENAI_API_KEY="k", MISTRAL_API_KEY="k", SEGUE_MODEL="mistral/mistral-large-latest")
    assert chosen().model.ref == "mistral/mistral-large-latest"
    assert chosen("openai/gpt-5.6").model.ref == "openai/gpt-5.6"


def test_a_model_that_is_named_and_has_no_key_is_an_error_that_names_the_variable_and_the_way_without(
    setting: Setting,
) -> None:
    setting()
    with pytest.raises(SettingError, match=r"set MISTRAL_API_KEY.*without --model, something that needs no key"):
        chosen("mistral/mistral-large-latest")


@pytest.mark.usefixtures("_waited_for")
def test_a_server_that_answers_on_this_machine_is_taken_with_its_first_model_that_can_talk(setting: Setting) -> None:
    with listing(models("nomic-embed-text", "qwen3:8b", "llama3")) as url:
        setting(url)
        choice = chosen()
    assert (choice.model.ref, choice.offline) == ("local/qwen3:8b", True)
    assert url in choice.why and STAND_IN in choice.also


@pytest.mark.usefixtures("_waited_for")
@pytest.mark.parametrize(
    ("body", "status"),
    [
        (b"<html>It works!</html>", 200),
        (b'{"detail":"Not Found"}', 404),
        (b'{"data":"none"}', 200),
        (b'{"data":[{"name":"x"},{"id":7},{"id":""},3]}', 200),
        (b"[]", 200),
        (b"\xff\xfe", 200),
        (models(), 200),
    ],
)
def test_something_else_on_that_port_is_passed_over(body: bytes, status: int, setting: Setting) -> None:
    with listing(body, status) as url:
        setting(url)
        assert chosen().model.ref in (SMALL, STAND_IN)


def test_a_server_that_says_nothing_is_not_waited_for(setting: Setting) -> None:
    never = Event()
    with listing(models("late"), wait=never) as url:
        setting(url)
        assert chosen().model.ref in (SMALL, STAND_IN)
        assert not never.is_set()


def test_without_anything_the_small_model_is_taken_if_it_is_installed_and_the_stand_in_is_always_there(
    setting: Setting, monkeypatch: pytest.MonkeyPatch
) -> None:
    setting()
    offers = [choice.model.ref for choice in asyncio.run(offline.offline())]
    assert offers == ([SMALL, STAND_IN] if offline.is_installed() else [STAND_IN])
    monkeypatch.setattr("segue.testing.local.find_spec", lambda name: None)
    assert chosen().model.ref == STAND_IN


def test_the_way_to_a_provider_is_told_as_it_is(setting: Setting) -> None:
    setting()
    assert "no key is set" in offline.way_out()
    setting(AZURE_OPENAI_API_KEY="sk-secret-of-the-tests-0123456789")
    assert offline.way_out() == "a key for Azure OpenAI is set: name a model of it with --model azure/MODEL"


def test_what_this_process_serves_is_started_once_and_stopped(setting: Setting) -> None:
    setting()
    model = Catalog.default().resolve(STAND_IN)

    async def twice() -> tuple[str | None, str | None]:
        reach = Reach()
        await asyncio.gather(reach.ready(model), reach.ready(model))
        first = reach.connection(model).base_url
        await reach.ready(model)
        second = reach.connection(model).base_url
        await reach.aclose()
        assert reach.connection(model).base_url is None
        return first, second

    first, second = asyncio.run(twice())
    assert first == second and first is not None


def test_who_is_cancelled_while_a_server_starts_does_not_lose_it(setting: Setting) -> None:
    setting()
    model = Catalog.default().resolve(STAND_IN)

    async def cancelled() -> None:
        reach = Reach()
        waiting = asyncio.create_task(reach.ready(model))
        await asyncio.sleep(0)
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting
        await reach.ready(model)
        assert reach.connection(model).base_url is not None
        await reach.aclose()

    asyncio.run(cancelled())


# -- the demonstration ------------------------------------------------------------------------------------------------

TOOLS = [
    ToolDefinition("read_file", "", {"type": "object", "properties": {"path": {}}, "required": ["path"]}),
    ToolDefinition("list_files", "", {"type": "object", "properties": {}}),
]


@pytest.mark.parametrize(
    ("said", "name", "arguments"),
    [
        ("please read notes.txt now", "read_file", {"path": "notes.txt"}),
        ("Which FILES are there?", "list_files", {}),
    ],
)
def test_the_demonstration_calls_the_tool_that_it_is_asked_for(said: str, name: str, arguments: dict[str, str]) -> None:
    reply = demo.reply(Context(messages=[UserMessage(said)], tools=TOOLS))
    [call] = [block for block in reply.content if isinstance(block, ToolCall)]
    assert (call.name, call.arguments) == (name, arguments)


@pytest.mark.parametrize("said", ["run date", "search for x", "hello", ""])
def test_the_demonstration_calls_no_tool_that_it_was_not_offered(said: str) -> None:
    reply = demo.reply(Context(messages=[UserMessage(said)], tools=TOOLS))
    assert not [block for block in reply.content if isinstance(block, ToolCall)]


def test_the_demonstration_repeats_what_was_said_and_what_a_tool_gave() -> None:
    result = ToolResultMessage("c", "list_files", [TextContent("one two")])
    for last, text in ((UserMessage("good day"), "good day"), (result, "one two")):
        [block] = demo.reply(Context(messages=[UserMessage("hi"), last], tools=TOOLS)).content
        assert isinstance(block, TextContent) and text in block.text
