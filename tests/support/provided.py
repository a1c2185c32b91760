"""Content that only its maker reads back: what tools of providers leave in an answer, and citations of texts."""

import json
from collections.abc import Callable
from typing import Any

from segue.types import ProviderContent

Run = Callable[[int], list[ProviderContent]]
"""The blocks of one run of a tool; its ids have the given number."""


def provided(raw: dict[str, Any], kind: str | None = None, text: str = "shown") -> ProviderContent:
    return ProviderContent(raw, kind or raw["type"], text)


def server_tool(name: str, kind: str, content: Any, **call: Any) -> Run:
    """The call of a tool of Anthropic, with its result."""

    def run(number: int) -> list[ProviderContent]:
        call_id = f"srvtoolu_{number}"
        return [
            provided({"type": "server_tool_use", "id": call_id, "name": name, "input": {"query": "q"}} | call),
            provided({"type": kind, "tool_use_id": call_id, "content": content}),
        ]

    return run


def items(*each: dict[str, Any]) -> Run:
    """Items of OpenAI Responses; ids and references to other items get the number."""

    def numbered(value: Any, number: int) -> Any:
        names = ("id", "call_id", "approval_request_id")
        return {name: f"{each}_{number}" if name in names and each else each for name, each in value.items()}

    return lambda number: [provided(numbered(item, number)) for item in each]


def parts(*each: dict[str, Any]) -> Run:
    """Parts of Gemini."""
    return lambda number: [provided(part, next(name for name in part if name != "thoughtSignature")) for part in each]


FETCHED = {"type": "web_fetch_result", "url": "https://example.org/n", "retrieved_at": None}
RUNS: dict[str, list[Run]] = {
    # By protocol, what goes back as it came.
    "anthropic-messages": [
        server_tool(
            "web_search",
            "web_search_tool_result",
            [{"type": "web_search_result", "url": "https://example.org", "title": "T", "encrypted_content": "x"}],
            caller={"type": "direct"},
        ),
        server_tool(
            "web_search",
            "web_search_tool_result",
            {"type": "web_search_tool_result_error", "error_code": "max_uses_exceeded"},
        ),
        server_tool(
            "web_fetch",
            "web_fetch_tool_result",
            FETCHED
            | {"content": {"type": "document", "source": {"type": "text", "media_type": "text/plain", "data": "x"}}},
        ),
        server_tool(
            "bash_code_execution",
            "bash_code_execution_tool_result",
            {
                "type": "bash_code_execution_result",
                "stdout": "1",
                "stderr": "",
                "return_code": 0,
                "content": [{"type": "bash_code_execution_output", "file_id": "file_1"}],
            },
        ),
        server_tool(
            "text_editor_code_execution",
            "text_editor_code_execution_tool_result",
            {"type": "text_editor_code_execution_create_result", "is_file_update": False},
        ),
        server_tool(
            "tool_search_tool_regex",
            "tool_search_tool_result",
            {
                "type": "tool_search_tool_search_result",
                "tool_references": [{"type": "tool_reference", "tool_name": "bash"}],
            },
        ),
        lambda number: [provided({"type": "container_upload", "file_id": f"file_{number}"})],
    ],
    "openai-responses": [
        items(
            {"type": "web_search_call", "id": "ws", "status": "completed", "action": {"type": "search", "query": "q"}}
        ),
        items({"type": "file_search_call", "id": "fs", "status": "completed", "queries": ["q"], "results": None}),
        items(
            {
                "type": "code_interpreter_call",
                "id": "ci",
                "status": "completed",
                "code": "1",
                "container_id": "cntr_1",
                "outputs": [{"type": "logs", "logs": "1"}],
            }
        ),
        items({"type": "image_generation_call", "id": "ig", "status": "completed", "result": "aGVsbG8="}),
        items(
            {"type": "mcp_list_tools", "id": "mcpl", "server_label": "s", "tools": [{"name": "a", "input_schema": {}}]},
            {"type": "mcp_call", "id": "mcp", "server_label": "s", "name": "a", "arguments": "{}", "output": "1"},
        ),
        items(
            {"type": "mcp_approval_request", "id": "mcpr", "server_label": "s", "name": "a", "arguments": "{}"},
            {"type": "mcp_approval_response", "approval_request_id": "mcpr", "approve": True},
        ),
        items(
            {"type": "local_shell_call", "id": "lsh", "call_id": "call", "status": "completed"}
            | {"action": {"type": "exec", "command": ["ls"], "env": {}}},
            {"type": "local_shell_call_output", "id": "call", "output": "1"},
        ),
        items(
            {"type": "computer_call", "id": "cu", "call_id": "call", "status": "completed", "pending_safety_checks": []}
            | {"action": {"type": "screenshot"}},
            {"type": "computer_call_output", "id": "cuo", "call_id": "call"}
            | {"output": {"type": "computer_screenshot", "image_url": "https://example.org/i.png"}},
        ),
    ],
    "google-generative-ai": [
        parts(
            {"executableCode": {"language": "PYTHON", "code": "1"}},
            {"codeExecutionResult": {"outcome": "OUTCOME_OK", "output": "1"}},
        ),
        parts(
            {"executableCode": {"language": "PYTHON", "code": "1"}, "thoughtSignature": "c2ln"},
            {"codeExecutionResult": {"outcome": "OUTCOME_FAILED"}},
        ),
        parts({"inlineData": {"mimeType": "image/png", "data": "aGVsbG8="}, "thoughtSignature": "c2ln"}),
    ],
}
STATEFUL: dict[str, list[Run]] = {
    # What makes a difference to everything around it, or never goes back.
    "anthropic-messages": [
        lambda number: [provided({"type": "server_tool_use", "id": f"srvtoolu_{number}", "name": "f", "input": {}})],
        server_tool("advisor", "advisor_tool_result", {"type": "advisor_result", "text": "x"}),
        lambda number: [
            provided(
                {"type": "mcp_tool_use", "id": f"mcptoolu_{number}", "name": "n", "server_name": "s", "input": {}}
            ),
            provided(
                {"type": "mcp_tool_result", "tool_use_id": f"mcptoolu_{number}", "content": "x", "is_error": False}
            ),
        ],
        lambda number: [provided({"type": "compaction", "content": "So far."}, text="So far.")],
    ],
    "openai-responses": [
        items({"type": "compaction", "id": "cmp", "encrypted_content": "c2ln"}),
        items({"type": "shell_call", "id": "sh", "call_id": "call", "action": {"commands": ["ls"]}}),
        items({"type": "multi_agent_call", "id": "ma", "call_id": "call"}),
    ],
    "google-generative-ai": [
        parts({"groundingMetadata": {"webSearchQueries": ["q"]}}),
        parts({"executableCode": {"language": "PYTHON", "code": "1"}}),
        parts({"codeExecutionResult": {"outcome": "OUTCOME_OK", "output": "1"}}),
        parts({"inlineData": {"mimeType": "audio/wav", "data": "no base64!"}}),
    ],
    "bedrock-converse": [
        lambda number: [
            provided(
                {
                    "toolUse": {
                        "toolUseId": f"t{number}",
                        "name": "nova_grounding",
                        "type": "server_tool_use",
                        "input": {},
                    }
                },
                "server_tool_use",
            )
        ]
    ],
    "openai-completions": [lambda number: [provided({"images": [{"type": "image_url"}]}, "images")]],
    "mistral-chat": [lambda number: [provided({"type": "tool_reference", "tool": "web_search"})]],
}


