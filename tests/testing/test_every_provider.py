"""Every provider row of the catalog, through the client: a torn conversation of all origins is accepted by a strict
stand-in for that row, in each of its protocols, and so is the answer that it then gets. The conversation as it is
stored is refused."""

from typing import Any

import pytest
from support.journeys import ORIGINS, TOOLS, journey
from support.targets import built_in, every

import segue
from segue import Connection, Options, Retries
from segue.testing import Reply, StandIn
from segue.types import Context, Message, Model, TextContent, ToolCall, ToolResultMessage, UserMessage

HISTORIES = ("messages", "input", "contents")
"""The field with the conversation, in every protocol."""


def torn() -> Context:
    """A turn of every origin, each interrupted after the first of two results, a result without a call before it."""
    messages: list[Message] = [UserMessage("Go."), ToolResultMessage("lost", "read_file", [TextContent("late")])]
    for origin in ORIGINS:
        messages += [*journey(origin)[:3], UserMessage("Stop.")]
    return Context(system_prompt="Be brief.", messages=messages, tools=TOOLS)


TORN = torn()


def calling() -> dict[tuple[str, str], Model]:
    """One model that calls tools for each provider and protocol: the first that has a row, or one without a row where
    only the owner of a server knows its models."""
    found: dict[tuple[str, str], Model] = {}
    for model in every():
        if model.tools and getattr(model.dialect, "tools", True):
            found.setdefault((model.provider, model.protocol), model)
    for provider in built_in().providers.values():
        for protocol in provider.protocols:
            found.setdefault((provider.id, protocol), built_in().resolve(f"{provider.id}/some-model", protocol))
    return found


MODELS = calling()


def connection(server: StandIn, **settings: Any) -> Connection:
    """Without retries, and without cures of refused requests."""
    return Connection(base_url=server.url, api_key=server.key, retries=Retries(count=0), heal=False, **settings)


def test_no_provider_and_no_protocol_is_left_out() -> None:
    rows = built_in().providers.values()
    assert set(MODELS) == {(row.id, protocol) for row in rows for protocol in row.protocols}
    without_rows = {model.provider for model in MODELS.values() if not model.known}
    assert without_rows <= {"llamacpp", "vllm", "litellm"}


@pytest.mark.parametrize("row", MODELS, ids=" ".join)
def test_a_torn_hand_off_is_accepted_and_continues(row: tuple[str, str]) -> None:
    model = MODELS[row]
    call = ToolCall("", "read_file", {"path": "a.py"})
    with StandIn(row[0], protocol=row[1], script=[Reply([TextContent("Wait."), call]), "Done."]) as server:
        asked = segue.complete_sync(TORN, model, Options(max_tokens=500), connection=connection(server))
        [made] = asked.runnable_calls
        result = ToolResultMessage(made.id, made.name, [TextContent("print(1)")])
        longer = Context(system_prompt="Be brief.", messages=[*TORN.messages, asked, result], tools=TOOLS)
        answer = segue.complete_sync(longer, model, Options(max_tokens=500), connection=connection(server))
    assert (answer.text, server.refused, len(server.requests)) == ("Done.", [], 2)


@pytest.mark.parametrize("row", MODELS, ids=" ".join)
def test_the_same_conversation_as_it_is_stored_is_refused(row: tuple[str, str]) -> None:
    stored = segue.export(TORN, row[1]).body
    history = {name: stored[name] for name in HISTORIES if name in stored}
    with StandIn(row[0], protocol=row[1]) as server:
        raw = connection(server, on_request=lambda body: body | history)
        with pytest.raises(segue.InvalidRequestError):
            segue.complete_sync(TORN, MODELS[row], connection=raw)
    assert len(server.refused) == 1
