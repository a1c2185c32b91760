"""A hand-written MCP server over stdio that misbehaves: each tool does something different wrong.

The arguments are two files: the list of tools, and a file that is written when a call arrives that is not answered.
"""

import json
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

FINE = {"content": [{"type": "text", "text": "fine"}]}


def raw(data: bytes) -> None:
    sys.stdout.buffer.write(data)
    sys.stdout.buffer.flush()


def send(message: dict[str, Any]) -> None:
    raw(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")


def answer(asked: Any, result: Any = FINE) -> None:
    send({"id": asked, "result": result})


def close(asked: Any) -> None:
    os.close(1)


def notify(asked: Any) -> None:
    for method in ("notifications/tools/list_changed", "notifications/nosuch", "notifications/progress", "x"):
        send({"method": method})
        send({"method": method, "params": {"progressToken": "nosuch", "progress": "x", "requestId": asked}})
    send({"method": "notifications/cancelled", "params": {"requestId": "nosuch"}})
    answer(asked)


def ask(asked: Any) -> None:
    for at, method in enumerate(("ping", "roots/list", "sampling/createMessage", "elicitation/create", "nosuch")):
        send({"id": f"asked-{at}", "method": method, "params": {"x": 1}})
    answer(asked)


ACTS: dict[str, Callable[[Any], Any]] = {
    "good": answer,
    # Lines that are not messages.
    "plain": lambda asked: raw(b"this is not JSON\n"),
    "binary": lambda asked: raw(b"\xff\xfe\x00\x9b\n"),
    "many_plain": lambda asked: raw(b"one\ntwo\n\nthree\n"),
    "half": lambda asked: raw(f'{{"jsonrpc": "2.0", "id": {asked}, "resu\n'.encode()),
    "half_with_a_long_id": lambda asked: raw(b'{"jsonrpc": "2.0", "id": ' + b"9" * 5_000 + b', "resu\n'),
    "half_without_id": lambda asked: raw(b'{"jsonrpc": "2.0", "resu\n'),
    "another_object": lambda asked: raw(b'{"a": 1}\n'),
    "a_list": lambda asked: raw(b"[1]\n"),
    "huge_garbage": lambda asked: raw(b"{" + b"x" * 4_000_000 + b"\n"),
    "deep": lambda asked: raw(f'{{"jsonrpc": "2.0", "id": {asked}, "result": {"[" * 100_000}\n'.encode()),
    "surrogate": lambda asked: answer(asked, {"content": [{"type": "text", "text": "fine \ud800"}]}),
    # Messages that are not answers.
    "list_result": lambda asked: answer(asked, []),
    "no_content": lambda asked: answer(asked, {"content": None}),
    "text_content": lambda asked: answer(asked, {"content": "fine"}),
    "unknown_content": lambda asked: answer(asked, {"content": [{"type": "banana"}]}),
    "half_content": lambda asked: answer(asked, {"content": [{"type": "image"}]}),
    "odd_error": lambda asked: send({"id": asked, "error": {"code": "x", "message": 3}}),
    "no_error": lambda asked: send({"id": asked, "error": None}),
    "neither": lambda asked: send({"id": asked}),
    # Unusual, but valid.
    "noise": lambda asked: (raw(b"debug: called\n"), answer(asked)),
    "other_id": lambda asked: (answer("nosuch"), answer(9999), answer(asked)),
    "twice": lambda asked: (answer(asked), answer(asked)),
    "notify": notify,
    "ask": ask,
    "huge": lambda asked: answer(asked, {"content": [{"type": "text", "text": "fine" + "x" * 4_000_000}]}),
    "bad_image": lambda asked: answer(asked, {"content": [{"type": "image", "data": "no!", "mimeType": "image/png"}]}),
    "big_number": lambda asked: answer(asked, {"content": [], "structuredContent": {"n": 10**400}}),
    # The server ends.
    "close": close,
    "exit": lambda asked: os._exit(3),
    "exit_in_a_line": lambda asked: (raw(b'{"jsonrpc"'), os._exit(0)),
}


def main() -> None:
    listed, waiting = json.loads(Path(sys.argv[1]).read_text()), None
    for line in sys.stdin:
        message = json.loads(line)
        asked, method, params = message.get("id"), message.get("method"), message.get("params") or {}
        if method == "initialize":
            about = {"protocolVersion": params["protocolVersion"], "serverInfo": {"name": "bad", "version": "1"}}
            answer(asked, {**about, "capabilities": {"tools": {}}})
        elif method == "tools/list":
            answer(asked, listed)
        elif method == "tools/call" and params["name"] == "wait":
            waiting = asked
            Path(sys.argv[2]).write_text("begun")
        elif method == "tools/call":
            ACTS[params["name"]](asked)
            if params.get("arguments", {}).get("then") == "release":
                answer(waiting)
        elif asked is not None and method is not None:
            send({"id": asked, "error": {"code": -32601, "message": "Method not found"}})


if __name__ == "__main__":
    main()
