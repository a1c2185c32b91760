"""A request leaves nothing to the garbage collector: its objects would stay until its oldest generation is searched,
which is rare, and memory would grow with every long stream."""

import gc
import weakref
from collections.abc import Iterator
from typing import Any

import httpx2
import pytest
from support.gateways import Served
from support.waiting import until

from segue.gateway import pipeline
from segue.wire.common.answer import Answer


@pytest.fixture
def seen(monkeypatch: pytest.MonkeyPatch) -> Iterator[list["weakref.ref[Any]"]]:
    """References to the journals and answers that are made, while the collector does not run."""
    made: list[weakref.ref[Any]] = []
    for kind in (pipeline.Ask, Answer):
        begin = kind.__init__

        def noted(self: Any, *arguments: Any, begin: Any = begin, **named: Any) -> None:
            made.append(weakref.ref(self))
            begin(self, *arguments, **named)

        monkeypatch.setattr(kind, "__init__", noted)
    gc.collect()
    gc.disable()
    yield made
    gc.enable()


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("path", ["/v1/messages", "/v1/chat/completions", "/v1/responses"])
def test_a_request_is_freed_when_it_has_ended(
    served: Served, seen: list["weakref.ref[Any]"], path: str, stream: bool
) -> None:
    turns: dict[str, Any] = {"messages": [{"role": "user", "content": "Hi"}], "max_tokens": 100}
    body = {"input": "Hi"} if path == "/v1/responses" else turns
    answer = httpx2.post(served.url + path, json={"model": "anthropic-messages", "stream": stream, **body})
    assert answer.status_code == 200
    assert len(seen) >= 2
    served.report(answer)
    until(lambda: not any(each() is not None for each in seen))
