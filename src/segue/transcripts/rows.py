"""What writers of several formats share: rows as JSON lines, and ids that follow from the id of the session."""

import re
import uuid
from collections.abc import Iterable
from typing import Any

from ..types import ImageContent, TextContent, ToolResultMessage, UserContent
from ..types.codec import write as write_value


def lines_of(rows: Iterable[Any]) -> bytes:
    """One JSON object on each line."""
    return b"".join(write_value(row) + b"\n" for row in rows)


def row_id(session: str, number: int) -> str:
    """A UUID for a row of a session, always the same."""
    return str(uuid.uuid5(uuid.NAMESPACE_URL, f"{session}/{number}"))


def folder_name(cwd: str) -> str:
    """A directory as one name, as Claude Code and Qwen Code write it."""
    return re.sub(r"[^A-Za-z0-9]", "-", cwd)


def data_url(image: ImageContent) -> str:
    return f"data:{image.mime_type};base64,{image.data}"


def text_of(result: ToolResultMessage) -> str:
    """The texts of a result, joined."""
    return "\n".join(block.text for block in result.content if isinstance(block, TextContent))


def images_in(content: Iterable[UserContent]) -> list[ImageContent]:
    return [block for block in content if isinstance(block, ImageContent)]