def _json(*citations: dict[str, Any]) -> str:
    return json.dumps(citations, separators=(",", ":"))


QUOTE: dict[str, Any] = {"cited_text": "42", "document_index": 0, "document_title": None}
CITATIONS: dict[str, list[str]] = {
    # By protocol, signatures of texts with citations.
    "anthropic-messages": [
        _json({"type": "char_location", "start_char_index": 0, "end_char_index": 1, "file_id": None} | QUOTE),
        _json(
            {"type": "page_location", "start_page_number": 1, "end_page_number": 2} | QUOTE,
            {"type": "content_block_location", "start_block_index": 0, "end_block_index": 1} | QUOTE,
        ),
        _json(
            {"type": "web_search_result_location", "url": "https://example.org", "title": None}
            | {"encrypted_index": "x", "cited_text": "42"}
        ),
        _json(
            {"type": "search_result_location", "source": "s", "title": None, "search_result_index": 0}
            | {"start_block_index": 0, "end_block_index": 1, "cited_text": "42"}
        ),
    ],
    "bedrock-converse": [
        _json(
            {
                "title": "T",
                "sourceContent": [{"text": "42"}],
                "location": {"documentPage": {"documentIndex": 0, "start": 1, "end": 2}},
            }
        ),
        _json({"source": "s", "location": {"web": {"url": "https://example.org", "domain": "example.org"}}}),
    ],
    "openai-responses": [
        '{"id":"msg_7","annotations":[{"type":"url_citation","url":"https://example.org","title":"T","start_index":0,'
        '"end_index":1}]}',
        '{"phase":"commentary","annotations":[{"type":"file_citation","file_id":"f","filename":"n","index":1}]}',
    ],
    "mistral-chat": [_json({"type": "reference", "reference_ids": [1]})],
    "openai-completions": [
        _json({"type": "url_citation", "url_citation": {"url": "https://example.org", "title": "T"}})
    ],
}
