"""The cases of transcripts: writing their files, and messages as short lines for their expectations."""

import json
import sqlite3
import zipfile
from contextlib import closing
from pathlib import Path
from typing import Any

from segue import AssistantMessage, Message, ToolResultMessage
from segue.types import Block

CASES = sorted((Path(__file__).parent.parent / "cases" / "transcripts").glob("*/*.json"))


def lay_out(case: dict[str, Any], folder: Path) -> Path:
    """Write the files of a case; returns the one that is read."""
    for name, content in case["files"].items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if name.endswith((".jsonl", ".log")):
            lines = [row if isinstance(row, str) else json.dumps(row) for row in content]
            path.write_text("\n".join(lines) + ("" if case.get("torn") else "\n"), "utf-8")
        elif name.endswith((".db", ".vscdb")) and isinstance(content, dict):
            _make_database(path, content)
        elif name.endswith((".db", ".vscdb")):
            with closing(sqlite3.connect(path)) as database:
                database.executescript(";\n".join(content))
        elif name.endswith((".zip", ".eval")):
            with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
                for member, document in content.items():
                    archive.writestr(member, document if isinstance(document, str) else json.dumps(document))
        elif isinstance(content, str):
            path.write_text(content, "utf-8")
        else:
            path.write_text(json.dumps(content), "utf-8")
    return folder / case.get("read", next(iter(case["files"])))


def _make_database(path: Path, tables: dict[str, list[dict[str, Any]]]) -> None:
    """A database with these rows; objects in them are stored as JSON."""
    with closing(sqlite3.connect(path)) as connection:
        for table, rows in tables.items():
            connection.execute(f"CREATE TABLE {table} ({', '.join(rows[0])})")
            for row in rows:
                values = [json.dumps(each) if isinstance(each, dict | list) else each for each in row.values()]
                connection.execute(f"INSERT INTO {table} VALUES ({', '.join('?' * len(values))})", values)
        connection.commit()


def shown(message: Message) -> str:
    """One message on one line."""
    content = " | ".join(map(_block, message.content))
    if isinstance(message, ToolResultMessage):
        return f"result{'!' if message.is_error else ''} {message.tool_call_id} {message.tool_name}: {content}"
    if isinstance(message, AssistantMessage):
        failed = f" {message.error_message}" if message.error_message else ""
        return f"answer {message.stop_reason}{failed}: {content}"
    return f"{'injected' if message.injected else 'user'}: {content}"


def _block(block: Block) -> str:
    if block.type == "text":
        return block.text
    if block.type == "thinking":
        return f"<{'redacted' if block.redacted else block.thinking}>"
    if block.type == "toolCall":
        return f"{block.name}({', '.join(f'{name}={value}' for name, value in block.arguments.items())}) {block.id}"
    if block.type == "provider":
        return f"[{block.kind}] {block.text}"
    return f"[{block.mime_type or block.url}]"


def signatures(message: Message) -> list[str]:
    """All signatures of a message, in order."""
    found = []
    for block in message.content:
        for name in ("thinking_signature", "text_signature", "thought_signature"):
            if signature := getattr(block, name, None):
                found.append(signature)
    return found
