"""Files, stored sessions and pasted text are opened, listed and searched."""

import html
import json
import threading

import httpx2
import pytest
from support.waiting import HANGS

import segue
from segue.session import AnyEntry, Compacted, MessageAdded, ModelChosen
from segue.studio import id_of
from segue.types import Message, UserMessage

from .conftest import EXAMPLE, Running

CONTEXT = segue.Context.from_json(EXAMPLE.read_bytes())


def added(messages: list[Message], first: int = 0) -> list[AnyEntry]:
    return [MessageAdded(key=f"m{at}", time=1, message=message) for at, message in enumerate(messages, first)]


@pytest.mark.parametrize(
    ("text", "form"),
    [
        (EXAMPLE.read_text(), "a conversation of segue"),
        (segue.encode(CONTEXT, "openai/gpt-5.4").json().decode(), "a request body of openai-responses"),
        ('[{"role": "user", "content": "hi"}, {"role": "tool", "tool_call_id": "x", "content": "y"}]', "a list of"),
    ],
)
def test_pasted_text_is_recognised_and_the_page_says_what_it_was_taken_for(
    studio: Running, text: str, form: str
) -> None:
    response = studio.paste(text)
    assert response.status_code == 200
    assert form in response.text


def test_a_dropped_file_is_opened_under_its_name(studio: Running) -> None:
    response = studio.client.post("/open", files={"file": ("incident.json", EXAMPLE.read_bytes())})
    assert "<h1>incident.json</h1>" in response.text


@pytest.mark.parametrize("text", ["", "hello", "{}", '{"messages": 3}', "[1, 2]"])
def test_text_that_is_not_a_conversation_is_an_error_on_the_page(studio: Running, text: str) -> None:
    response = studio.paste(text)
    assert response.status_code == 422
    assert 'role="alert"' in response.text
    assert f'rows="5">{text}</textarea>' in html.unescape(response.text)  # kept, to be corrected


def test_a_side_file_of_a_tool_is_not_shown_as_a_conversation(studio: Running) -> None:
    message = b'{"id": "msg_1", "sessionID": "ses_1", "role": "assistant", "time": {"created": 1}}'
    response = studio.client.post("/open", files={"file": ("msg_1.json", message)})
    assert response.status_code == 422
    assert "this is a message of opencode without its parts" in response.text


def test_an_address_without_a_page_is_an_error_in_words(studio: Running) -> None:
    for path in ("/nothing", "/c/x/y/z", "/assets/nothing.js"):
        response = studio.get(path)
        assert response.status_code == 404
        assert "there is no page at this address" in response.text


def test_several_conversations_in_one_file_are_listed(studio: Running) -> None:
    lines = b"\n".join(segue.Context([UserMessage(f"number {at}")]).to_json() for at in range(3))
    response = studio.client.post("/open", files={"file": ("many.jsonl", lines)})
    assert response.url.path == "/"
    assert "many.jsonl (3)" in response.text


def test_a_stored_session_is_listed_searched_and_shown_with_its_marks(studio: Running) -> None:
    store, messages = studio.store, CONTEXT.messages
    store.create("one", time=1, title="orders dropped")
    compaction = Compacted(key="k", time=1, summary=UserMessage("so far"), first="m4", model="a/b")
    chosen = ModelChosen(key="c", time=1, model="openai/gpt-5.4", protocol="openai-responses")
    store.append("one", [*added(messages[:6]), compaction, chosen, *added(messages[6:], 6)], after=0)
    store.fork("one", 9, "two", time=2)
    assert "orders dropped" in studio.page("/")
    place = studio.json("/index.json?q=card_token")["found"][0]
    assert place["message"] == 3
    assert "<mark>card_token</mark>" in studio.page("/?q=card_token")
    current = studio.json(f"/c/{id_of('session', 'one')}.json")
    assert current["messages"] == len(messages) - 3  # the summary stands for the first four
    assert current["events"][0]["kind"] == "compaction"
    assert f'href="/c/{id_of("log", "one")}"' in studio.page(f"/c/{id_of('session', 'one')}")
    found = studio.json(f"/c/{id_of('log', 'one')}.json")
    assert found["messages"] == len(messages)
    assert {"message": 6, "kind": "compaction", "text": "compacted by a/b"} in found["events"]
    forked = studio.json(f"/c/{id_of('log', 'two')}.json")
    assert {"message": 7, "kind": "fork", "text": "forked from one"} in forked["events"]


def test_what_is_not_there_is_a_clear_404(studio: Running) -> None:
    response = studio.get("/c/0123456789ab")
    assert response.status_code == 404
    assert "there is no such conversation here" in response.text


def test_entries_that_are_added_to_a_session_are_reported_as_they_happen(studio: Running) -> None:
    studio.store.create("growing", time=1)
    studio.store.append("growing", added(CONTEXT.messages[:1]), after=0)
    id_ = id_of("session", "growing")
    assert 'data-live="/c/' in studio.page(f"/c/{id_}")
    seen, events = threading.Event(), []

    def listen() -> None:
        with studio.client.stream("GET", f"/c/{id_}/live?after=1", timeout=HANGS) as response:
            for line in response.iter_lines():
                if line.startswith(": watching"):
                    seen.set()
                if line.startswith("data:"):
                    events.append(line)
                    return

    thread = threading.Thread(target=listen)
    thread.start()
    assert seen.wait(HANGS)
    studio.store.append("growing", added(CONTEXT.messages[1:3], 1), after=1)
    thread.join(HANGS)
    assert events == ["data: 3"]
    assert studio.json(f"/c/{id_}.json")["messages"] == 3


def test_what_cannot_grow_has_no_stream(studio: Running) -> None:
    assert studio.get(f"/c/{studio.open().id}/live").status_code == 204


def test_models_are_listed_for_the_field_that_adds_one(studio: Running) -> None:
    assert studio.get("/models.json").json() == segue.list_models()


def test_too_much_is_refused(studio: Running, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("segue.studio.app.LARGEST", 1000)
    response: httpx2.Response = studio.paste(json.dumps([{"role": "user", "content": "x" * 2000}]))
    assert response.status_code == 413
