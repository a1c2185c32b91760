"""The requests of a running gateway, as they happen."""

import json
import threading
from collections.abc import Callable, Iterator

import httpx2
import pytest
from support import hostile
from support.gateways import Served
from support.providers import MODELS
from support.raw import Asked, raw, response
from support.waiting import HANGS, free_port

from .conftest import Running

NAME = "anthropic-messages"


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    folder = tmp_path_factory.mktemp("gateway")
    with Served(folder, {NAME: MODELS[NAME]}, gateway={"record": True}) as found:
        yield found


@pytest.fixture(scope="module")
def watching(start: Callable[..., Running], served: Served) -> Running:
    return start(gateway=served.url)


def ask(served: Served, text: str) -> str:
    served[NAME].say("Fine.")
    body = {"model": NAME, "messages": [{"role": "user", "content": text}]}
    response = httpx2.post(f"{served.url}/v1/chat/completions", json=body, timeout=HANGS)
    assert response.status_code == 200, response.text
    return response.headers["x-segue-request"]


def test_a_request_is_listed_with_who_was_asked_and_who_answered(served: Served, watching: Running) -> None:
    name = ask(served, "how are you?")
    page = watching.page("/gateway")
    assert f'href="/gateway/{name}"' in page
    assert MODELS[NAME].ref in page
    row = next(row for row in watching.json("/gateway.json")["requests"] if row["id"] == name)
    assert row["asked"] == NAME
    assert "requests of the gateway" in watching.page("/")


def test_the_body_of_a_request_is_shown_for_every_model(served: Served, watching: Running) -> None:
    name = ask(served, "what is recorded?")
    page = watching.page(f"/gateway/{name}")
    link = page.partition('href="/c/')[2].partition('"')[0]
    assert "what is recorded?" in watching.page(f"/c/{link}")
    assert watching.json(f"/gateway/{name}.json")["id"] == name


def test_a_new_request_is_reported_as_it_happens(served: Served, watching: Running) -> None:
    seen, events = threading.Event(), []
    address = watching.page("/gateway").partition('data-live="')[2].partition('"')[0]

    def listen() -> None:
        with watching.client.stream("GET", address, timeout=HANGS) as response:
            for line in response.iter_lines():
                if line.startswith(": watching"):
                    seen.set()
                if line.startswith("data:"):
                    events.append(line)
                    return

    thread = threading.Thread(target=listen)
    thread.start()
    assert seen.wait(HANGS)
    name = ask(served, "and now?")
    thread.join(HANGS)
    assert len(events) == 1
    assert name in watching.page("/gateway")


def test_a_gateway_that_is_away_is_an_error_on_the_page(start: Callable[..., Running]) -> None:
    studio = start(gateway=f"http://127.0.0.1:{free_port()}")
    response = studio.get("/gateway")
    assert "does not answer: is it running?" in response.text
    assert "/: the gateway" not in response.text
    assert "ConnectError" not in response.text
    assert response.status_code == 502
    assert studio.get("/").status_code == 200


def test_without_a_gateway_there_is_no_list(studio: Running) -> None:
    assert studio.get("/gateway").status_code == 404


ROW = {
    "id": "r1",
    "time": 1.0,
    "asked": "a",
    "model": "openai/gpt-5",
    "status": 200,
    "attempts": 2,
    "seconds": 1.5,
    "usage": {"input": 1, "output": 2, "cost": 0.1},
    "changes": [{"code": "ids-changed", "message": 1, "lossy": True, "detail": "x"}],
    "body": {"model": "m", "messages": [{"role": "user", "content": "hi"}]},
}


def test_whatever_answers_in_place_of_a_gateway_is_a_page_or_an_error_with_words(
    start: Callable[..., Running],
) -> None:
    answers: list[bytes] = [b"", b"[" * 100_000, b'{"a":' * 100_000, b"\xff", b"null", b"[[]]", b"NaN"]

    def answer(asked: Asked) -> tuple[bytes, bool]:
        return response(answers[0]), True

    with raw(answer) as server:
        studio = start(gateway=server.url.replace("://", "://me:pass-word-1@"))
        rows = [hostile.replaced(ROW, path, new) for _, path in hostile.places([ROW]) for new in hostile.HOSTILE]
        answers += [json.dumps(row).encode() for row in rows]
        answers += [json.dumps({"requests": [row]}).encode() for row in rows]
        for data in list(answers):
            answers[0] = data
            for path in ("/gateway", "/gateway.json", "/gateway/r1", "/gateway/r1.json"):
                found = studio.get(path)
                assert found.status_code == 200 or "<!doctype html>" in found.text, (data, path, found.text)
                assert "pass-word-1" not in found.text
        assert server.asked[-1].headers["authorization"].startswith("Basic ")
