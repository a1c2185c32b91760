"""How long the gateway takes to read a conversation that has grown, beside reading it from scratch; prints JSON."""

import json
from collections.abc import Callable
from typing import Any

from segue.gateway.conversation import Conversations, Reading
from segue.transport import Body

from .measure import Effort, measured

MESSAGES = 1_000


def messages(count: int) -> list[dict[str, Any]]:
    """Questions, calls, results and answers, of about a kilobyte each; the last message has a cache marker."""
    found: list[dict[str, Any]] = []
    for at in range(count):
        call = {"type": "tool_use", "id": f"toolu_{at - at % 4:06d}", "name": "look", "input": {"path": f"src/{at}"}}
        result = {"type": "tool_result", "tool_use_id": f"toolu_{at - at % 4:06d}", "content": f"{at} " * 250}
        content = (
            [{"type": "text", "text": f"Question {at}? " * 60}],
            [{"type": "text", "text": "I look."}, call],
            [result],
            [{"type": "text", "text": f"Answer {at}. " * 80}],
        )[at % 4]
        found.append({"role": "assistant" if at % 2 else "user", "content": content})
    return found


def body(history: list[dict[str, Any]]) -> bytes:
    last = history[-1]
    marked = [*last["content"][:-1], last["content"][-1] | {"cache_control": {"type": "ephemeral"}}]
    turns = [*history[:-1], last | {"content": marked}]
    return json.dumps({"model": "m", "max_tokens": 100, "system": "Be brief.", "messages": turns}).encode()


def read(conversations: Conversations, data: bytes) -> Reading:
    return conversations.read(Body(data), "anthropic-messages", "t", "s", 0)


def main() -> None:
    history = messages(MESSAGES + 100)
    bodies = [body(history[: MESSAGES + at]) for at in range(100)]
    conversations, following = Conversations(), iter(bodies)
    known = [read(conversations, next(following))]

    def grown() -> None:
        conversations.put(known[0])
        known[0] = read(conversations, next(following))

    candidates: dict[str, Callable[[], object]] = {"grown": grown, "scratch": lambda: read(Conversations(), bodies[-1])}
    found = measured(candidates, Effort(15, 20))
    assert conversations.misses == 1, "every other reading continued the one before"
    print(json.dumps({name: figure.rounds for name, figure in found.items()}))


if __name__ == "__main__":
    main()
