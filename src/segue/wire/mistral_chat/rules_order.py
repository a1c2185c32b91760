"""Checks of the order of roles, and of calls and their results. The rules that use them are in ``rules.py``."""

import re
from collections.abc import Iterator
from typing import Any

from ...rules import shared
from ...types import Model
from ...types.text import count_of
from ..common.checks import shown

Body = dict[str, Any]
Found = Iterator[tuple[str, str]]

_NINE = re.compile(r"[A-Za-z0-9]{9}").fullmatch

# The roles that may follow each role. A user message after a tool message has its own rule.
FOLLOWERS: dict[str, frozenset[str]] = {
    "system": frozenset({"user", "assistant", "system"}),
    "user": frozenset({"assistant", "system", "user"}),
    "assistant": frozenset({"assistant", "user", "tool"}),
    "tool": frozenset({"assistant", "tool", "user"}),
}


@shared
def turns(body: Body) -> list[tuple[str, dict[str, Any]]]:
    """Path and message of each message that is an object."""
    messages = body.get("messages")
    if not isinstance(messages, list):
        return []
    return [(f"messages[{at}]", message) for at, message in enumerate(messages) if isinstance(message, dict)]


def role_of(message: dict[str, Any]) -> str:
    role = message.get("role")
    return role if isinstance(role, str) else ""


def calls_of(message: dict[str, Any]) -> list[tuple[str, dict[str, Any]]]:
    """The path of each call in a message, and the call."""
    calls = message.get("tool_calls")
    if not isinstance(calls, list):
        return []
    return [(f"tool_calls[{at}]", call) for at, call in enumerate(calls) if isinstance(call, dict)]


def starts(body: Body, model: Model | None) -> Found:
    found = turns(body)
    if not found:
        yield "messages", "there is no message"
    elif len(found) == 1 and role_of(found[0][1]) not in ("user", "system"):
        yield found[0][0], f"the only message has the role {role_of(found[0][1])!r}"


def role_order(body: Body, model: Model | None) -> Found:
    before = ""
    for path, message in turns(body):
        role = role_of(message)
        if role not in FOLLOWERS:
            yield f"{path}.role", f"{shown(role)!r} is not one of {', '.join(FOLLOWERS)}"
        elif role not in FOLLOWERS.get(before, FOLLOWERS):
            yield path, f"unexpected role {role!r} after role {shown(before)!r}"
        before = role


def last_role(body: Body, model: Model | None) -> Found:
    found = turns(body)
    for path, message in found[:-1]:
        if message.get("prefix"):
            yield f"{path}.prefix", "only the last message may have a prefix"
    if len(found) > 1 and role_of(found[-1][1]) == "assistant" and not found[-1][1].get("prefix"):
        yield found[-1][0], "the last message is an answer"


def user_after_tool(body: Body, model: Model | None) -> Found:
    before = ""
    for path, message in turns(body):
        role = role_of(message)
        if (before, role) == ("tool", "user"):
            yield path, "a user message directly after a tool message"
        before = role


def counts(body: Body, model: Model | None) -> Found:
    """Compare calls and results like the validator, which does not count calls in the first message."""
    awaited, asked = 0, ""
    for at, (path, message) in enumerate(turns(body)):
        role = role_of(message)
        if at and role == "tool":
            awaited -= 1
            if awaited == -1:
                yield path, "more results than calls before it"
        elif at and role == "assistant":
            if awaited > 0:
                yield asked, f"{count_of(awaited, 'call')} without a result before {path}"
            awaited, asked = len(calls_of(message)), path
    if awaited > 0:
        yield asked, f"{count_of(awaited, 'call')} without a result"


def pairs(body: Body, model: Model | None) -> Found:
    expected: set[str] = set()
    answered: set[str] = set()
    for path, message in turns(body):
        role = role_of(message)
        if role == "assistant":
            expected, answered = set(), set()
            for where, call in calls_of(message):
                id_ = _id(call.get("id"))
                if id_ in expected:
                    yield f"{path}.{where}.id", f"{shown(id_)!r} appears twice"
                expected.add(id_)
        elif role == "tool":
            id_ = _id(message.get("tool_call_id"))
            if id_ in answered:
                yield f"{path}.tool_call_id", f"a second result for {shown(id_)!r}"
            elif id_ not in expected:
                yield f"{path}.tool_call_id", f"no call before has the id {shown(id_)!r}"
            answered.add(id_)


def _id(value: Any) -> str:
    return value if isinstance(value, str) else shown(value)


def ids(body: Body, model: Model | None) -> Found:
    for path, message in turns(body):
        found = [(f"{path}.{where}.id", call.get("id")) for where, call in calls_of(message)]
        if role_of(message) == "tool":
            found.append((f"{path}.tool_call_id", message.get("tool_call_id")))
        for where, id_ in found:
            if not isinstance(id_, str):
                yield where, "the id is missing"
            elif not _NINE(id_):
                yield where, f"{id_[:80]!r} is not nine letters and digits"
