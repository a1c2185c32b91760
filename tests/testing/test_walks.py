"""Random walks over all providers: every request is accepted, and no real result is lost."""

import os
import random
import warnings
from contextlib import ExitStack

import msgspec
import pytest
from support.journeys import IMAGE
from support.targets import built_in, every

import segue
from segue import Connection, Options, Retries
from segue.dialects import Dialect
from segue.testing import Fault, Reply, StandIn
from segue.types import (
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

WALKS = 200 if os.environ.get("SEGUE_SOAK") else 12
TURNS = 30
TOOLS = [
    ToolDefinition("read_file", "Read a file", {"type": "object", "properties": {"path": {"type": "string"}}}),
    ToolDefinition("my.tool", "Something else", {"type": "object", "properties": {"n": {"type": "integer"}}}),
]


def all_models() -> list[Model]:
    """Up to four models of each provider and protocol, as different as possible."""
    kinds: dict[tuple[str, str], dict[Dialect, Model]] = {}
    for model in every():
        kinds.setdefault((model.provider, model.protocol), {})[model.dialect] = model
    for provider in built_in().providers.values():
        for protocol in provider.protocols:
            model = built_in().resolve(f"{provider.id}/some-model", protocol)
            kinds.setdefault((provider.id, protocol), {model.dialect: model})
    return [model for models in kinds.values() for model in list(models.values())[:4]]


MODELS = all_models()


@pytest.fixture(scope="module")
def servers():
    """One stand-in for each provider and protocol."""
    with ExitStack() as stack:
        yield {
            pair: stack.enter_context(StandIn(pair[0], protocol=pair[1]))
            for pair in {(model.provider, model.protocol): None for model in MODELS}
        }


class Walk:
    """One agent, its tools, and a user who interrupts."""

    def __init__(self, seed: int, servers: dict[tuple[str, str], StandIn]) -> None:
        self.dice = random.Random(seed)
        self.servers = servers
        self.history: list[Message] = []
        self.results: set[str] = set()
        self.count = 0

    def turn(self) -> None:
        model = self.dice.choice(MODELS)
        content: list[TextContent | segue.ImageContent] = [TextContent(f"Go on, {self.dice.random()}.")]
        if self.dice.random() < 0.2:
            content.append(IMAGE)
        self.history.append(UserMessage(content))
        for _ in range(self.dice.randint(1, 3)):
            message = self.ask(model)
            self.history.append(message)
            calls = message.runnable_calls
            if not calls:
                return
            done = calls if self.dice.random() < 0.8 else calls[: self.dice.randint(0, len(calls))]
            self.history += [self.result(call) for call in self.dice.sample(done, len(done))]
            if len(done) < len(calls):  # the user interrupts
                return

    def ask(self, model: Model) -> segue.AssistantMessage:
        server = self.servers[model.provider, model.protocol]
        server._script.clear()
        server.say(self.answer())
        connection = Connection(base_url=server.url, api_key=server.key, retries=Retries(count=0))
        options = Options(max_tokens=2000, reasoning=self.dice.choice([None, "off", "low"]))
        context = Context(system_prompt="Be brief.", messages=self.history, tools=TOOLS)
        call = segue.stream_sync if self.dice.random() < 0.7 else None
        if call is None:
            message = segue.complete_sync(context, model, options, connection=connection, check=False)
        else:
            stream = call(context, model, options, connection=connection)
            for number, _ in enumerate(stream):
                if number == self.cancel_at:
                    stream.cancel()
            assert stream.message is not None
            message = stream.message
        failure = segue.error_of(message)
        assert not isinstance(failure, segue.InvalidRequestError | segue.AuthenticationError), failure
        self.check_results(server)
        return message

    def answer(self) -> Reply | Fault:
        content = []
        if self.dice.random() < 0.5:
            content.append(ThinkingContent(f"Thought {self.dice.random()}."))
        if self.dice.random() < 0.7:
            content.append(TextContent(f"Said {self.dice.random()}."))
        calls = self.dice.choice([0, 1, 1, 2, 4])
        for _ in range(calls):
            name = self.dice.choice([tool.name for tool in TOOLS])
            content.append(ToolCall("", name, {"path": "a"} if name == "read_file" else {"n": 1}))
        reply = Reply(content if calls or len(content) > 1 else [*content, TextContent("Fine.")])
        luck = self.dice.random()
        self.cancel_at = self.dice.randint(1, 4) if luck < 0.1 else -1
        if 0.1 <= luck < 0.2:
            return Fault(self.dice.choice(["cut", "error-event", "overloaded", "broken-json"]), reply)
        return reply

    def result(self, call: ToolCall) -> ToolResultMessage:
        self.count += 1
        text = f"result number {self.count} of {self.dice.random()}"
        self.results.add(text)
        content = [TextContent(text), IMAGE] if self.dice.random() < 0.1 else [TextContent(text)]
        return ToolResultMessage(call.id, call.name, content, is_error=self.dice.random() < 0.1)

    def check_results(self, server: StandIn) -> None:
        """Check that every real result of the conversation is in the request once."""
        sent = msgspec.json.encode(server.requests[-1]).decode()
        for text in self.results:
            assert sent.count(text) == 1, f"{text} is in the request {sent.count(text)} times"


@pytest.mark.parametrize("seed", range(WALKS))
def test_every_request_of_a_walk_is_accepted_and_no_real_result_is_lost(
    seed: int, servers: dict[tuple[str, str], StandIn]
) -> None:
    walk = Walk(seed, servers)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", segue.UnknownModelWarning)
        for _ in range(TURNS):
            walk.turn()
    assert len(walk.history) > 2 * TURNS
    for server in servers.values():
        server.requests.clear()
