"""The conversation in a row of a table: which columns hold it, in which form, and the conversation itself."""

from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any

from msgspec import Raw, Struct
from msgspec.structs import replace

from ..errors import FormatError, VersionError
from ..render import RecognisedBody, ingest, plain_values, recognise
from ..transcripts import is_turns, read_turns
from ..types import Context, ToolDefinition
from ..types.codec import UNREADABLE, json_text, read, read_json
from ..wire import PROTOCOLS, protocol_of
from .nulls import is_filled_by_arrow, without_field_nulls, without_nulls

Row = Mapping[str, Any]
"""A row: the values of its columns, as JSON values or as their text (``msgspec.Raw``)."""

Drop = Callable[[Any], Any]
"""Returns a value without the nulls that mean nothing."""

COLUMNS = ("messages", "conversations", "conversation", "contents", "input")
"""Names of columns that hold a conversation, in the order in which they are tried."""
SYSTEM = ("system", "system_prompt", "systemPrompt", "instructions")
"""Names of columns that hold a system prompt as text."""
DOCUMENT = frozenset({"systemInstruction", "system_instruction", "toolConfig"})
"""Columns that only a row has which is a whole request body."""
FRAME = ("tools", *SYSTEM, *DOCUMENT)
SHAREGPT = "ShareGPT"
NOTHING = "no column of this row holds a conversation; --column names it if it is there"


class Found(Struct, frozen=True):
    """The conversation of a row, the columns that held it, and its form."""

    context: Context
    columns: tuple[str, ...]
    form: str
    protocol: str | None = None


def read_row(row: Row, column: str | None = None, *, from_arrow: bool = False) -> Found:
    """Find and read the conversation in a row. A ``FormatError`` states why there is none."""
    if column is not None and row.get(column) is None:
        raise FormatError(f"this row has no column {column!r}")
    columns: tuple[str, ...]
    if column is None and row.get("prompt") is not None and row.get("completion") is not None:
        columns, value = ("prompt", "completion"), _pair(_opened(row["prompt"]), _opened(row["completion"]))
    else:
        name, value = (column, _opened(row[column])) if column is not None else _find(row)
        columns = (name,)
    if isinstance(value, str):
        raise FormatError("this is text, not a conversation", path=columns[0])
    drop = without_nulls if from_arrow or is_filled_by_arrow(value) else without_field_nulls
    try:
        clean = _cleaned(row[columns[0]] if len(columns) == 1 else None, value, drop)
        return _read(clean, columns, row, drop)
    except RecursionError:
        raise FormatError("nested too deeply to be read") from None


def read_line(line: bytes, row: Mapping[str, Raw], column: str | None = None) -> Found:
    """Read the conversation in a line of a JSONL file; ``row`` has the columns of the line.

    A conversation of segue is read in one step.
    """
    if "version" in row and column in (None, "messages"):
        try:
            return Found(Context.from_json(line), ("messages",), "a conversation of segue")
        except VersionError:
            raise
        except FormatError:  # a column of that name in another form
            pass
    return read_row({name: value for name, value in row.items() if bytes(value) != b"null"}, column)


def _find(row: Row) -> tuple[str, Any]:
    """The column that holds a conversation: by its name, otherwise by its shape."""
    named = [name for name in COLUMNS if row.get(name) is not None]
    for name in [*named, *(name for name in row if name not in COLUMNS and name not in FRAME)]:
        value = _opened(row[name])
        inside = [value.get(each) for each in COLUMNS] if isinstance(value, dict) else [value]
        if any(map(_looks_like_messages, inside)):
            return name, value
    if named:
        return named[0], _opened(row[named[0]])
    raise FormatError(NOTHING)


def _looks_like_messages(value: Any) -> bool:
    return (
        isinstance(value, list)
        and bool(value)
        and all(isinstance(item, dict) for item in value)
        and any("role" in item or "from" in item or "type" in item for item in value)
    )


def _opened(value: Any) -> Any:
    """A value of a column; JSON text inside it is read."""
    if isinstance(value, Raw):
        value = read_json(bytes(value))
    if isinstance(value, str) and value.lstrip()[:1] in ("[", "{"):
        try:
            return read_json(value.encode("utf-8", "replace"))
        except UNREADABLE:
            return value
    return value


def _cleaned(given: Any, value: Any, drop: Drop) -> Any:
    """The value of a column without nulls; ``given`` is the column itself, ``None`` if the value is from two columns.

    Most texts have no null: looking for the word is much faster than looking at every field.
    """
    if isinstance(given, Raw):
        return drop(value) if b"null" in bytes(given) else value
    if isinstance(given, str):
        return drop(value) if "null" in given else value
    return drop(plain_values(value))


def _pair(prompt: Any, completion: Any) -> list[Any]:
    """The messages of a prompt and its completion, each as text or as messages."""
    asked = prompt if isinstance(prompt, list) else [{"role": "user", "content": prompt}]
    answered = completion if isinstance(completion, list) else [{"role": "assistant", "content": completion}]
    return [*asked, *answered]


def _read(value: Any, columns: tuple[str, ...], row: Row, drop: Drop) -> Found:
    frame = {name: row[name] for name in FRAME if row.get(name) is not None and name not in columns}
    if isinstance(value, list) and is_turns(value):
        return Found(_framed(read_turns(value), frame, drop), columns, SHAREGPT)
    if isinstance(value, list) and not DOCUMENT.isdisjoint(frame):
        value = {columns[0]: value} | {name: _cleaned(given, _opened(given), drop) for name, given in frame.items()}
        frame = {}
    form = recognise(value)
    context = RecognisedBody(form, None).conversation(now=0)
    return Found(_framed(context, frame, drop), columns, form.name, form.protocol)


def _framed(context: Context, frame: dict[str, Any], drop: Drop) -> Context:
    """The conversation with the system prompt and the tools that are in other columns."""
    system = next((text for name in SYSTEM if name in frame and (text := _text(_opened(frame[name])))), "")
    if system and not context.system_prompt:
        context = replace(context, system_prompt=system)
    if "tools" in frame and not context.tools:
        context = replace(context, tools=list(_read_tools(_as_json(frame["tools"]), drop)))
    return context


def _as_json(given: Any) -> bytes:
    """The value of a column as JSON text."""
    return bytes(given) if isinstance(given, Raw) else json_text(plain_values(given)).encode("utf-8", "replace")


def _text(value: Any) -> str:
    """A system prompt that is a text, or a list of blocks with texts."""
    blocks = value if isinstance(value, list) else [{"text": value}]
    texts = [block.get("text") for block in blocks if isinstance(block, dict)]
    return "\n\n".join(text for text in texts if isinstance(text, str))


@lru_cache(64)  # most rows of a corpus have the same tools
def _read_tools(text: bytes, drop: Drop) -> tuple[ToolDefinition, ...]:
    """Tools in the form of any protocol, or in segue's own; the list is JSON, or JSON text inside a JSON string."""
    tools = drop(_opened(Raw(text)))
    if not tools:
        return ()
    for name in PROTOCOLS:
        body = {protocol_of(name).history: [], "tools": tools}
        try:
            context = ingest(body, name, now=0)
        except FormatError:
            continue
        if context.tools and all(tool.name for tool in context.tools):
            return tuple(context.tools)
    try:
        return tuple(read(json_text(tools), list[ToolDefinition]))
    except FormatError as error:
        raise FormatError(f"the tools are not in a known form: {error.reason}", path="tools") from None
