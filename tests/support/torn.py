"""Torn conversations: results that are missing, late, early, doubled, orphaned or without a name, repeated or empty
ids, failed turns, foreign and own signatures, blank texts, lone surrogates, cuts at any index."""

from collections.abc import Callable
from typing import Any

from hypothesis import strategies as st

from segue.types import (
    AssistantMessage,
    Context,
    Diagnostic,
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
from support.provided import CITATIONS, RUNS, STATEFUL

HALF = "half \ud83d character"
IDS = ["", "a", "a", "b", "call_0", "toolu_01", "functions.bash:0", "abcdefghi", "call|fc_1", "x" * 90, HALF]
NAMES = ["bash", "bash", "read", "", "my.tool", "1st", "ünïcode", "n" * 80, "read-file"]
TEXTS = ["hello", "world", "", " ", "\n\t", "\u3000", HALF, "日本語", "Error: it broke"]
SIGNATURES = [None, None, "c2ln", "reasoning_content", '[{"type":"reasoning.text"}]', '{"id":"rs_1"}']
CITED = [signature for signatures in CITATIONS.values() for signature in signatures]
VALUES: list[Any] = [1, 1.5, None, True, "日本語", "x", HALF, [1, {"deep": HALF}], {HALF: {}}]
ENDPOINTS = [None, None, "here", "there"]
OTHERS = [
    ("anthropic-messages", "anthropic", "claude-sonnet-4-5"),
    ("openai-responses", "openai", "gpt-5.4"),
    ("google-generative-ai", "google", "gemini-3-pro"),
    ("nobody", "knows", "this"),
]

pick = st.sampled_from
texts = st.builds(TextContent, text=pick(TEXTS), text_signature=pick(SIGNATURES) | pick(CITED))
images = pick(
    [
        ImageContent("aGVsbG8=", "image/png"),
        ImageContent("aGVsbG8=", "image/png"),
        ImageContent(url="https://example.com/cat.png"),
        ImageContent(url="https://example.com/ünï"),
        ImageContent("", "image/png"),
    ]
)
files = pick(
    [
        FileContent(b"%PDF-1.4 hello", "application/pdf", name="report.pdf"),
        FileContent(b"%PDF-1.4 hello", "application/pdf", name="report.pdf"),
        FileContent(b"\x89PNG\r\n\x1a\n", "application/pdf"),
        FileContent("no base64!", "application/pdf"),
        FileContent(b"a,b\n1,2\n", "text/csv", name="日本語.csv"),
        FileContent(b"\xff\xfe", "text/plain"),
        FileContent("", "text/plain", name="empty.txt"),
        FileContent(b"RIFF\0\0\0\0WAVE", "audio/wav", name="[clip]\n.wav"),
        FileContent(b"ID3", "audio/mpeg"),
        FileContent(b"\0\0\0\x18ftypmp42", "video/mp4", name="film.mp4"),
        FileContent(b"PK\3\4", "application/zip"),
        FileContent(
            b"PK\3\4", "application/vnd.openxmlformats-officedocument.wordprocessingml.document", name="a.docx"
        ),
        FileContent(url="https://example.com/report.pdf", mime_type="application/pdf"),
        FileContent(url="file:///etc/passwd", mime_type="text/plain", name="passwd"),
    ]
)
shown = st.one_of(texts, texts, images, files)
KINDS = ["web_search_call", "server_tool_use", "web_search_tool_result", "executableCode", "", "[x]"]
provided = st.builds(
    ProviderContent,
    raw=pick([{"type": "web_search_call", "id": "ws_1"}, {}, {"executableCode": {"code": "1"}}, b"[1]", b"null"]),
    kind=pick(KINDS),
    text=pick(["", " ", "weather in Paris", "日本語"]),
)
# Content that its maker accepts back, if the rest of the answer allows it: whole runs of tools, and single blocks.
RUNS_OF_ALL = [run for runs in (*RUNS.values(), *STATEFUL.values()) for run in runs]
runs = st.builds(lambda run, number: run(number), pick(RUNS_OF_ALL), st.integers(1, 3))
thoughts = st.builds(
    ThinkingContent, thinking=pick(TEXTS), thinking_signature=pick(SIGNATURES), redacted=pick([False, False, True])
)
calls = st.builds(
    ToolCall,
    id=pick(IDS),
    name=pick(NAMES),
    arguments=st.dictionaries(pick(["path", "n", HALF]), pick(VALUES), max_size=2),
    thought_signature=pick(SIGNATURES),
    kind=pick([None, None, None, "custom"]),
    namespace=pick([None, None, None, None, "mcp", "my space"]),
)


def some(blocks: list[ProviderContent]) -> st.SearchStrategy[list[ProviderContent]]:
    """One of the blocks of a run, without the others."""
    return pick(blocks).map(lambda block: [block])


METAS = [None, None, {"from": "elsewhere"}]
users = st.builds(
    UserMessage, content=st.lists(shown, max_size=3), injected=pick([False, False, True]), meta=pick(METAS)
)
results = st.builds(
    ToolResultMessage,
    tool_call_id=pick(IDS),
    tool_name=pick(NAMES),
    content=st.lists(shown, max_size=2),
    is_error=st.booleans(),
    synthetic=pick([False, False, True]),
    meta=pick(METAS),
)


def answers(model: Model) -> st.SearchStrategy[AssistantMessage]:
    own = (model.protocol, model.provider, model.id)
    return st.builds(
        lambda origin, **fields: AssistantMessage(protocol=origin[0], provider=origin[1], model=origin[2], **fields),
        origin=pick([own, own, *OTHERS]),
        content=st.lists(
            (texts | thoughts | calls | calls | provided).map(lambda block: [block]) | runs | runs.flatmap(some),
            max_size=4,
        ).map(lambda runs: [block for run in runs for block in run]),
        stop_reason=pick(["stop", "toolUse", "toolUse", "length", "error", "aborted"]),
        endpoint=pick(ENDPOINTS),
        prefix_digest=pick([None, None, None, "0" * 32]),
        diagnostics=pick([[], [], [], [Diagnostic("paused")]]),
        meta=pick(METAS),
    )


@st.composite
def answered(draw: Callable[..., Any], model: Model) -> list[Message]:
    """An answer with results for some of its calls, in any order, like most of a history."""
    answer = draw(answers(model))
    made = [
        ToolResultMessage(call.id, draw(pick([call.name, call.name, "other"])), [TextContent(f"{call.name} done")])
        for call in answer.content
        if isinstance(call, ToolCall)
    ]
    kept = draw(st.permutations(made)) if draw(st.booleans()) else made
    return [answer, *kept[: draw(st.integers(0, len(kept)))]]


def torn_messages(model: Model) -> st.SearchStrategy[list[Message]]:
    parts = st.one_of(
        users.map(lambda message: [message]),
        answered(model),
        answered(model),
        results.map(lambda message: [message]),
    )
    return st.lists(parts, max_size=6).map(lambda runs: [message for run in runs for message in run])


custom_tools = st.builds(
    ToolDefinition,
    name=pick(NAMES),
    description=pick(TEXTS),
    kind=pick([None, "custom"]),
    format=pick([None, {"type": "text"}, {"type": "grammar", "syntax": "lark", "definition": 'start: "x"'}]),
    namespace=pick([None, "mcp", "my space"]),
)
tools = st.lists(
    st.builds(ToolDefinition, name=pick(NAMES), description=pick(TEXTS), parameters=st.just({"type": "object"}))
    | custom_tools,
    max_size=3,
)


def torn_contexts(model: Model) -> st.SearchStrategy[Context]:
    """Any conversation with something to send: it always has a user message."""
    message = st.just([UserMessage("go on")])
    return st.builds(
        lambda prompt, before, message, after, tools: Context(
            system_prompt=prompt, messages=[*before, *message, *after], tools=tools
        ),
        st.none() | pick(TEXTS),
        torn_messages(model),
        message,
        torn_messages(model),
        tools,
    )
