"""The provider's own answer on its way to the client: only the name of the model is replaced."""

import json
from itertools import pairwise
from typing import Any
from urllib.parse import parse_qs

import pytest
from hypothesis import given, strategies as st

import segue
from segue.gateway.clients import CLIENTS
from segue.gateway.forward import Forwarded, Renamer
from segue.types import Context, UserMessage

TALK = Context(messages=[UserMessage("Hello?")])
PATHS = {
    "anthropic-messages": lambda name: {"type": "message_start", "message": {"id": "m", "model": name}},
    "openai-completions": lambda name: {"id": "c", "model": name, "choices": []},
    "openai-responses": lambda name: {"type": "response.created", "response": {"id": "r", "model": name}},
    "google-generative-ai": lambda name: {"candidates": [], "modelVersion": name},
}
"""An event of each protocol that has the name of the model."""
LINES = st.one_of(
    st.sampled_from([b"", b": a comment", b"event: message_start", b'data: "model', b'"model', b"data: [DONE]", b"\r"]),
    st.builds(lambda text: b"data: " + json.dumps({"text": text}).encode(), st.text()),
    st.builds(lambda text: b'data: {"text":' + json.dumps(f'"model":"{text}"').encode() + b"}", st.text()),
)


def renamed(protocol: str, data: bytes, cuts: list[int]) -> bytes:
    renamer = Renamer(CLIENTS[protocol], "asked", streamed=True)
    places = sorted({0, len(data), *(cut % (len(data) + 1) for cut in cuts)})
    pieces = [data[start:end] for start, end in pairwise(places)]
    return b"".join([*map(renamer.feed, pieces), renamer.close()])


@pytest.mark.parametrize("protocol", PATHS)
@given(
    before=st.lists(LINES),
    after=st.lists(LINES),
    cuts=st.lists(st.integers(min_value=0)),
    end=st.sampled_from([b"\n", b"\r\n"]),
)
def test_everything_else_passes_byte_for_byte(
    protocol: str, before: list[bytes], after: list[bytes], cuts: list[int], end: bytes
) -> None:
    def stream(name: str) -> bytes:
        event = json.dumps(PATHS[protocol](name), separators=(",", ":")).encode()
        return end.join([*before, b"", b"data: " + event, b"", *after])

    assert renamed(protocol, stream("real"), cuts) == stream("asked")


@pytest.mark.parametrize("query", ["", "foo=bar", "alt=json", "alt=sse&key=secret", "key=secret&beta=true"])
def test_the_query_of_a_client_does_not_change_what_is_read_of_the_answer(query: str) -> None:
    model = segue.Catalog.default().resolve("google/gemini-2.5-pro")
    request = segue.encode(TALK, model, segue.Options(stream=True))
    sent = parse_qs(Forwarded.of(request, b"{}", query, {}).path.partition("?")[2])
    assert sent["alt"] == ["sse"] and "key" not in sent
    assert set(parse_qs(query)) <= {*sent, "key"}


@pytest.mark.parametrize("protocol", PATHS)
def test_a_whole_answer_is_renamed_too(protocol: str) -> None:
    event: Any = PATHS[protocol]("real")
    body = event.get("message") or event.get("response") or event
    renamer = Renamer(CLIENTS[protocol], "asked", streamed=False)
    assert renamer.feed(json.dumps(body).encode()) == b""
    assert json.loads(renamer.close()) == json.loads(json.dumps(body).replace("real", "asked"))
