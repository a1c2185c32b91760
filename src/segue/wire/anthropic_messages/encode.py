"""A projected conversation to the body of ``POST /v1/messages``, valid under API versions 2023-06-01 and 2026-10-21.

Rules are cited where they are obeyed, by their numbers in ``rules.py``.
"""

from typing import Any

from ...dialects import AnthropicMessages
from ...projection import Projection
from ...projection.origin import same_origin
from ...projection.step import Report
from ...types import (
    AssistantContent,
    AssistantMessage,
    ImageContent,
    Options,
    TextContent,
    ThinkingContent,
    ToolCall,
    ToolResultMessage,
    UserContent,
    UserMessage,
)
from ..common.outgoing import Outgoing
from ..common.texts import CLOSING, IMAGES_BELOW, MOVED_IMAGES, OPENING

Out = Outgoing[AnthropicMessages]
Block = dict[str, Any]

DEFAULT_MAX_TOKENS = 8_192
# Tokens of thinking for each level, on models that think by budget (ANT-41: at least 1024, below max_tokens).
BUDGETS = {"minimal": 1_024, "low": 2_048, "medium": 8_192, "high": 16_384, "xhigh": 32_768, "max": 32_768}
EFFORT = {"minimal": "low", "low": "low", "medium": "medium", "high": "high", "xhigh": "xhigh", "max": "max"}


def encode(projection: Projection, options: Options, report: Report) -> dict[str, Any]:
    """The request body."""
    out = Outgoing(projection, AnthropicMessages, options, report)
    turns = _turns(out)
    body: dict[str, Any] = {"model": out.model.id, "max_tokens": _max_tokens(out)}
    if out.system is not None:
        body["system"] = [{"type": "text", "text": out.system}]
    body["messages"] = turns
    if out.tools:
        body["tools"] = [_tool(out, tool) for tool in out.tools]
    _add_thinking(out, body)
    _add_tool_choice(out, body)
    _add_rest(out, body)
    _close(out, body)
    _mark_cache(out, body)
    return body


# -- messages --------------------------------------------------------------------------------------------------------


def _turns(out: Out) -> list[dict[str, Any]]:
    """Neighbours of one role are one message (ANT-03), results first (ANT-19), and the user begins (ANT-04)."""
    turns: list[dict[str, Any]] = []
    held: list[Block] = []  # images that wait for the whole batch of results
    for index, message in enumerate(out.messages):
        if held and not isinstance(message, ToolResultMessage):
            turns[-1]["content"] += [{"type": "text", "text": MOVED_IMAGES}, *held]
            held = []
        match message:
            case UserMessage():
                _append(out, turns, "user", [_plain(block) for block in message.content], index)
            case AssistantMessage():
                _append(out, turns, "assistant", _answer(out, index, message), index)
            case ToolResultMessage():
                result = _result(out, index, message, held)
                if turns and turns[-1]["role"] == "user":
                    turns[-1]["content"].append(result)
                else:
                    turns.append({"role": "user", "content": [result]})
    if held:
        turns[-1]["content"] += [{"type": "text", "text": MOVED_IMAGES}, *held]
    if turns[0]["role"] == "assistant":
        turns.insert(0, {"role": "user", "content": [{"type": "text", "text": OPENING}]})
        out.tell("filler-inserted", 0, f"the conversation begins with the user: {OPENING!r}")
    return turns


def _append(out: Out, turns: list[dict[str, Any]], role: str, blocks: list[Block], index: int) -> None:
    if not blocks:
        return
    if turns and turns[-1]["role"] == role:
        out.tell("turns-merged", index, f"with the {role} message before it")
        turns[-1]["content"] += blocks
    else:
        turns.append({"role": role, "content": blocks})


def _answer(out: Out, index: int, message: AssistantMessage) -> list[Block]:
    content: list[AssistantContent] = message.content
    if not same_origin(message, out.model):
        # ANT-16: what another model said after its calls would be read as a prefill; its own order is never touched.
        calls = [block for block in content if type(block) is ToolCall]
        others = [block for block in content if type(block) is not ToolCall]
        if calls and others and [*others, *calls] != content:
            out.tell("blocks-reordered", index, "calls stand at the end of an answer")
            content = [*others, *calls]
    if all(type(block) is ThinkingContent for block in content):
        # ANT-15: "The final block in an assistant message cannot be `thinking`."
        out.tell("thinking-dropped", index, "an answer of nothing but thinking is refused")
        return []
    return [_ANSWER_BLOCKS[type(block)](block) for block in content]


