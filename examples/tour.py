"""One conversation with tools that changes its provider at every turn, against strict stand-ins on loopback.

    make tour

It needs no account and no network. Claude begins, and is interrupted during five parallel calls. GPT, Gemini, Mistral,
Kimi and Bedrock continue, with images, thinking and a stream that breaks. Then Claude comes back and receives its own
thinking with the original signatures. Before each turn, the same history is also sent as it is stored, to show the
provider's error. The exit status is 0 if everything that segue sent was accepted.
"""

import sys
import textwrap
from contextlib import ExitStack
from itertools import count

import segue
from segue import ImageContent, TextContent, ThinkingContent, ToolCall, ToolDefinition, ToolResultMessage, UserMessage
from segue.testing import Fault, Reply, StandIn

PIXEL = ImageContent(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==", "image/png"
)
TOOLS = [
    ToolDefinition("read_file", "Read a file", {"type": "object", "properties": {"path": {"type": "string"}}}),
    ToolDefinition("look", "Show a picture", {"type": "object", "properties": {"path": {"type": "string"}}}),
]
CLAUDE = "anthropic/claude-sonnet-5"


def read(path: str) -> ToolCall:
    return ToolCall("", "read_file", {"path": path})  # the stand-in adds an id, as the provider would


def think(text: str) -> ThinkingContent:
    return ThinkingContent(text)  # the stand-in adds a signature


# For each turn: the model, the user's message, the stand-in's replies to the requests of the turn, and for each reply
# how many of its calls get a result before the user interrupts.
TURNS = [
    (
        CLAUDE,
        [TextContent("What is wrong in this screenshot?"), PIXEL],
        [
            Reply([think("The log will show it."), read("app.log")]),
            Reply([think("Five places to look at."), *[read(f"part{number}.py") for number in range(1, 6)]]),
        ],
        [1, 1],
    ),
    (
        "openai/gpt-5.4",
        "Never mind. Summarise.",
        [Reply([think("Only one part came back."), TextContent("So far: …")])],
        [],
    ),
    (
        "google/gemini-3-pro-preview",
        "Look at the pictures.",
        [
            Reply(
                [
                    think("Two at once."),
                    ToolCall("", "look", {"path": "a.png"}),
                    ToolCall("", "look", {"path": "b.png"}),
                ]
            ),
            "Both show the same dialog.",
        ],
        [2],
    ),
    (
        "mistral/mistral-large-latest",
        "Try the config, too.",
        [Reply([TextContent("One moment."), read("missing.toml")]), "There is none."],
        [1],
    ),
    ("moonshot/kimi-k2.5", "And the readme?", [Reply([think("Simple."), read("README")]), "It explains nothing."], [1]),
    (
        "amazon-bedrock/us.anthropic.claude-sonnet-5",
        "Write the report.",
        [Fault("cut", Reply([think("Long."), TextContent("The report begins, and goes on and on. " * 5)]))],
        [],
    ),
    (
        CLAUDE,
        "The connection broke. Finish it.",
        [Reply([think("All is there."), TextContent("Here is the report.")])],
        [],
    ),
]


def run(call: ToolCall) -> ToolResultMessage:
    """Run a call of one of the tools."""
    if call.name == "look":
        return ToolResultMessage(call.id, call.name, [TextContent("as asked"), PIXEL])
    missing = call.arguments["path"].startswith("missing")
    text = "no such file" if missing else f"contents of {call.arguments['path']}"
    return ToolResultMessage(call.id, call.name, [TextContent(text)], is_error=missing)


class Tour:
    def __init__(self, stack: ExitStack) -> None:
        self.stack = stack
        self.history: list[segue.Message] = []
        self.servers: dict[str, StandIn] = {}
        self.refused = 0

    def server(self, provider: str, purpose: str = "") -> StandIn:
        """The stand-in for a provider; with a ``purpose``, a second one."""
        key = provider + purpose
        if key not in self.servers:
            self.servers[key] = self.stack.enter_context(StandIn(provider))
        return self.servers[key]

    def context(self) -> segue.Context:
        return segue.Context(system_prompt="You fix programs.", messages=self.history, tools=TOOLS)

    def ask(self, model: segue.Model, server: StandIn, policy: str | None = None) -> segue.SyncStream:
        connection = segue.Connection(base_url=server.url, api_key=server.key)
        with segue.stream_sync(self.context(), model, segue.Options(reasoning="low"), policy, connection) as stream:
            stream.finished()
        return stream

    def turn(
        self, name: str, message: list[segue.UserContent] | str, replies: list[object], results: list[int]
    ) -> None:
        """Run one turn: from the user's message to the final answer, tools included."""
        model = segue.get_model(name)
        self.history.append(UserMessage(message))
        print(f"\n{name}  ({model.protocol})")
        show("as it is stored", self.ask(model, self.server(model.provider, " naive"), "off"))
        server = self.server(model.provider)
        server.say(*replies)
        for step in count():
            stream = self.ask(model, server)
            self.refused += isinstance(stream.error, segue.InvalidRequestError)
            if step == 0:
                show("through segue", stream)
                for line in stream.request.summary().splitlines()[1:]:
                    print(textwrap.fill(line, 112, initial_indent=" " * 20, subsequent_indent=" " * 22))
            assert stream.message is not None
            self.history.append(stream.message)
            calls = stream.message.runnable_calls
            self.history += [run(call) for call in calls[: results[step] if step < len(results) else 0]]
            if not calls or results[step] < len(calls):  # the turn is done, or the user interrupts
                return

    def signatures_are_intact(self) -> bool:
        """Whether the last request to Claude has all of its own thinking, with the original signatures."""
        own = [message for message in self.history[:-1] if isinstance(message, segue.AssistantMessage)]
        signed = [
            block.thinking_signature
            for message in own
            if message.provider == "anthropic"
            for block in message.content
            if isinstance(block, ThinkingContent)
        ]
        sent = str(self.servers["anthropic"].requests[-1])
        return bool(signed) and all(signature and signature in sent for signature in signed)


def show(what: str, stream: segue.SyncStream) -> None:
    refused = isinstance(stream.error, segue.InvalidRequestError)
    verdict = f"refused, {stream.error}" if refused else "accepted"
    if not refused and stream.error is not None:
        verdict += f", then {stream.error.text}"
    print(textwrap.shorten(f"  {what:<18}{verdict}".replace("  ", "\0\0"), 150, placeholder=" …").replace("\0", " "))


def main() -> int:
    with ExitStack() as stack:
        tour = Tour(stack)
        for turn in TURNS:
            tour.turn(*turn)
        intact = tour.signatures_are_intact()
        asked = sum(len(server.requests) for name, server in tour.servers.items() if not name.endswith("naive"))
    print(f"\n{asked} requests through segue, {tour.refused} refused; ", end="")
    print(f"Claude's signatures came back {'intact' if intact else 'damaged'}.")
    return 0 if intact and not tour.refused else 1


if __name__ == "__main__":
    sys.exit(main())
