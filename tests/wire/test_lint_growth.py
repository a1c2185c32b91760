"""Linting costs what a body is long, for bodies that were made to cost more, too.

What is counted is work, not time: every call, every line that runs, and every comparison of a name or an id. A body of
twice the length may cost twice of that, and not more.
"""

import sys
from collections.abc import Callable
from types import FrameType
from typing import Any

import pytest

from segue.rules import run
from segue.wire.registry import PROTOCOLS, protocol_of

Body = dict[str, Any]


class Counted(str):
    """A string that counts how often it is compared with another."""

    compared = 0

    def __eq__(self, other: object) -> bool:
        Counted.compared += 1
        return str.__eq__(self, other)

    __hash__ = str.__hash__


def steps(protocol: str, body: Body) -> int:
    """How many calls, lines and comparisons are needed to run all rules over a body."""
    count = 0

    def trace(frame: FrameType, event: str, argument: Any) -> Any:
        nonlocal count
        count += 1
        return trace

    Counted.compared = 0
    rules, before = protocol_of(protocol).rules, sys.gettrace()
    sys.settrace(trace)
    try:
        run(rules, body)
    finally:
        sys.settrace(before)
    return count + Counted.compared


def least(protocol: str, body: Body) -> int:
    """The fewest steps of a few runs: Python forgets compiled patterns now and then, and compiling is not linting."""
    return min(steps(protocol, body) for _ in range(3))


# -- messages of each protocol ---------------------------------------------------------------------------------------


def turn_of(protocol: str, role: str, text: str) -> Any:
    if protocol == "google-generative-ai":
        return {"role": "model" if role == "assistant" else "user", "parts": [{"text": text}]}
    if protocol == "bedrock-converse":
        return {"role": role, "content": [{"text": text}]}
    return {"role": role, "content": text}


def called(protocol: str, ids: list[str]) -> list[Any]:
    """An answer with calls of these ids."""
    if protocol == "google-generative-ai":
        return [{"role": "model", "parts": [{"functionCall": {"name": "get", "args": {}, "id": i}} for i in ids]}]
    if protocol == "bedrock-converse":
        calls = [{"toolUse": {"toolUseId": i, "name": "get", "input": {}}} for i in ids]
        return [{"role": "assistant", "content": calls}]
    if protocol == "anthropic-messages":
        used = [{"type": "tool_use", "id": i, "name": "get", "input": {}} for i in ids]
        return [{"role": "assistant", "content": used}]
    if protocol == "openai-responses":
        return [{"type": "function_call", "call_id": i, "name": "get", "arguments": "{}"} for i in ids]
    made = [{"id": i, "type": "function", "function": {"name": "get", "arguments": "{}"}} for i in ids]
    return [{"role": "assistant", "content": "", "tool_calls": made}]


def answered(protocol: str, ids: list[str]) -> list[Any]:
    """The results of calls of these ids."""
    if protocol == "google-generative-ai":
        parts = [{"functionResponse": {"name": "get", "response": {}, "id": i}} for i in ids]
        return [{"role": "user", "parts": parts}]
    if protocol == "bedrock-converse":
        results = [{"toolResult": {"toolUseId": i, "content": [{"text": "x"}]}} for i in ids]
        return [{"role": "user", "content": results}]
    if protocol == "anthropic-messages":
        found = [{"type": "tool_result", "tool_use_id": i, "content": "x"} for i in ids]
        return [{"role": "user", "content": found}]
    if protocol == "openai-responses":
        return [{"type": "function_call_output", "call_id": i, "output": "x"} for i in ids]
    return [{"role": "tool", "tool_call_id": i, "content": "x"} for i in ids]


def thought(protocol: str, at: int) -> Any:
    if protocol == "google-generative-ai":
        return {"role": "model", "parts": [{"text": "x", "thought": True}]}
    if protocol == "bedrock-converse":
        return {"role": "assistant", "content": [{"reasoningContent": {"reasoningText": {"text": "x"}}}]}
    if protocol == "anthropic-messages":
        return {"role": "assistant", "content": [{"type": "thinking", "thinking": "x", "signature": "s"}]}
    if protocol == "openai-responses":
        return {"type": "reasoning", "id": f"rs_{at}", "summary": []}
    return {"role": "assistant", "content": [{"type": "thinking", "thinking": []}], "reasoning_content": "x"}


