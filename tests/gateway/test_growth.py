"""A conversation that grows by one: what was read before is not read again."""

import json
from typing import Any

import pytest

from segue.gateway.conversation import Conversations
from segue.render import read_request
from segue.transport import Body, read_body

TURNS = 300


def anthropic(count: int, marked: bool) -> dict[str, Any]:
    """A conversation of tool calls; with ``marked``, its last message has a cache marker, as clients move it."""
    messages: list[dict[str, Any]] = [{"role": "user", "content": [{"type": "text", "text": "Go."}]}]
    for at in range(count):
        call = {"type": "tool_use", "id": f"toolu_{at}", "name": "look", "input": {"at": at}}
        messages.append({"role": "assistant", "content": [{"type": "text", "text": f"Step {at}."}, call]})
        result = {"type": "tool_result", "tool_use_id": f"toolu_{at}", "content": f"Seen {at}."}
        messages.append({"role": "user", "content": [result]})
    if marked:
        messages[-1]["content"][-1]["cache_control"] = {"type": "ephemeral"}
    return {"model": "m", "max_tokens": 10, "system": "Be brief.", "messages": messages}


def chat(count: int, marked: bool) -> dict[str, Any]:
    messages: list[dict[str, Any]] = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Go."}]
    for at in range(count):
        call = {"id": f"call_{at}", "type": "function", "function": {"name": "look", "arguments": "{}"}}
        messages.append({"role": "assistant", "content": f"Step {at}.", "tool_calls": [call]})
        messages.append({"role": "tool", "tool_call_id": f"call_{at}", "content": f"Seen {at}."})
    return {"model": "m", "messages": messages}


def responses(count: int, marked: bool) -> dict[str, Any]:
    items: list[dict[str, Any]] = [{"type": "message", "role": "user", "content": "Go."}]
    for at in range(count):
        items.append({"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": f"{at}"}]})
        items.append({"type": "function_call", "call_id": f"call_{at}", "name": "look", "arguments": "{}"})
        items.append({"type": "function_call_output", "call_id": f"call_{at}", "output": f"Seen {at}."})
    return {"model": "m", "input": items}


def gemini(count: int, marked: bool) -> dict[str, Any]:
    contents: list[dict[str, Any]] = [{"role": "user", "parts": [{"text": "Go."}]}]
    for at in range(count):
        call = {"functionCall": {"id": f"c{at}", "name": "look", "args": {"at": at}}}
        contents.append({"role": "model", "parts": [{"text": f"Step {at}."}, call]})
        answer = {"functionResponse": {"id": f"c{at}", "name": "look", "response": {"output": "Seen."}}}
        contents.append({"role": "user", "parts": [answer]})
    return {"contents": contents}


FORMS = {
    "anthropic-messages": anthropic,
    "openai-completions": chat,
    "openai-responses": responses,
    "google-generative-ai": gemini,
}


def body_of(document: dict[str, Any]) -> Body:
    found = read_body(json.dumps(document).encode())
    assert found is not None
    return found


@pytest.mark.parametrize("marked", [False, True], ids=["plain", "with cache markers"])
@pytest.mark.parametrize("protocol", FORMS)
def test_reading_a_longer_body_reads_only_what_is_new(
    protocol: str, marked: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The result is that of reading everything, and the number of messages that are read does not grow."""
    read: list[int] = []
    module = "segue.gateway.conversation"

    def counted(*arguments: Any) -> Any:
        found = read_request(*arguments)
        read.append(len(found.context.messages))
        return found

    monkeypatch.setattr(f"{module}.read_request", counted)
    known = Conversations()
    make = FORMS[protocol]
    for count in (TURNS, TURNS + 1, TURNS + 2):
        body = body_of(make(count, marked))
        reading = known.read(body, protocol, "tenant", "session", 0)
        whole = read_request(json.loads(body.data), protocol, None, 0)
        assert reading.known.messages == whole.context.messages
        assert reading.known.prompt == whole.context.system_prompt
        reading.known.links += [""] * (len(reading.known.messages) + 1 - len(reading.known.links))
        reading.known.found += [None] * (len(reading.known.messages) - len(reading.known.found))
        known.put(reading)
    assert read[0] > TURNS and max(read[1:]) <= 6
    assert known.hits == 2


def test_a_changed_message_in_the_middle_is_read_again() -> None:
    known = Conversations()
    first = anthropic(5, False)
    known.put(known.read(body_of(first), "anthropic-messages", "tenant", "session", 0))
    first["messages"][4]["content"][0]["content"] = "Edited."
    reading = known.read(body_of(first), "anthropic-messages", "tenant", "session", 0)
    assert reading.known.messages == read_request(first, "anthropic-messages", None, 0).context.messages


def test_another_tenant_does_not_continue_it() -> None:
    known = Conversations()
    body = body_of(anthropic(3, False))
    known.put(known.read(body, "anthropic-messages", "one", "session", 0))
    known.read(body, "anthropic-messages", "two", "session", 0)
    assert (known.hits, known.misses) == (0, 2)