def _thinking(block: ThinkingContent) -> Block:
    if block.redacted:
        return {"type": "redacted_thinking", "data": block.thinking_signature}
    return {"type": "thinking", "thinking": block.thinking, "signature": block.thinking_signature}


def _call(block: ToolCall) -> Block:
    return {"type": "tool_use", "id": block.id, "name": block.name, "input": block.arguments}


def _text(block: TextContent) -> Block:
    return {"type": "text", "text": block.text}


_ANSWER_BLOCKS: dict[type[Any], Any] = {TextContent: _text, ThinkingContent: _thinking, ToolCall: _call}


def _plain(block: UserContent) -> Block:
    return _text(block) if type(block) is TextContent else _image(block)  # type: ignore[arg-type]


def _image(block: ImageContent) -> Block:
    return {"type": "image", "source": {"type": "base64", "media_type": block.mime_type, "data": block.data}}


def _result(out: Out, index: int, message: ToolResultMessage, held: list[Block]) -> Block:
    content = [_plain(block) for block in message.content]
    if message.is_error:
        # ANT-28: 'all content must be type "text" if "is_error" is true'
        images = [block for block in content if block["type"] == "image"]
        if images:
            out.tell("image-moved", index, "a failed result holds text only")
            held += images
            content = [block for block in content if block["type"] == "text"] or [
                {"type": "text", "text": IMAGES_BELOW}
            ]
    result: Block = {"type": "tool_result", "tool_use_id": message.tool_call_id, "content": content}
    if message.is_error:
        result["is_error"] = True
    return result


# -- the rest --------------------------------------------------------------------------------------------------------


def _max_tokens(out: Out) -> int:
    wanted, limit = out.options.max_tokens, out.model.max_tokens
    if wanted is None:
        return min(DEFAULT_MAX_TOKENS, limit)
    if wanted > limit:  # ANT-49
        out.drop_option("max_tokens", f"{wanted} is more than the model's {limit}")
    return min(wanted, limit)


def _tool(out: Out, tool: Any) -> dict[str, Any]:
    schema = tool.schema
    adapted = _object_schema(schema)
    if adapted != schema:  # ANT-55
        out.tell("schema-adapted", None, f"{tool.name}: the root of a schema is an object, without alternatives")
    entry: dict[str, Any] = {"name": tool.name}
    if tool.description.strip():
        entry["description"] = tool.description
    return entry | {"input_schema": adapted}


def _object_schema(schema: Any) -> dict[str, Any]:
    if not isinstance(schema, dict):
        return {"type": "object", "properties": {}}
    adapted = {key: value for key, value in schema.items() if key not in ("oneOf", "anyOf", "allOf")}
    adapted["type"] = "object"
    if not isinstance(adapted.get("properties", {}), dict):
        adapted["properties"] = {}
    return adapted


def _add_thinking(out: Out, body: dict[str, Any]) -> None:
    level, modes = out.options.reasoning, out.dialect.thinking
    if level is None:
        return
    if level == "off":
        if "disabled" in modes:
            body["thinking"] = {"type": "disabled"}
        elif modes:
            out.drop_option("reasoning", "this model always thinks")
    elif "adaptive" in modes:
        body["thinking"] = {"type": "adaptive"}
        effort = _nearest_effort(EFFORT[level], out.dialect.effort)
        if effort is not None:
            body["output_config"] = {"effort": effort}
    elif "enabled" in modes:
        _add_budget(out, body, BUDGETS[level])
    else:
        out.drop_option("reasoning", "this model does not think")


def _nearest_effort(wanted: str, known: tuple[str, ...]) -> str | None:
    order = ["low", "medium", "high", "xhigh", "max"]
    below = [level for level in order[: order.index(wanted) + 1] if level in known]
    return below[-1] if below else known[0] if known else None


