"""An independent judge of request bodies: the request types of SDK anthropic, with unknown fields refused everywhere,
and what the two live API versions add to them. It shares no code with the encoder or the rules.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from types import NoneType, UnionType
from typing import Any, Literal, Required, Union, get_args, get_origin

from anthropic.types.beta import BetaThinkingConfigParam
from anthropic.types.message_create_params import MessageCreateParamsNonStreaming, MessageCreateParamsStreaming
from typing_extensions import get_type_hints, is_typeddict

Check = Callable[[Any, str], list[str]]


def faults(body: dict[str, Any]) -> list[str]:
    """Everything in ``body`` that the SDK's types or one of the two API versions refuse."""
    return type_faults(body) or [*versions(body), *exchange(body)]


def type_faults(body: dict[str, Any]) -> list[str]:
    """Everything in ``body`` that the SDK's types refuse."""
    if "anthropic_version" in body and "model" not in body:  # AnthropicVertex has moved the model to the path
        body = {"model": "m"} | {name: value for name, value in body.items() if name != "anthropic_version"}
    params = MessageCreateParamsStreaming if body.get("stream") else MessageCreateParamsNonStreaming
    thinking = body.get("thinking")
    if isinstance(thinking, dict) and "block_binding" in thinking:  # a beta, which has types of its own
        found = check(BetaThinkingConfigParam)(thinking, "thinking")
        return found or type_faults({**body, "thinking": {k: v for k, v in thinking.items() if k != "block_binding"}})
    return check(params)(body, "")


# -- the SDK's types -------------------------------------------------------------------------------------------------


@cache
def check(kind: Any) -> Check:
    """What a value of this type must be."""
    origin, args = get_origin(kind), get_args(kind)
    if is_typeddict(kind):
        return record(kind)
    if origin is Required:
        return check(args[0])
    if origin in (Union, UnionType):
        return any_of([check(each) for each in args])
    if origin is Literal:
        return lambda value, path: [] if value in args else [f"{path}: {value!r} is none of {args}"]
    if origin in (list, Sequence, Iterable):
        return many(check(args[0]))
    if origin in (dict, Mapping):
        return named(check(args[1]))
    return plain(kind)


def plain(kind: Any) -> Check:
    if kind is object:
        return lambda value, path: []
    wanted = {str: str, int: int, bool: bool, float: (int, float), NoneType: NoneType}.get(kind)
    if wanted is None:  # types for files and for answers of the API: never JSON
        return lambda value, path: [f"{path}: {type(value).__name__} is no {kind}"]

    def is_of_kind(value: Any, path: str) -> list[str]:
        fits = isinstance(value, wanted) and (kind is bool or not isinstance(value, bool))
        return [] if fits else [f"{path}: {value!r} is no {kind.__name__}"]

    return is_of_kind


def many(item: Check) -> Check:
    def all_of(value: Any, path: str) -> list[str]:
        if not isinstance(value, list):
            return [f"{path}: no list"]
        return [fault for at, each in enumerate(value) for fault in item(each, f"{path}[{at}]")]

    return all_of


def named(item: Check) -> Check:
    def all_of(value: Any, path: str) -> list[str]:
        if not isinstance(value, dict):
            return [f"{path}: no object"]
        return [fault for name, each in value.items() for fault in item(each, f"{path}.{name}")]

    return all_of


def any_of(branches: list[Check]) -> Check:
    def one_of(value: Any, path: str) -> list[str]:
        closest: list[str] | None = None
        for branch in branches:
            found = branch(value, path)
            if not found:
                return []
            if closest is None or not any(".type:" in fault or ".role:" in fault for fault in found):
                closest = found
        return closest or []

    return one_of


def record(kind: Any) -> Check:
    hints = get_type_hints(kind, include_extras=True)
    open_ended = getattr(kind, "__pydantic_config__", {}).get("extra") == "allow"
    open_ended = open_ended or getattr(kind, "__extra_items__", None) is object
    needed = [name for name, hint in hints.items() if get_origin(hint) is Required]
    members: dict[str, Check] = {}

    def has_members(value: Any, path: str) -> list[str]:
        if not members:
            members.update({name: check(hint) for name, hint in hints.items()})
        if not isinstance(value, dict):
            return [f"{path}: no object"]
        found = [f"{path}.{name}: missing" for name in needed if name not in value]
        for name, inner in value.items():
            if name in members:
                found += members[name](inner, f"{path}.{name}")
            elif not open_ended:
                found.append(f"{path}.{name}: unknown")
        return found

    return has_members


# -- the API versions ------------------------------------------------------------------------------------------------


def versions(body: dict[str, Any]) -> list[str]:
    """What 2026-10-21 refuses and 2023-06-01 accepted, and what both refuse although the types allow it."""
    found = [f"{name}: gone" for name in ("temperature", "top_p", "top_k") if name in body]
    for at, message in enumerate(body["messages"]):
        for number, block in enumerate(message["content"]):
            where, kind = f"messages[{at}].content[{number}]", block["type"]
            if message["role"] == "user":
                found += [f"{where}: citations of the user"] * bool(block.get("citations"))
                found += [f"{where}: {kind} of the user"] * (kind in ("tool_use", "thinking", "redacted_thinking"))
            else:
                found += [f"{where}: {kind} in an answer"] * (kind in ("document", "image", "tool_result"))
            found += [f"{where}: blank"] * (kind == "text" and not block["text"].strip())
    for tool in body.get("tools", ()):
        root = tool["input_schema"]
        if root.get("type") != "object" or {"oneOf", "anyOf", "allOf"} & set(root):
            found.append(f"{tool['name']}: the root of its schema")
        if not re.fullmatch(r"[a-zA-Z0-9_-]{1,64}", tool["name"]):
            found.append(f"{tool['name']}: its name")
    return found


def exchange(body: dict[str, Any]) -> list[str]:
    """Turns alternate, the user begins, and each batch of calls is answered once, in order, in the next turn."""
    turns = body["messages"]
    found = [
        f"{turn['role']} at {at}" for at, turn in enumerate(turns) if turn["role"] != ("user", "assistant")[at % 2]
    ]
    every: list[str] = []
    for at, turn in enumerate(turns):
        found += [f"{at}: empty"] * (not turn["content"])
        calls = [block["id"] for block in turn["content"] if block["type"] == "tool_use"]
        after = turns[at + 1]["content"] if at + 1 < len(turns) else []
        results = [block["tool_use_id"] for block in after if block["type"] == "tool_result"]
        first = [block["type"] == "tool_result" for block in after[: len(results)]]
        if (turn["role"] == "assistant" and calls != results) or not all(first):
            found.append(f"{at}: calls {calls}, results {results}")
        every += calls
    return found + ["ids: not unique"] * (len(set(every)) < len(every))
