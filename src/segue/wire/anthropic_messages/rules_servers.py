"""Rules about server tools, MCP servers, compaction and context management."""

from collections import Counter
from itertools import pairwise

from ...rules import Rule
from ...types import Model
from ..common.checks import repeated, shown
from . import shapes
from .rules_messages import ENCODER, UNQUOTED
from .rules_tools import calls_of
from .walk import Found, Json, declared, kind, nested, objects, of_type, text, turns

# For each server tool, the beginning of the type of its definition, and the type of its results (SDK anthropic 2.8.0,
# ServerToolUseBlock).
_SERVER_TOOLS = {
    "advisor": ("advisor", "advisor_tool_result"),
    "bash_code_execution": ("code_execution", "bash_code_execution_tool_result"),
    "code_execution": ("code_execution", "code_execution_tool_result"),
    "text_editor_code_execution": ("code_execution", "text_editor_code_execution_tool_result"),
    "tool_search_tool_bm25": ("tool_search_tool", "tool_search_tool_result"),
    "tool_search_tool_regex": ("tool_search_tool", "tool_search_tool_result"),
    "web_fetch": ("web_fetch", "web_fetch_tool_result"),
    "web_search": ("web_search", "web_search_tool_result"),
}


def _server_pairs(body: Json, model: Model | None) -> Found:
    waiting: dict[str, tuple[str, Json]] = {}
    for turn, after in pairwise([*turns(body), None]):
        for path, block in turn.blocks if turn is not None and turn.role == "assistant" else ():
            if kind(block) == "server_tool_use":
                waiting[text(block, "id")] = path, block
            elif kind(block) in shapes.SERVER_RESULTS:
                _, call = waiting.pop(text(block, "tool_use_id"), ("", None))
                _, expected = _SERVER_TOOLS.get("" if call is None else text(call, "name"), (None, None))
                if call is None:
                    yield path, f"no server_tool_use {shown(block.get('tool_use_id'))!r} before it"
                elif expected not in (None, kind(block)):
                    yield path, f"the result of {text(call, 'name')} must be a {expected}"
        if after is not None and after.role == "user" and not calls_of(turn):  # otherwise it may still continue
            yield from ((path, "a server_tool_use without its result") for path, _ in waiting.values())
            waiting = {}


def _mcp_pairs(body: Json, model: Model | None) -> Found:
    for turn in turns(body):
        waiting: set[str] = set()
        for path, block in turn.blocks if turn.role == "assistant" else ():
            if kind(block) == "mcp_tool_use":
                waiting.add(text(block, "id"))
            elif kind(block) == "mcp_tool_result":
                if text(block, "tool_use_id") not in waiting:
                    yield path, f"no mcp_tool_use {shown(block.get('tool_use_id'))!r} before it"
                waiting.discard(text(block, "tool_use_id"))


def _server_tools(body: Json, model: Model | None) -> Found:
    """Check that server tools are defined. The API checks the advisor and running tools, not pairs of earlier turns."""
    types = [text(tool, "type") for _, tool in declared(body)]
    for path, _ in of_type(body, "advisor_tool_result"):
        if not any(name.startswith("advisor") for name in types):
            yield path, "no advisor tool is defined"
    for turn in turns(body)[-1:]:
        answered = {text(block, "tool_use_id") for _, block in turn.blocks if kind(block) in shapes.SERVER_RESULTS}
        for path, block in turn.blocks:
            wanted, _ = _SERVER_TOOLS.get(text(block, "name"), (None, None))
            if kind(block) != "server_tool_use" or wanted is None or text(block, "id") in answered:
                continue
            if not any(name.startswith(wanted) for name in types):
                yield path, f"no {wanted} tool is defined"


def _mixed_turns(body: Json, model: Model | None) -> Found:
    for turn, after in pairwise(turns(body)):
        counts = Counter(kind(block) for _, block in turn.blocks)
        answers = sum(counts[name] for name in shapes.SERVER_RESULTS)
        if not counts["tool_use"] or counts["server_tool_use"] <= answers:
            continue
        for path, block in after.blocks:
            if kind(block) != "tool_result":
                yield path, "while a server tool runs, only results may follow"


def _compactions(body: Json, model: Model | None) -> Found:
    full = 0
    for path, role, block in nested(body):
        if kind(block) != "compaction":
            continue
        full += block.get("content") is not None
        if role != "assistant" or not path.endswith("[0]"):
            yield path, "a compaction must be the first block of an answer"
        if block.get("content") == "":
            yield f"{path}.content", "a compaction must not be empty"
        elif full > 1 and block.get("content") is not None:
            yield path, "a second compaction with content"
    for path, block in objects(body.get("system"), "system"):
        if kind(block) == "compaction":
            yield path, "system must not contain a compaction"
    if "compaction" in body and "context_management" in body:
        yield "compaction", "compaction and context_management exclude each other"