def _add_budget(out: Out, body: dict[str, Any], budget: int) -> None:
    if not _may_enable_thinking(body["messages"]):
        # ANT-38: "When `thinking` is enabled, a final `assistant` message must start with a thinking block".
        out.drop_option("reasoning", "the running tool loop began without thinking")
    elif body["max_tokens"] <= 1_024:
        out.drop_option("reasoning", "max_tokens leaves no room for thinking")
    else:
        body["thinking"] = {"type": "enabled", "budget_tokens": min(budget, max(body["max_tokens"] - 1_024, 1_024))}


def _may_enable_thinking(turns: list[dict[str, Any]]) -> bool:
    """Whether the answers since the user's last words all begin with thinking."""
    for turn in reversed(turns):
        if turn["role"] == "user":
            if any(block["type"] != "tool_result" for block in turn["content"]):
                return True
        elif turn["content"][0]["type"] not in ("thinking", "redacted_thinking"):
            return False
    return True


def _add_tool_choice(out: Out, body: dict[str, Any]) -> None:
    choice = out.options.tool_choice
    if out.stubbed:
        body["tool_choice"] = {"type": "none"}
        if choice not in (None, "none"):
            out.drop_option("tool_choice", "no tool is defined")
        return
    if choice is None:
        return
    forced = out.forced_tool()
    if not out.tools:
        out.drop_option("tool_choice", "no tool is defined")  # ANT-27
    elif choice in ("auto", "none"):
        body["tool_choice"] = {"type": choice}
    elif choice != "required" and forced is None:
        out.drop_option("tool_choice", f"no tool is called {choice!r}")
    elif not out.dialect.forced_tool_choice or body.get("thinking", {}).get("type") == "enabled":
        out.drop_option("tool_choice", "this model does not let itself be forced to call a tool")  # ANT-27
    else:
        body["tool_choice"] = {"type": "any"} if forced is None else {"type": "tool", "name": forced}


def _add_rest(out: Out, body: dict[str, Any]) -> None:
    options = out.options
    if options.temperature is not None:
        # ANT-48: gone from API version 2026-10-21 ("temperature: Extra inputs are not permitted").
        out.drop_option("temperature", "the newest API version has none")
    stops = [text for text in options.stop if text.strip()]
    if len(stops) < len(options.stop):
        out.drop_option("stop", "a stop sequence must hold more than white space")
    if stops:
        body["stop_sequences"] = stops
    if "user_id" in options.metadata:
        body["metadata"] = {"user_id": options.metadata["user_id"]}
    others = [name for name in options.metadata if name != "user_id"]
    if others:
        out.drop_option("metadata", f"only user_id is known, not {', '.join(others)}")  # ANT-05
    if options.stream:
        body["stream"] = True


def _close(out: Out, body: dict[str, Any]) -> None:
    """The conversation ends with the user (ANT-14), except as a prefill on models that still take one."""
    turns = body["messages"]
    if turns[-1]["role"] == "user":
        return
    last = turns[-1]["content"][-1]
    thinks = body.get("thinking", {}).get("type") in ("enabled", "adaptive")
    if (
        out.dialect.prefill and not thinks and last["type"] == "text" and last["text"] == last["text"].rstrip()
    ):  # ANT-13
        return
    turns.append({"role": "user", "content": [{"type": "text", "text": CLOSING}]})
    out.tell("filler-inserted", len(out.messages) - 1, f"the conversation ends with the user: {CLOSING!r}")


def _mark_cache(out: Out, body: dict[str, Any]) -> None:
    """Markers at the end of what stays: tools and system, and at the end of what was said so far (ANT-46, ANT-47)."""
    if out.options.cache in (None, "none"):
        return
    marker = {"type": "ephemeral"} | ({"ttl": "1h"} if out.options.cache == "long" else {})
    stable = body.get("system") or body.get("tools")
    if stable:
        stable[-1]["cache_control"] = marker
    for turn in reversed(body["messages"]):
        last = turn["content"][-1]
        if last["type"] not in ("thinking", "redacted_thinking"):
            last["cache_control"] = marker
            return
