"""Endpoints with quirks that the catalog does not know, behind the gateway: a request that is refused is changed, sent
once more and answered, whichever protocol the client speaks, and what was learnt is used from then on."""

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest
from msgspec.structs import replace
from support.gateways import TALKS, Served
from support.providers import MODELS
from support.quirks import QUIRKS, Quirk
from support.waiting import HANGS

import segue
from segue.healing import Facts
from segue.render import Request
from segue.types import Model

NAME = "the-model"
SPOKEN = [each for each in QUIRKS if segue.Catalog.load().resolve(each.model, each.protocol).protocol in TALKS]
"""Quirks of endpoints whose protocol clients speak."""


@pytest.fixture(autouse=True)
def _own_facts(monkeypatch: pytest.MonkeyPatch) -> None:
    facts = Facts()
    monkeypatch.setattr(sys.modules["segue.client.reach"], "default_facts", lambda: facts)


@pytest.fixture
def served(tmp_path: Path, quirk: Quirk) -> Iterator[Served]:
    model = segue.Catalog.default().resolve(quirk.model, quirk.protocol)
    with Served(tmp_path, models={NAME: model}, quirks={"refuses": quirk.refuses}) as found:
        yield found


UNKNOWN = ("1", "4", "7", "21")
"""Cures for thinking: that of an answer which did not pass through the gateway is sent as text."""


def request_of(quirk: Quirk, client: Model, stream: bool) -> Request:
    """What a client sends that knows nothing of the quirk."""
    return segue.encode(quirk.context, replace(client, id=NAME), replace(quirk.options, stream=stream))


def post(request: Request, url: str) -> httpx2.Response:
    prefix = {"openai-completions": "/v1", "openai-responses": "/v1", "google-generative-ai": "/v1beta"}
    address = url + prefix.get(request.model.protocol, "") + request.path
    return httpx2.post(address, content=request.json(), headers=request.headers, timeout=HANGS)


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
@pytest.mark.parametrize("quirk", SPOKEN, ids=repr)
def test_a_refusal_that_a_change_cures_never_reaches_a_client_of_the_same_protocol(
    quirk: Quirk, served: Served, stream: bool
) -> None:
    request = request_of(quirk, served.models[NAME], stream)
    is_refused = quirk.cure not in UNKNOWN and quirk.refuses(request.body) is not None
    for requests in quirk.requests if is_refused else (1, 1):
        before = len(served[NAME].requests)
        answer = post(request, served.url)
        assert answer.status_code == 200, answer.text
        assert len(served[NAME].requests) - before == requests, served[NAME].refused
        assert events_of(answer) if stream else json.loads(answer.text)
        assert bool(served.report(answer)["healed"]) == (requests > 1)
    assert not is_refused or quirk.shows(served[NAME].requests[-1])


@pytest.mark.parametrize("quirk", QUIRKS, ids=repr)
def test_nor_one_of_another_protocol(quirk: Quirk, served: Served) -> None:
    at = QUIRKS.index(quirk)
    others = [MODELS[protocol] for protocol in TALKS if protocol != served.models[NAME].protocol]
    answer = post(request_of(quirk, others[at % len(others)], at % 2 == 0), served.url)
    assert answer.status_code == 200, answer.text
    assert len(served[NAME].requests) <= quirk.requests[0]


def events_of(answer: httpx2.Response) -> list[Any]:
    """The events of a stream, each of which is JSON."""
    lines = [line.removeprefix("data: ") for line in answer.text.splitlines() if line.startswith("data: ")]
    return [json.loads(line) for line in lines if line != "[DONE]"]