def _edits(body: Json, model: Model | None) -> Found:
    management, thinking = body.get("context_management"), body.get("thinking")
    edits = objects(management.get("edits"), "context_management.edits") if isinstance(management, dict) else ()
    for index, (path, edit) in enumerate(edits):
        if kind(edit) != "clear_thinking_20251015":
            continue
        if index:
            yield path, "thinking must be cleared before anything else"
        if isinstance(thinking, dict) and kind(thinking) == "disabled":
            yield path, "thinking is disabled"


def _servers(body: Json, model: Model | None) -> Found:
    servers = [(path, text(server, "name"), server) for path, server in objects(body.get("mcp_servers"), "mcp_servers")]
    used = [
        (f"{path}.mcp_server_name", text(tool, "mcp_server_name"))
        for path, tool in declared(body)
        if kind(tool) == "mcp_toolset"
    ]
    names, toolsets = {name for _, name, _ in servers}, {name for _, name in used}
    yield from repeated(((f"{path}.name", name) for path, name, _ in servers), "the server")
    yield from repeated(used, "the toolset of")
    yield from ((path, f"no MCP server is called {shown(name)!r}") for path, name in used if name not in names)
    for path, name, server in servers:
        if not text(server, "url").lower().startswith("https://"):
            yield f"{path}.url", "the address must begin with https://"
        if toolsets and name not in toolsets:
            yield path, f"no toolset is for {shown(name)!r}"
    for path, block in of_type(body, "mcp_tool_listing"):
        if text(block, "mcp_server_name") not in toolsets:
            yield f"{path}.mcp_server_name", f"no toolset is for {shown(block.get('mcp_server_name'))!r}"


def _domains(body: Json, model: Model | None) -> Found:
    for path, tool in declared(body):
        if tool.get("allowed_domains") is not None and tool.get("blocked_domains") is not None:
            yield f"{path}.blocked_domains", "not allowed together with allowed_domains"


def _credit(body: Json, model: Model | None) -> Found:
    if body.get("fallback_credit_token") is not None and body.get("fallbacks") is not None:
        yield "fallback_credit_token", "not allowed together with fallbacks"


SERVERS: tuple[Rule, ...] = (
    Rule(
        number="ANT-30",
        title="A server tool use is followed by a result of its kind, in its answer or after the results of its calls.",
        answers="Each result block must have a corresponding `server_tool_use` block before it.",
        source="claude-code#64383; documentation, Programmatic tool calling (after results of calls), 2026-11",
        prevented_by=ENCODER,
        check=_server_pairs,
    ),
    Rule(
        number="ANT-30b",
        title="The result of an MCP tool follows its use in the same answer.",
        answers=UNQUOTED,
        source="documentation, MCP connector; veryfront/veryfront-code#4301, 2026-08",
        prevented_by=ENCODER,
        check=_mcp_pairs,
    ),
    Rule(
        number="ANT-31",
        title="A running server tool is defined, and the advisor if the history has its results.",
        answers="but no `web_search` tool was provided",
        source="sources of pydantic-ai and litellm, 2026",
        prevented_by=ENCODER,
        check=_server_tools,
    ),
    Rule(
        number="ANT-32",
        title="While a server tool runs, only results follow.",
        answers=UNQUOTED,
        source="documentation, 2026",
        prevented_by=ENCODER,
        check=_mixed_turns,
    ),
    Rule(
        number="ANT-52",
        title="There is at most one compaction, at the start of an answer.",
        answers="compaction_block_misplaced; compaction_block_ambiguous",
        source="SDK anthropic 2.8.0 (error codes), 2026-11",
        prevented_by=ENCODER,
        check=_compactions,
    ),
    Rule(
        number="ANT-52b",
        title="Thinking is cleared before anything else, and only while the model thinks.",
        answers="`clear_thinking_20251015` strategy requires `thinking` to be enabled or adaptive",
        source="documentation, Context editing, 2026-11",
        prevented_by=ENCODER,
        check=_edits,
    ),
    Rule(
        number="ANT-57",
        title="Each MCP server has its own name, an address with https, and one toolset.",
        answers=UNQUOTED,
        source="documentation, MCP connector, 'Validation rules', 2026-11",
        prevented_by=ENCODER,
        check=_servers,
    ),
    Rule(
        number="ANT-58",
        title="The domains of a web tool are allowed or blocked, not both.",
        answers=UNQUOTED,
        source="SDK anthropic 2.8.0, beta_web_search_tool_20260318_param.py; documentation, Web fetch tool, 2026-11",
        prevented_by=ENCODER,
        check=_domains,
    ),
    Rule(
        number="ANT-59",
        title="A credit for a fallback is not redeemed together with fallbacks.",
        answers=UNQUOTED,
        source="SDK anthropic 2.8.0, beta_fallback_credit_token_param.py, 2026-11",
        prevented_by=ENCODER,
        check=_credit,
    ),
)
