"""Thinking that is bound to everything before it: the stand-in enforces the bindings, and segue respects them."""

import json
from typing import Any

import anthropic
import pytest
from hypothesis import given, settings, strategies as st
from msgspec.structs import replace

import segue
from segue.testing import Reply, StandIn
from segue.types import (
    AssistantMessage,
    Context,
    Message,
    Model,
    TextContent,
    ThinkingContent,
    ToolCall,
    ToolDefinition,
    ToolResultMessage,
    UserMessage,
)
from segue.wire.common.binding import BETA

BOUND = segue.get_model("anthropic/claude-opus-5-5")
TOOLS = [ToolDefinition("bash", "run", {"type": "object"})]
THINKS = Reply([ThinkingContent("Let me see."), TextContent("So it is.")])
CALLS = Reply([ThinkingContent("", redacted=True), ThinkingContent("I need the tool."), ToolCall("", "bash", {"a": 1})])


def client_of(server: StandIn) -> anthropic.Anthropic:
    http = anthropic.DefaultHttpxClient(verify=False)
    return anthropic.Anthropic(base_url=server.url, api_key=server.key, max_retries=0, http_client=http)


class Talk:
    """A growing conversation with a stand-in, through segue's own encoder and decoder."""

    def __init__(self, server: StandIn, model: Model = BOUND) -> None:
        self.server = server
        self.model = model
        self.connection = segue.Connection(base_url=server.url, api_key=server.key)
        self.system = "Be brief."
        self.tools = TOOLS
        self.messages: list[Message] = []

    @property
    def context(self) -> Context:
        return Context(system_prompt=self.system, messages=self.messages, tools=self.tools)

    def ask(self, text: str, *replies: Reply) -> AssistantMessage:
        """Run one turn: the answers in ``replies``, with a result after each call."""
        self.messages.append(UserMessage(text))
        for reply in replies:
            self.server.say(reply)
            answer = segue.complete_sync(self.context, self.model, connection=self.connection)
            assert answer.stop_reason in ("stop", "toolUse")
            self.messages.append(answer)
            for block in answer.content:
                if isinstance(block, ToolCall):
                    self.messages.append(ToolResultMessage(block.id, block.name, [TextContent("ok")]))
        return answer

    def forget_digests(self) -> None:
        """Remove the digests, as if the history had been imported."""
        self.messages = [
            replace(message, prefix_digest=None) if isinstance(message, AssistantMessage) else message
            for message in self.messages
        ]

    def raw(self, model: Model | None = None, **headers: str) -> tuple[int, dict[str, Any]]:
        """Send the next request, and return the status and the body of the answer."""
        self.messages.append(UserMessage("and?"))
        request = segue.encode(self.context, model or self.model)
        client = anthropic.DefaultHttpxClient(verify=False)
        sent = {**request.headers, "x-api-key": self.server.key or "", **headers}
        answer = client.post(self.server.url + request.path, content=request.json(), headers=sent)
        client.close()
        return answer.status_code, answer.json()


def edit(talk: Talk, what: str) -> None:
    match what:
        case "system":
            talk.system = "Be loud."
        case "tools":
            talk.tools = [*TOOLS, ToolDefinition("grep", "search", {"type": "object"})]
        case "message":
            talk.messages[0] = UserMessage("edited")
        case "front":  # cut like a compaction
            talk.messages = [UserMessage("Summary of what was."), *talk.messages[4:]]


EDITS = ["system", "tools", "message", "front"]


@pytest.fixture
def talk() -> Any:
    with StandIn("anthropic") as server:
        talk = Talk(server)
        talk.ask("first", CALLS, THINKS)
        talk.ask("second", THINKS)
        yield talk


def test_nothing_is_dropped_without_an_edit(talk: Talk) -> None:
    status, answer = talk.raw()
    assert (status, answer["input_transformations"]) == (200, [])
    talk.forget_digests()
    status, answer = talk.raw()
    assert (status, answer["input_transformations"]) == (200, [])


@pytest.mark.parametrize("what", EDITS)
def test_an_edit_is_accepted_with_our_digest_and_the_report_lists_what_was_dropped(talk: Talk, what: str) -> None:
    edit(talk, what)
    dropped = [change for change in segue.encode(talk.context, BOUND).changes if change.code == "thinking-dropped"]
    assert dropped and all(change.lossy for change in dropped)
    status, answer = talk.raw()
    assert (status, answer["input_transformations"]) == (200, []), "the provider finds nothing that we did not"


@pytest.mark.parametrize("what", EDITS)
def test_an_edit_is_accepted_without_our_digest_and_the_provider_reports_what_it_dropped(talk: Talk, what: str) -> None:
    talk.forget_digests()
    edit(talk, what)
    assert [change for change in segue.encode(talk.context, BOUND).changes if change.code == "thinking-dropped"] == []
    status, answer = talk.raw()
    assert status == 200
    dropped = answer["input_transformations"]
    assert dropped and {(each["type"], each["reason"]) for each in dropped} == {
        ("thinking_dropped", "prefix_binding_mismatch")
    }
    sent = talk.server.requests[-1]["messages"]
    for each in dropped:
        _, turn, _, block = each["path"].split(".")
        assert sent[int(turn)]["content"][int(block)]["type"] in ("thinking", "redacted_thinking")


