"""Clean conversations: made by one model alone, complete, with every kind of block that the model takes and makes."""

import json
from collections.abc import Callable
from fnmatch import fnmatch
from typing import Any

from hypothesis import strategies as st

from segue.types import (
    AssistantMessage,
    Context,
    FileContent,
    ImageContent,
    Message,
    Model,
    ProviderContent,
    TextContent,
    ThinkingContent,
    ToolCall,
    ToolDefinition,
    ToolResultMessage,
    UserMessage,
)
from support.provided import CITATIONS, RUNS

PNG = ImageContent("iVBORw0KGgo=", "image/png")
LINK = ImageContent(url="https://example.org/cat.png")
PDF = b"%PDF-1.4 hello"
FILES = [
    FileContent(PDF, "application/pdf"),
    FileContent(b"ID3", "audio/mpeg"),
    FileContent(b"\0\0\0\x18ftypmp42", "video/mp4"),
    FileContent(b"hello", "text/plain"),
    FileContent(url="https://example.org/a.pdf", mime_type="application/pdf"),
]
BASH = ToolDefinition("bash", "run", {"type": "object"})
GRAMMAR = {"type": "grammar", "syntax": "lark", "definition": "start: /x/"}
PATCH = ToolDefinition("patch", "change a file", kind="custom", format=GRAMMAR)
LOOK = ToolDefinition("look", "", {"type": "object"}, namespace="mcp")
Draw = Callable[..., Any]


@st.composite
def clean_contexts(draw: Draw, model: Model) -> Context:
    """A conversation of ``model`` alone that is not torn."""
    return _Maker(draw, model).context()


class _Maker:
    def __init__(self, draw: Draw, model: Model) -> None:
        self.draw, self.model, self.dialect = draw, model, model.dialect
        self.number = 0
        self.calls = 0
        self.tools = [BASH]
        self.tools += [PATCH] if self.dialect.custom_tools else []
        self.tools += [LOOK] if self.dialect.namespaces else []
        self.runs = [run for run in RUNS.get(model.protocol, ()) if all(map(self._goes_back, run(0)))]
        self.has_items = model.protocol == "openai-responses"

    def context(self) -> Context:
        messages: list[Message] = []
        for turn in range(self.draw(st.integers(1, 4))):
            text = TextContent(f"question {turn}")
            messages.append(
                UserMessage([text, *self.attached(False)], self.maybe(), {"a": 1} if self.maybe() else None)
            )
            for _ in range(self.draw(st.integers(0, 2))):
                messages += self.loop()
            messages.append(self.last())
        return Context(system_prompt="Be brief.", messages=messages, tools=self.tools)

    def loop(self) -> list[Message]:
        """An answer with calls, and their results."""
        said = [self.text()] if self.maybe() else []
        calls = [self.call() for _ in range(self.draw(st.integers(1, 3)))]
        results: list[Message] = []
        for call in calls:
            failed = self.maybe()
            content = [TextContent("done"), *([] if failed else self.attached(True))]
            results.append(ToolResultMessage(call.id, call.name, content, is_error=failed))
        return [self.answer([*self.thinking(), *self.provided(), *said, *self.provided(), *calls], "toolUse"), *results]

    def last(self) -> AssistantMessage:
        """An answer that ends a turn."""
        if not self.maybe():
            return self.answer([self.text()], "length")
        return self.answer([*self.thinking(), *self.provided(), self.text(), *self.provided(), self.text()], "stop")

    def answer(self, content: list[Any], stop: Any) -> AssistantMessage:
        model = self.model
        return AssistantMessage(
            content=content, protocol=model.protocol, provider=model.provider, model=model.id, stop_reason=stop
        )

    def attached(self, in_result: bool) -> list[ImageContent | FileContent]:
        """An image or a file that the model reads in this place."""
        dialect, kinds = self.dialect, self.model.input
        if in_result and not dialect.images_in_results:
            return []
        found: list[ImageContent | FileContent] = []
        if "image" in kinds:
            found += [PNG, LINK] if dialect.image_urls else [PNG]
        self.number += 1
        for file in [FileContent(PDF, "application/pdf", name=f"report {self.number}"), *FILES]:
            globs = dialect.file_urls if file.url else dialect.files
            places = dialect.files_in_results if in_result else globs
            if file.kind in kinds and all(_matches(file.mime_type, each) for each in (globs, places)):
                found.append(file)
        return [self.draw(st.sampled_from(found))] if found and self.maybe() else []

    def call(self) -> ToolCall:
        tool = self.draw(st.sampled_from(self.tools))
        call_id = own_id(self.model, self.calls, tool.name)
        self.calls += 1
        arguments = {"input": "x"} if tool.kind else {"n": self.calls}
        item = self.next_id("ctc" if tool.kind else "fc") if self.has_items else None
        return ToolCall(call_id, tool.name, arguments, item, tool.kind, tool.namespace)

    def text(self) -> TextContent:
        signatures = CITATIONS.get(self.model.protocol) if self.model.protocol in CITED else None
        signature = self.draw(st.sampled_from(signatures)) if signatures and self.maybe() else None
        if self.has_items:
            stored = json.loads(signature or "{}") | {"id": self.next_id("msg")}
            signature = json.dumps(stored, separators=(",", ":"))
        return TextContent("an answer", signature)

    def thinking(self) -> list[ThinkingContent]:
        if self.dialect.own_reasoning == "none" or not self.maybe():
            return []
        text = self.draw(st.sampled_from(["", "let me see"]))
        if self.has_items:
            item = {"type": "reasoning", "id": self.next_id("rs"), "summary": [], "encrypted_content": "c2ln"}
            return [ThinkingContent("", json.dumps(item, separators=(",", ":")))]
        if self.model.protocol == "openai-completions":
            return [ThinkingContent(text, '[{"type":"reasoning.encrypted"}]')]
        redacted = self.model.protocol == "anthropic-messages" and self.maybe()
        return [ThinkingContent("" if redacted else text, "c2lnbmF0dXJl", redacted)]

    def provided(self) -> list[ProviderContent]:
        """A run of a tool of the provider."""
        if not self.runs or not self.maybe():
            return []
        self.number += 1
        run: list[ProviderContent] = self.draw(st.sampled_from(self.runs))(self.number)
        return run

    def next_id(self, prefix: str) -> str:
        self.number += 1
        return f"{prefix}_{self.number}"

    def maybe(self) -> bool:
        return bool(self.draw(st.booleans()))

    def _goes_back(self, block: ProviderContent) -> bool:
        return _matches(block.kind, self.dialect.provider_content)


CITED = ("anthropic-messages", "openai-responses", "bedrock-converse")
"""The protocols whose requests have a place for citations."""


def _matches(word: str, globs: tuple[str, ...]) -> bool:
    return any(fnmatch(word, glob) for glob in globs)


def own_id(model: Model, number: int, name: str = "bash") -> str:
    """An id in the target's own form."""
    return {
        "call-40": f"call_{number:024d}",
        "call-64": f"call_{number:024d}",
        "toolu-64": f"toolu_{number:024d}",
        "plain-64": f"tooluse_{number:022d}",
        "nine": f"{number:09d}",
        "kimi": f"functions.{name}:{number}",
    }[model.dialect.id_form]
