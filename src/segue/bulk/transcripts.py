"""Conversations that other tools stored, as rows: the conversation, and where it is from."""

from collections.abc import Iterator

import msgspec

from .. import transcripts
from ..errors import FormatError


def transcript_lines(path: str) -> Iterator[bytes]:
    """A line of JSONL for each conversation in a file. One that cannot be read is a row with the error."""
    for info in transcripts.list(path):
        about = {"tool": info.tool, "id": info.id, "title": info.title}
        try:
            context = transcripts.read(path, info.id).context
        except FormatError as error:
            yield msgspec.json.encode(about | {"error": error.for_shell()}) + b"\n"
        else:
            yield (
                msgspec.json.encode(msgspec.json.decode(context.to_json(), type=dict[str, msgspec.Raw]) | about) + b"\n"
            )
