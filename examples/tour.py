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
from typing import NamedTuple

import segue
from segue import ImageContent, TextContent, ThinkingContent, ToolCall, ToolDefinition, ToolResultMessage, UserMessage
from segue.testing import Fault, Reply, StandIn

WIDTH = 100
PIXEL = ImageContent(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==", "image/png"
)
TOOLS = [
    ToolDefinition("read_file", "Read a file", {"type": "object", "properties": {"path": {"type": "string"}}}),
    ToolDefinition("look", "Show a picture", {"type": "object", "properties": {"path": {"type": "string"}}}),
]
CLAUDE = "anthropic/claude-sonnet-5"

INTRODUCTION = """\
The conversation: a user asks why a program fails. The models read files and look at pictures with two tools, and
think before they answer. segue keeps one record of it, which never changes.

The providers: none of them is really asked. A stand-in plays each provider, on this machine. It speaks that provider's
protocol and refuses what the provider refuses, with the provider's own words. Its rules come from the types of the
official SDKs, the documentation, and error texts in public bug reports; docs/rules.md lists each one with its source.

Each turn goes to another provider. The history is sent twice. "As stored" is what most programs send: every message in
the format of the new provider, and otherwise as the last provider left it. "Through segue" is the same history,
rendered for this model; below it is everything that segue changed for it."""


class Turn(NamedTuple):
    """One turn of the conversation."""

    story: str
    model: str
    message: list[segue.UserContent] | str
    replies: list[object]
    """What the stand-in answers to the requests of this turn."""
    results: list[int] = []
    """For each reply: how many of its calls get a result before the user interrupts."""


def read(path: str) -> ToolCall:
    return ToolCall("", "read_file", {"path": path})  # the stand-in adds an id, as the provider would


def think(text: str) -> ThinkingContent:
    return ThinkingContent(text)  # the stand-in adds a signature


TURNS = [
    Turn(
        "Claude begins. It thinks, reads a log, and then reads five files at once. The user interrupts it when only "
        "one of the five has been read: four calls stay without a result.",
        CLAUDE,
        [TextContent("What is wrong in this screenshot?"), PIXEL],
        [
            Reply([think("The log will show it."), read("app.log")]),
            Reply([think("Five places to look at."), *[read(f"part{number}.py") for number in range(1, 6)]]),
        ],
        [1, 1],
    ),
    Turn(
        "GPT continues. It must see an output for every call, and cannot read Claude's signed thinking.",
        "openai/gpt-5.4",
        "Never mind. Summarise.",
        [Reply([think("Only one part came back."), TextContent("So far: …")])],
    ),
    Turn(
        "Gemini looks at two pictures at once. It signs its calls, and wants those signatures back.",
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
    Turn(
        "Mistral accepts ids of nine letters and digits only, and no pictures in results of tools.",
        "mistral/mistral-large-latest",
        "Try the config, too.",
        [Reply([TextContent("One moment."), read("missing.toml")]), "There is none."],
        [1],
    ),
    Turn(
        "Kimi is one of the many providers with OpenAI's older protocol, each with rules of its own.",
        "moonshot/kimi-k2.5",
        "And the readme?",
        [Reply([think("Simple."), read("README")]), "It explains nothing."],
        [1],
    ),
    Turn(
        "The same Claude, but on Amazon Bedrock: another protocol, and signatures that only Bedrock accepts. "
        "Now a failure that is staged: in the middle of this answer, the stand-in breaks the connection.",
        "amazon-bedrock/us.anthropic.claude-sonnet-5",
        "Write the report.",
        [Fault("cut", Reply([think("Long."), TextContent("The report begins, and goes on and on. " * 5)]))],
    ),
    Turn(
        "Claude comes back. Its own thinking returns with the original signatures; the half report is left out.",
        CLAUDE,
        "The connection broke. Finish it.",
        [Reply([think("All is there."), TextContent("Here is the report.")])],
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

    def turn(self, number: int, turn: Turn) -> None:
        """Run one turn: from the user's message to the final answer, tools included."""
        model = segue.get_model(turn.model)
        self.history.append(UserMessage(turn.message))
        size = f"{len(self.history)} message{'s' if len(self.history) > 1 else ''} so far"
        print(f"\n{number}. {turn.model}  ({model.protocol}, {size})")
        tell(turn.story)
        show_stored(self.ask(model, self.server(model.provider, " naive"), "off"), model)
        server = self.server(model.provider)
        server.say(*turn.replies)
        for step in count():
            stream = self.ask(model, server)
            self.refused += isinstance(stream.error, segue.InvalidRequestError)
            if step == 0:
                show_rendered(stream)
            assert stream.message is not None
            self.history.append(stream.message)
            calls = stream.message.runnable_calls
            self.history += [run(call) for call in calls[: turn.results[step] if step < len(turn.results) else 0]]
            if not calls or turn.results[step] < len(calls):  # the turn is done, or the user interrupts
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


# -- what is printed: prose is wrapped, and nothing is cut ----------------------------------------------------------


def tell(text: str, label: str = "") -> None:
    """Print a text after its label, wrapped."""
    indent = " " * 18
    first = f"   {label:<15}" if label else "   "
    print(textwrap.fill(text, WIDTH, initial_indent=first, subsequent_indent=indent if label else "   "))


def show_stored(stream: segue.SyncStream, model: segue.Model) -> None:
    if not isinstance(stream.error, segue.InvalidRequestError):
        tell("accepted: this provider wrote all of it", "as stored:")
        return
    tell(f"refused (HTTP {stream.error.status}): {stream.error.text}", "as stored:")
    findings = [each for each in segue.lint(stream.request.body, model.protocol, model) if each.severity == "error"]
    more = f"; and {len(findings) - 1} more" if len(findings) > 1 else ""
    tell(f"{findings[0].path}: {findings[0].message}{more}", "because:")


def show_rendered(stream: segue.SyncStream) -> None:
    if isinstance(stream.error, segue.InvalidRequestError):
        tell(f"refused: {stream.error.text}", "through segue:")
    else:
        broke = f"; then, as staged, {stream.error.text}" if stream.error is not None else ""
        tell(f"accepted{broke}", "through segue:")
    for line in stream.request.summary().splitlines()[1:]:
        label, _, changes = line.partition(": ")
        tell(changes, f"{label}:")


def main() -> int:
    for paragraph in INTRODUCTION.split("\n\n"):
        print(textwrap.fill(paragraph, WIDTH), end="\n\n")
    with ExitStack() as stack:
        tour = Tour(stack)
        for number, turn in enumerate(TURNS, 1):
            tour.turn(number, turn)
        intact = tour.signatures_are_intact()
        asked = sum(len(server.requests) for name, server in tour.servers.items() if not name.endswith("naive"))
    refused = f"{tour.refused} refused" if tour.refused else "none refused"
    signatures = "intact" if intact else "damaged"
    print(f"\n{asked} requests through segue, {refused}. Claude's signatures came back {signatures}.")
    return 0 if intact and not tour.refused else 1


if __name__ == "__main__":
    sys.exit(main())