def tool(protocol: str, name: str, schema: Any) -> Any:
    if protocol == "google-generative-ai":
        return {"functionDeclarations": [{"name": name, "parameters": schema}]}
    if protocol == "bedrock-converse":
        return {"toolSpec": {"name": name, "inputSchema": {"json": schema}}}
    if protocol == "anthropic-messages":
        return {"name": name, "input_schema": schema}
    if protocol == "openai-responses":
        return {"type": "function", "name": name, "parameters": schema}
    return {"type": "function", "function": {"name": name, "parameters": schema}}


def body(protocol: str, history: list[Any], tools: list[Any] | None = None) -> Body:
    found: Body = {protocol_of(protocol).history: history}
    if tools is not None and protocol == "bedrock-converse":
        found["toolConfig"] = {"tools": tools}
    elif tools is not None:
        found["tools"] = tools
    return found


# -- hostile bodies --------------------------------------------------------------------------------------------------


def names(count: int) -> list[str]:
    return [Counted(f"id{number:07d}") for number in range(count)]


def flat(many: list[list[Any]]) -> list[Any]:
    return [item for items in many for item in items]


def nested(count: int) -> Any:
    inner: Any = {}
    for _ in range(count):
        inner = {"properties": {"a": inner}, "type": "object"}
    return inner


SHAPES: dict[str, Callable[[str, int], Body]] = {
    "one role": lambda p, n: body(p, [turn_of(p, "user", "x") for _ in range(n)]),
    "answers only": lambda p, n: body(p, [turn_of(p, "assistant", "x") for _ in range(n)]),
    "system only": lambda p, n: body(p, [turn_of(p, "user", "x"), *(turn_of(p, "system", "x") for _ in range(n))]),
    "one id": lambda p, n: body(p, flat([called(p, ["same"]) + answered(p, ["same"]) for _ in range(n)])),
    "one id in one batch": lambda p, n: body(p, called(p, ["same"] * n) + answered(p, ["same"] * n)),
    "a large batch": lambda p, n: body(p, called(p, names(n)) + answered(p, names(n)[::-1])),
    "calls only": lambda p, n: body(p, flat([called(p, [name]) for name in names(n)])),
    "a batch of calls only": lambda p, n: body(p, called(p, names(n))),
    "orphans only": lambda p, n: body(p, answered(p, names(n))),
    "orphans, one a message": lambda p, n: body(p, flat([answered(p, [name]) for name in names(n)])),
    "a good loop": lambda p, n: body(p, flat([called(p, [name]) + answered(p, [name]) for name in names(n)])),
    "thinking only": lambda p, n: body(p, [thought(p, at) for at in range(n)]),
    "many tools": lambda p, n: body(p, [turn_of(p, "user", "x")], [tool(p, name, {}) for name in names(n)]),
    "a deep tool": lambda p, n: body(p, [turn_of(p, "user", "x")], [tool(p, "get", nested(n))]),
    "a deep body": lambda p, n: body(p, [nested(n)]),
    "half characters": lambda p, n: body(p, [turn_of(p, "user", "\ud800") for _ in range(n)]),
    "deep half characters": lambda p, n: body(p, [{"role": "user", "content": [nested(n), "\ud800"] * 2}]),
}
SMALL = 120


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_twice_the_body_is_at_most_twice_the_work(protocol: str, shape: str) -> None:
    make = SHAPES[shape]
    run(protocol_of(protocol).rules, make(protocol, 3))  # what is made once, on first use
    once, twice = least(protocol, make(protocol, SMALL)), least(protocol, make(protocol, 2 * SMALL))
    assert twice <= 2.1 * once + 500


@pytest.mark.parametrize("shape", ["a deep tool", "a deep body", "deep half characters"])
@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_a_body_that_is_nested_deeper_than_the_stack_is_linted(protocol: str, shape: str) -> None:
    deep = SHAPES[shape](protocol, 20_000)
    findings = run(protocol_of(protocol).rules, deep)
    assert all(len(finding.path) < 10_000 and len(finding.message) < 10_000 for finding in findings)
    _flatten(deep)


def _flatten(value: Any) -> None:
    """Take a deep value apart, since Python frees one by recursion."""
    waiting = [value]
    while waiting:
        item = waiting.pop()
        if isinstance(item, dict):
            waiting += item.values()
            item.clear()
        elif isinstance(item, list):
            waiting += item
            item.clear()