@pytest.mark.parametrize("what", EDITS)
def test_an_edit_is_refused_if_the_request_asks_for_an_error(talk: Talk, what: str) -> None:
    strict = replace(BOUND, dialect=replace(BOUND.dialect, prefix_mismatch="error"))
    talk.forget_digests()
    edit(talk, what)
    status, answer = talk.raw(strict)
    assert status == 400
    assert "The block is bound to a different conversation." in answer["error"]["message"]


def test_the_field_is_refused_without_its_header(talk: Talk) -> None:
    status, answer = talk.raw(**{"anthropic-beta": "other-2026"})
    assert (status, answer["error"]["message"]) == (
        400,
        "thinking.adaptive.block_binding: Extra inputs are not permitted",
    )


def test_without_the_field_an_edit_is_refused_and_the_error_names_the_header(talk: Talk) -> None:
    talk.forget_digests()
    edit(talk, "system")
    body = segue.encode(talk.context, BOUND).body
    del body["thinking"]
    words = "That setting requires the `thinking-binding-controls"
    with client_of(talk.server) as client, pytest.raises(anthropic.BadRequestError, match=words):
        client.messages.create(**body)


def test_the_first_event_of_a_stream_lists_what_was_dropped(talk: Talk) -> None:
    talk.forget_digests()
    edit(talk, "system")
    talk.messages.append(UserMessage("and?"))
    body = segue.encode(talk.context, BOUND, segue.Options(stream=True)).body
    with client_of(talk.server) as client:
        events = list(client.beta.messages.create(**body, betas=[BETA]))
    assert events[0].type == "message_start"
    dropped = events[0].message.input_transformations
    assert dropped and {each.type for each in dropped} == {"thinking_dropped"}
    assert [event.input_transformations for event in events if event.type == "message_delta"] == [None]


def test_a_block_may_be_removed_from_the_start_but_not_from_the_middle(talk: Talk) -> None:
    """The blocks that are kept must be an unbroken run of the original sequence (CLIProxyAPI#5422, 2026-10;
    platform.claude.com, "Preserved thinking")."""
    talk.forget_digests()
    thinking = [at for at, each in enumerate(talk.messages) if isinstance(each, AssistantMessage)]

    def without(at: int) -> list[Any]:
        answer = talk.messages[at]
        kept = [block for block in answer.content if not isinstance(block, ThinkingContent)]
        edited = [*talk.messages[:at], replace(answer, content=kept), *talk.messages[at + 1 :]]
        whole, talk.messages = talk.messages, edited
        try:
            return list(talk.raw()[1]["input_transformations"])
        finally:
            talk.messages = whole

    assert without(thinking[0]) == []
    assert without(thinking[-1]) == []
    assert [each["reason"] for each in without(thinking[1])] == ["prefix_binding_mismatch"]


@pytest.mark.parametrize("of", ["claude-opus-5", "claude-haiku-4-5", "claude-fable-5", "claude-fable-5-1"])
def test_thinking_of_another_claude_is_sent_only_to_a_model_that_reads_it(of: str) -> None:
    """With `auto`, nothing is sent that the provider would refuse or drop."""
    with StandIn("anthropic") as server:
        talk = Talk(server, segue.get_model(f"anthropic/{of}"))
        talk.ask("first", THINKS)
        for name in ("claude-opus-5-5", "claude-opus-4-8", "claude-sonnet-5", "claude-fable-5-1"):
            target = segue.get_model(f"anthropic/{name}")
            request = segue.encode(talk.context, target, policy="phi-core")
            headers = {name.lower(): value for name, value in request.headers.items()}
            judged = server.bindings(request.body, headers, target)
            assert judged.refused is None and not judged.transformed


def test_the_stand_in_refuses_a_signature_of_another_model(talk: Talk) -> None:
    """llxprt-code#2335: before 5.1 it is refused; since then its block is dropped."""
    body = json.loads(segue.encode(talk.context, BOUND).json())
    for name, refused in [("claude-opus-4-8", True), ("claude-haiku-5-5", False)]:
        model = segue.get_model(f"anthropic/{name}")
        judged = talk.server.bindings(body, {"anthropic-beta": BETA}, model)
        assert (judged.refused is not None) is refused
        if not refused:
            assert {each["reason"] for each in judged.transformed or []} == {"model_binding_mismatch"}


Step = st.sampled_from(["ask", "call", "system", "tools", "message", "front", "back"])


@settings(max_examples=25, deadline=None)
@given(st.lists(Step, min_size=2, max_size=8))
def test_after_any_edits_the_provider_drops_nothing_that_we_have_sent(steps: list[str]) -> None:
    """With our digest, no block that is bound to something else is sent, even if an edit is undone."""
    with StandIn("anthropic") as server:
        talk = Talk(server)
        talk.ask("begin", THINKS)
        for step in steps:
            if step == "ask":
                talk.ask("more", THINKS)
            elif step == "call":
                talk.ask("run", CALLS, THINKS)
            elif step == "back":
                talk.system, talk.tools = "Be brief.", TOOLS
            elif step != "front" or len(talk.messages) > 5:
                edit(talk, step)
            status, answer = talk.raw()
            assert (status, answer.get("input_transformations")) == (200, []), answer
            talk.messages.pop()
