"""A file as Claude Code 2.1 writes it, of any size. It depends only on the size, so every run has the same one.

Rows, fields and lengths are like those of real files: one block a row, parallel results beside the chain of parents, a
structured copy of each result, rows of hooks and snapshots. A row has about 2 KB on average.
"""

from collections.abc import Iterator
from itertools import count
from pathlib import Path
from typing import Any

import msgspec

from .conversations import prose

Row = dict[str, Any]
SESSION = "0195a1b2-c3d4-7e5f-8a6b-7c8d9e0f1a2b"
USAGE = {
    "input_tokens": 3,
    "cache_creation_input_tokens": 5376,
    "cache_read_input_tokens": 21440,
    "cache_creation": {"ephemeral_5m_input_tokens": 0, "ephemeral_1h_input_tokens": 5376},
    "output_tokens": 12,
    "service_tier": "standard",
    "inference_geo": "not_available",
}


def write_file(path: Path, size: int) -> Path:
    """Write at least ``size`` bytes of whole turns."""
    rows, turns = _Rows(), count()
    with path.open("wb") as file:
        while file.tell() < size:
            for row in rows.turn(next(turns)):
                file.write(msgspec.json.encode(row) + b"\n")
    return path


class _Rows:
    """The rows of a session, with the row that the next one follows."""

    def __init__(self) -> None:
        self._number = 0
        self._last: str | None = None

    def _row(self, kind: str, parent: str | None = None, **fields: Any) -> Row:
        self._number += 1
        uuid = f"5f0c{self._number:08x}-9f0a-4c1d-8e2b-3a4b5c6d7e8f"
        before = parent or self._last
        self._last = uuid
        return {
            "parentUuid": before,
            "isSidechain": False,
            "userType": "external",
            "cwd": "/home/ada/tern",
            "sessionId": SESSION,
            "version": "2.1.197",
            "gitBranch": "main",
            "slug": "counting-terns-slowly",
            "type": kind,
            "uuid": uuid,
            "timestamp": f"2026-11-{1 + self._number // 86400 % 28:02}T{self._number // 3600 % 24:02}:00:00.123Z",
            **fields,
        }

    def _answer(self, turn: int, part: int, *blocks: Row) -> Iterator[Row]:
        for block in blocks:
            message = {
                "model": "claude-opus-4-6",
                "id": f"msg_01{turn:010}{part:012}",
                "type": "message",
                "role": "assistant",
                "content": [block],
                "stop_reason": "tool_use" if part == 0 else "end_turn",
                "stop_sequence": None,
                "usage": USAGE,
            }
            yield self._row("assistant", message=message, requestId=f"req_011{turn:021}")

    def turn(self, turn: int) -> Iterator[Row]:
        """A prompt, thinking with two calls, their results, and an answer."""
        snapshot = {"messageId": SESSION, "trackedFileBackups": {}, "timestamp": "2026-11-16T18:47:50.736Z"}
        yield {"type": "file-history-snapshot", "messageId": SESSION, "snapshot": snapshot, "isSnapshotUpdate": False}
        asked = {"role": "user", "content": prose(300, turn)}
        yield self._row("user", message=asked, permissionMode="default", todos=[])
        ids = [f"toolu_01{turn:010}{at:012}" for at in range(2)]
        command = {"command": prose(80, turn), "description": prose(40, turn)}
        reads = {"file_path": f"/home/ada/tern/src/module_{turn}.py", "offset": turn, "limit": 200}
        rows = list(
            self._answer(
                turn,
                0,
                {"type": "thinking", "thinking": prose(600, turn), "signature": "c2lnbmF0dXJl" * 40},
                {"type": "text", "text": prose(200, turn)},
                {"type": "tool_use", "id": ids[0], "name": "Bash", "input": command, "caller": {"type": "direct"}},
                {"type": "tool_use", "id": ids[1], "name": "Read", "input": reads, "caller": {"type": "direct"}},
            )
        )
        yield from rows
        output = prose(1500, turn).replace(" dog", "\n")
        lines = "\n".join(f"{at:6}→\t{prose(70, turn + at)}" for at in range(40))
        screen = {"stdout": output, "stderr": "", "interrupted": False, "isImage": False, "noOutputExpected": False}
        file = {"filePath": reads["file_path"], "content": lines, "numLines": 40, "startLine": 1, "totalLines": 40}
        yield self._result(rows[2]["uuid"], ids[0], output, screen)
        yield self._row("progress", data={"type": "hook_progress", "hookEvent": "PostToolUse"}, toolUseID=ids[0])
        yield self._result(rows[3]["uuid"], ids[1], lines, {"type": "text", "file": file})
        yield from self._answer(turn, 1, {"type": "text", "text": prose(700, turn)})

    def _result(self, parent: str, call: str, text: str, structured: Row) -> Row:
        block = {"tool_use_id": call, "type": "tool_result", "content": text, "is_error": False}
        message = {"role": "user", "content": [block]}
        return self._row("user", parent, message=message, toolUseResult=structured, sourceToolAssistantUUID=parent)
