"""Every provider row of the catalog behind the gateway, in each of its protocols, with the official SDKs in turn."""

import os
from collections.abc import Iterator

import httpx2
import pytest
from support.gateways import CALL, TALKS, Served, parts_of, written
from support.providers import MODELS
from support.targets import built_in, every
from support.waiting import until

from segue.types import Model


def chosen(provider: str, protocol: str) -> Model:
    """A model of a provider that speaks a protocol: one that thinks, if there is one."""
    if MODELS[protocol].provider == provider:
        return MODELS[protocol]
    rows = [model for model in every() if model.provider == provider and model.protocol == protocol]
    rows.sort(key=lambda model: not model.reasoning)
    return rows[0] if rows else built_in().resolve(f"{provider}/nobody-knows", protocol)


ROWS = {
    f"{provider.id} {protocol}": chosen(provider.id, protocol)
    for provider in built_in().providers.values()
    for protocol in provider.protocols
}
SIGNING = (
    "anthropic anthropic-messages", "openai openai-responses", "azure anthropic-messages", "azure openai-responses",
    "google google-generative-ai", "google-vertex google-generative-ai", "google-vertex anthropic-messages",
    "amazon-bedrock bedrock-converse", "openrouter anthropic-messages",
)  # fmt: skip
"""Rows whose signatures must return."""
NAMES = list(ROWS)
CLIENTS = list(TALKS)


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with Served(tmp_path_factory.mktemp("gateway"), models=ROWS) as found:
        yield found


def other_than(at: int) -> str:
    """A row of another protocol."""
    rest = [*NAMES[at:], *NAMES[:at]]
    return next(name for name in rest if ROWS[name].protocol != ROWS[NAMES[at]].protocol)


def newest_changes(served: Served) -> list[str]:
    """The codes of the changes in the request that was reported last."""
    report = httpx2.get(f"{served.url}/segue/requests").json()["requests"][0]
    return [change["code"] for change in report["changes"]]


def test_thinking_of_a_type_that_the_model_does_not_accept_is_rendered(served: Served) -> None:
    name = "azure anthropic-messages"
    served[name].say("Yes.")
    assert TALKS["anthropic-messages"](served.url).say(name, "Do you think?") == "Yes."
    assert served.refusals() == []


@pytest.mark.parametrize("turn", range(len(CLIENTS) if os.environ.get("SEGUE_SOAK") else 1))
@pytest.mark.parametrize("name", NAMES)
def test_a_conversation_goes_through_every_row_and_returns(served: Served, name: str, turn: int) -> None:
    """A tool loop, a second turn, one with another family, and one back: nothing is refused, every signature returns
    to its maker byte for byte, and what does not is reported."""
    at = NAMES.index(name)
    client, stream = CLIENTS[(at + turn) % len(CLIENTS)], (at // len(CLIENTS) + turn) % 2 == 0
    other = other_than(at)
    first, second = served[name], served[other]
    talk = TALKS[client](served.url, drops=at % 3 == 0)
    before = len(first.signatures)
    first.say(CALL, "It is warm.", "It stays so.")
    assert talk.say(name, f"Weather in Paris? {name} {turn}", stream) == "It is warm."
    assert talk.say(name, "Tomorrow?", not stream) == "It stays so."
    issued = first.signatures[before:]
    second.say(CALL, "It still is.")
    assert talk.say(other, "And now?", stream) == "It still is."
    first.say("Yes.")
    assert talk.say(name, "Sure?", not stream) == "Yes."
    assert served.refusals() == []
    sent = written(first.requests[-1])
    missing = [each for each in issued if not all(part in sent for part in parts_of(each))]
    if missing:  # some rows do not accept thinking, and the report, which is written after the answer, says so
        until(lambda: "thinking-dropped" in newest_changes(served))
    assert not missing or name not in SIGNING
    assert issued or name not in SIGNING
