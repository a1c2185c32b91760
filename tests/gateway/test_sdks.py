"""The official SDKs, through the gateway, to strict stand-ins of every protocol: tool loops, second turns, switches."""

import pytest
from support.gateways import CALL, TALKS, Served, parts_of, written
from support.providers import MODELS

SIGNED = ("anthropic-messages", "openai-responses", "google-generative-ai", "bedrock-converse")


def other_than(target: str) -> str:
    """A target of another family."""
    return "openai-responses" if target != "openai-responses" else "anthropic-messages"


@pytest.mark.parametrize("target", MODELS)
@pytest.mark.parametrize("client", TALKS)
@pytest.mark.parametrize("drops", [False, True], ids=["keeps", "drops"])
def test_a_conversation_changes_models_and_returns(served: Served, client: str, target: str, drops: bool) -> None:
    """A tool loop, a turn with another family, and one back: nothing is refused, and every signature that a maker has
    issued returns to it byte for byte, even if the client has dropped it."""
    other = other_than(target)
    first, second = served[target], served[other]
    talk = TALKS[client](served.url, drops=drops)
    stream = drops == (client in ("anthropic-messages", "openai-completions"))
    first.say(CALL, "It is warm.")
    second.say(CALL, "It still is.")
    before = len(first.signatures)
    assert talk.say(target, f"Weather in Paris? {client} {drops}", stream) == "It is warm."
    issued = first.signatures[before:]
    assert talk.say(other, "And now?", not stream) == "It still is."
    first.say("Yes.")
    assert talk.say(target, "Sure?", stream) == "Yes."
    assert served.refusals() == []
    if target in SIGNED:
        last = written(first.requests[-1])
        missing = [each for each in issued if not all(part in last for part in parts_of(each))]
        assert issued and missing == []
