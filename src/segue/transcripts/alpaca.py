"""Datasets in the form of Alpaca: an instruction, an input, an output, and earlier turns as pairs in ``history``.

Fields are those of LLaMA-Factory (``data/README.md``, 2026).
"""

from ..types import TextContent
from .building import Conversation
from .datasets import dataset_format
from .reading import text_of
from .source import Object


def is_own(row: Object) -> bool:
    """Whether a row is an example of Alpaca."""
    return isinstance(row.get("instruction"), str) and ("output" in row or "chosen" in row)


def read(conversation: Conversation, row: Object) -> None:
    """Read one row."""
    conversation.add_system(text_of(row.get("system")))
    history = row.get("history")
    for pair in history if isinstance(history, list) else ():
        if isinstance(pair, list) and len(pair) == 2:
            conversation.add_user(text_of(pair[0]))
            conversation.add_answer([TextContent(text_of(pair[1]))])
        else:
            conversation.remark("row-incomplete", "a turn of the history that is not a pair")
    question = [text_of(row.get("instruction")), text_of(row.get("input"))]
    conversation.add_user("\n".join(text for text in question if text))
    asked = [*conversation.log]
    conversation.add_answer([TextContent(text_of(row.get("chosen") if "chosen" in row else row.get("output")))])
    if text_of(row.get("rejected")):
        other = Conversation(conversation.tool)
        other.log = asked
        other.add_answer([TextContent(text_of(row["rejected"]))])
        conversation.add_branch("rejected", other)
    if row.get("images"):
        conversation.remark("file-missing", "images beside a dataset are not read")


FORMAT = dataset_format(
    name="alpaca",
    title="Alpaca datasets",
    recognise=is_own,
    read=read,
    verified=True,
    source="LLaMA-Factory's demonstration data, 2026",
)
