"""The model that answers if the user names none: one whose key is set, or the best that works without a key."""

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
from segue.cli import local_servers, model_choice
from segue.cli.demo import demo_models
from segue.cli.local_servers import SMALL, LocalServers
from segue.cli.model_choice import FIRST_CHOICES, Choice, choose
from segue.errors import SettingError

Setting = Callable[..., None]
DEMOS = [model.ref for model in demo_models()]


@pytest.fixture
def setting(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Setting:
    """Set an environment without keys, and further variables."""

    def set_to(url: str = "http://127.0.0.1:9", **more: str) -> None:
        env = environment(tmp_path, url, **more)
        for name in {key for provider in Catalog.load().providers.values() for key in provider.keys} | {"SEGUE_MODEL"}:
            monkeypatch.delenv(name, raising=False)
        for name, value in env.items():
            monkeypatch.setenv(name, value)

    return set_to


@pytest.fixture
def _patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Wait for a server that answers, however busy the machine is."""
    monkeypatch.setattr(local_servers, "TIMEOUT", HANGS)


def listing(body: bytes, status: int = 200, wait: Event | None = None) -> AbstractContextManager[str]:
    """A server that answers every GET with ``body``."""
    return serve(body, "application/json", status, wait)


def chosen(name: str | None = None) -> Choice:
    return asyncio.run(choose(name))


def models(*names: str) -> bytes:
    return json.dumps({"object": "list", "data": [{"id": name} for name in names]}).encode()


def test_first_choices_are_known_models_of_providers_that_need_nothing_but_a_key() -> None:
    """Not all of them: some keys have other purposes (GitHub, Hugging Face), others are those of two providers."""
    catalog = Catalog.load()
    providers = {catalog.resolve(ref).provider for ref in FIRST_CHOICES if catalog.resolve(ref).known}
    assert len(providers) == len(FIRST_CHOICES)
    assert providers <= {each.id for each in catalog.providers.values() if each.needs_key and "{" not in each.base_url}


@pytest.mark.parametrize("ref", FIRST_CHOICES)
def test_a_key_that_is_set_decides_the_model(ref: str, setting: Setting) -> None:
    [key, *_] = segue.get_provider(ref.partition("/")[0]).keys
    setting(**{key: "sk-secret-of-the-tests-0123456789"})
    choice = chosen()
    assert (choice.model.ref, choice.offline) == (ref, False)
    assert "sk-secret" not in choice.why


def test_a_named_model_comes_before_the_variable_and_the_variable_before_keys(setting: Setting) -> None:
    setting(OPENAI_API_KEY="k", MISTRAL_API_KEY="k", SEGUE_MODEL="mistral/mistral-large-latest")
    assert chosen().model.ref == "mistral/mistral-large-latest"
    assert chosen("openai/gpt-5.6").model.ref == "openai/gpt-5.6"


def test_a_named_model_without_a_key_is_an_error_that_names_the_variable_and_the_alternative(
    setting: Setting,
) -> None:
    setting()
    with pytest.raises(
        SettingError, match=r"no key for Mistral; set MISTRAL_API_KEY; without --model, a model that needs no key"
    ):
        chosen("mistral/mistral-large-latest")


@pytest.mark.usefixtures("_patient")
def test_a_running_server_on_this_machine_is_used_with_its_first_chat_model(setting: Setting) -> None:
    with listing(models("nomic-embed-text", "qwen3:8b", "llama3")) as url:
        setting(url)
        choice = chosen()
    assert (choice.model.ref, choice.offline) == ("local/qwen3:8b", True)
    assert url in choice.why and set(DEMOS) <= set(choice.alternatives)


@pytest.mark.usefixtures("_patient")
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
def test_another_kind_of_server_on_that_port_is_ignored(body: bytes, status: int, setting: Setting) -> None:
    with listing(body, status) as url:
        setting(url)
        assert chosen().model.ref in (SMALL, DEMOS[0])


def test_a_silent_server_is_not_waited_for(setting: Setting) -> None:
    never = Event()
    with listing(models("late"), wait=never) as url:
        setting(url)
        assert chosen().model.ref in (SMALL, DEMOS[0])
        assert not never.is_set()


def test_without_keys_and_servers_the_small_model_is_used_if_installed_and_otherwise_a_demo(
    setting: Setting, monkeypatch: pytest.MonkeyPatch
) -> None:
    setting()
    offers = [choice.model.ref for choice in asyncio.run(model_choice.offline())]
    assert offers == ([SMALL, *DEMOS] if model_choice.is_installed() else DEMOS)
    monkeypatch.setattr("segue.testing.local.find_spec", lambda name: None)
    assert chosen().model.ref == DEMOS[0]


def test_the_hint_how_to_use_a_provider_depends_on_the_keys_that_are_set(setting: Setting) -> None:
    setting()
    assert "no key is set" in model_choice.provider_hint()
    setting(AZURE_OPENAI_API_KEY="sk-secret-of-the-tests-0123456789")
    assert model_choice.provider_hint() == (
        "a key for Azure OpenAI is set; to use it, name a model: --model azure/MODEL"
    )


def test_a_server_of_this_process_is_started_once_and_stopped(setting: Setting) -> None:
    setting()
    model = demo_models()[0]

    async def twice() -> tuple[str | None, str | None]:
        servers = LocalServers()
        await asyncio.gather(servers.start(model), servers.start(model))
        first = servers.connection(model).base_url
        await servers.start(model)
        second = servers.connection(model).base_url
        await servers.aclose()
        assert servers.connection(model).base_url is None
        return first, second

    first, second = asyncio.run(twice())
    assert first == second and first is not None


def test_a_cancelled_start_does_not_lose_the_server(setting: Setting) -> None:
    setting()
    model = demo_models()[0]

    async def cancelled() -> None:
        servers = LocalServers()
        waiting = asyncio.create_task(servers.start(model))
        await asyncio.sleep(0)
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting
        await servers.start(model)
        assert servers.connection(model).base_url is not None
        await servers.aclose()

    asyncio.run(cancelled())
