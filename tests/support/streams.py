"""Recorded answers as data: ``tests/cases/streams/<protocol>/*.json``, one case per file.

``stream`` is a list of events: ``{"event": name, "data": …}`` (data as JSON, or verbatim if it is a string), or
``{"raw": …}`` for bytes that are not an event; frames of Bedrock may have a ``kind`` other than ``event``. ``whole`` is
the same answer to a request that did not stream. ``message`` has fields of the decoded message, ``replay`` the
assistant's turn when it is sent back.
"""

import json
from pathlib import Path
from typing import Any

import segue
from segue.catalog import Catalog
from segue.events import Event
from segue.testing.eventstream import frame
from segue.types import AssistantMessage, Context, Model, TextContent, ThinkingContent, ToolCall, UserMessage

FOLDER = Path(__file__).parent.parent / "cases" / "streams"
CONTENT_TYPES = {"bedrock-converse": "application/vnd.amazon.eventstream"}


class StreamCase:
    def __init__(self, path: Path) -> None:
        data: dict[str, Any] = json.loads(path.read_text())
        self.name = f"{path.parent.name}/{path.stem}"
        self.protocol = path.parent.name
        self.claim: str = data["claim"]
        # Models on self-hosted servers have no rows, and `segue.get_model` warns about that.
        self.model: Model = Catalog.default().resolve(data["model"], self.protocol)
        self.tools: list[Any] = data.get("tools", [])
        self.events: list[dict[str, Any]] | None = data.get("stream")
        self.whole: Any = data.get("whole")
        self.message: dict[str, Any] = data["message"]
        self.replay: list[Any] | None = data.get("replay")
        self.judged: bool = data.get(
            "judged", True
        )  # whether the provider's SDK also reads it; otherwise `why` has the reason
        self.kinds: list[str] | None = data.get("events")  # the types of the events, in order
        self.content_type = CONTENT_TYPES.get(self.protocol, "text/event-stream")
        unknown = data.keys() - {"claim", "source", "model", "tools", "stream", "whole", "message", "replay", "judged"}
        assert not unknown - {"why", "events"}, f"{path}: {unknown}"
        assert self.judged or data.get("why"), f"{path}: `why` must explain why no SDK reads it"

    def __repr__(self) -> str:
        return self.name

    def pieces(self) -> list[bytes]:
        """The bytes of the stream, event by event."""
        assert self.events is not None
        return [self._piece(event) for event in self.events]

    def _piece(self, event: dict[str, Any]) -> bytes:
        if "raw" in event:
            return str(event["raw"]).encode()
        data = event["data"]
        text = data if isinstance(data, str) else json.dumps(data, ensure_ascii=False, separators=(",", ":"))
        if self.protocol == "bedrock-converse":
            return frame(event["event"], text.encode(), event.get("kind", "event"))
        name = f"event: {event['event']}\n" if event.get("event") else ""
        return f"{name}data: {text}\n\n".encode("utf-8", "surrogatepass")

    def context(self) -> Context:
        tools = [
            segue.ToolDefinition(
                each["name"], each["description"], each["parameters"], each.get("kind"), each.get("format")
            )
            for each in self.tools
        ]
        return Context(messages=[UserMessage("Go on.")], tools=tools)

    def request(self, stream: bool = True) -> segue.Request:
        return segue.encode(self.context(), self.model, segue.Options(stream=stream))


CASES = [StreamCase(path) for path in sorted(FOLDER.glob("*/*.json"))]


def cases(protocol: str) -> list[StreamCase]:
    """The cases of one protocol that its SDK can read."""
    return [case for case in CASES if case.protocol == protocol and case.judged]


def decoded(request: segue.Request, pieces: list[bytes], now: int = 1) -> tuple[list[Event], AssistantMessage]:
    decoder = segue.Decoder(request, now=now)
    events = [event for piece in pieces for event in decoder.feed(piece)]
    events += decoder.close()
    assert decoder.message is not None
    assert decoder.feed(b"data: {}\n\n") == [] and decoder.close() == []
    check(events)
    return events, decoder.message


def rewritten(message: AssistantMessage) -> set[int]:
    """The indexes of blocks whose finished text differs from the streamed one, according to the diagnostics."""
    return {note.details["block"] for note in message.diagnostics if note.type == "text-differs" and note.details}


def check(events: list[Event]) -> None:
    """Check the events: start first, blocks numbered in order and each started and ended once, one last event, whose
    message has the text of the deltas, except where a diagnostic reports that the finished text differs."""
    assert [event.type for event in events[:1]] == ["start"]
    last = events[-1]
    assert isinstance(last, segue.events.Done | segue.events.Error)
    grown: dict[int, str] = {}
    open_blocks: dict[int, str] = {}
    for event in events[1:-1]:
        kind, _, what = event.type.rpartition("_")
        index = event.index  # type: ignore[union-attr]
        if what == "start":
            assert index == len(grown)
            grown[index], open_blocks[index] = "", kind
        elif what == "delta":
            assert open_blocks[index] == kind and event.delta  # type: ignore[union-attr]
            grown[index] += event.delta  # type: ignore[union-attr]
        else:
            assert what == "end" and open_blocks.pop(index) == kind
            assert event.block == last.message.content[index]  # type: ignore[union-attr]
    content = last.message.content
    assert len(content) == len(grown)
    differs = rewritten(last.message)
    for index, block in enumerate(content):
        if isinstance(block, TextContent):
            assert block.text == grown[index] or index in differs
        elif isinstance(block, ThinkingContent):
            assert block.thinking == grown[index] or index in differs
    if isinstance(last, segue.events.Done):
        assert not open_blocks
        assert last.message.stop_reason in ("stop", "length", "toolUse")
        assert (last.message.stop_reason == "toolUse") <= bool(last.message.tool_calls)
    else:
        assert last.message.failed and last.message.error_message
        assert last.message.runnable_calls == []
    assert all(call.id for at, call in enumerate(content) if isinstance(call, ToolCall) and at not in open_blocks)
