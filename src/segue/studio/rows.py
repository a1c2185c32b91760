"""The rows of the one screen: a stored message, and beside it what each model gets of it."""

from collections.abc import Callable, Iterator, Sequence
from difflib import SequenceMatcher
from itertools import groupby

import htpy as h
from msgspec import Struct

from ..projection import phrase
from ..rules import Finding
from ..types import Block, Change, Message, ToolCall, ToolResultMessage
from ..types.printable import printable
from .blocks import Ink, Place, draw, draw_blocks, facts_of, label, plain, result_mark, title_of
from .columns import Cell, Column
from .marked import cut, differences, one_line, safe
from .opened import Opened

CHUNK = 200
"""Messages that are loaded at a time."""


class Sheet(Struct, frozen=True):
    """Everything that the rows of one page are drawn from."""

    opened: Opened
    columns: list[Column]
    # Findings of the body that was opened.
    findings: dict[int | None, list[Finding]]
    ink: Ink
    # The two columns to compare; 0 is the stored conversation.
    diff: tuple[int, int] | None = None

    @property
    def messages(self) -> list[Message]:
        return self.opened.context.messages


def draw_rows(sheet: Sheet, first: int, last: int) -> Iterator[h.Renderable]:
    """The rows of the messages from ``first`` to before ``last``."""
    for index in range(first, min(last, len(sheet.messages))):
        yield _row(sheet, index)


def _row(sheet: Sheet, index: int) -> h.Renderable:
    message = sheet.messages[index]
    cells = [column.cell(index, message) for column in sheet.columns]
    is_result = isinstance(message, ToolResultMessage)
    return h.article(
        f"#m{index}.row{'.result' if is_result else ''}",
        tabindex="-1",
        aria_label=f"message {index}, {one_line(title_of(message))}",
        aria_posinset=str(index + 1),
        aria_setsize=str(len(sheet.messages)) if sheet.opened.entries is None else "-1",
    )[_compared(sheet, index, message, cells) if sheet.diff else _side_by_side(sheet, index, message, cells)]


def _side_by_side(sheet: Sheet, index: int, message: Message, cells: list[Cell]) -> list[h.Renderable]:
    return [
        h.div(".cell.stored")[
            _title(index, message),
            draw_blocks(message, sheet.ink, (0, index, 0)),
            draw_findings(sheet.findings.get(index, [])),
        ],
        *[_cell(sheet, (number, index, 0), message, cell) for number, cell in enumerate(cells, 1)],
    ]


def _title(index: int, message: Message) -> h.Renderable:
    facts = facts_of(message)
    return h.header[
        h.a(".number", href=f"#m{index}")[str(index)],
        h.span(".who")[one_line(title_of(message))],
        h.span(".facts")[" · ".join(facts)] if facts else None,
    ]


def _cell(sheet: Sheet, place: Place, stored: Message, cell: Cell) -> h.Renderable:
    number, index, _ = place
    column = sheet.columns[number - 1]
    if column.error:
        return h.div(".cell")
    notes: list[h.Node] = [
        draw_changes(cell.changes, stored, is_sent=cell.state != "absent"),
        draw_findings(cell.findings, column.target.model),
    ]
    if cell.state == "same":
        return h.div(".cell.same")[h.p(".as-stored")["as stored"], notes]
    if cell.state == "absent":
        gone = h.p(".gone")["not sent"] if not cell.changes else None
        return h.div(".cell.absent")[gone, notes]
    # A loss without a block comes from the encoder, which does not say which block it was.
    is_sure = not any(change.lossy and change.block is None for change in cell.changes)
    rendered = [
        _rendered(each, stored, sheet.ink, (number, index, at), is_sure) for at, each in enumerate(cell.messages)
    ]
    return h.div(".cell.changed")[rendered, notes]


def _rendered(message: Message, stored: Message, ink: Ink, place: Place, is_sure: bool) -> Iterator[h.Node]:
    """A message as a model gets it: what differs from the stored one in full, the rest in one line."""
    known = stored.tool_call_id if isinstance(stored, ToolResultMessage) else None
    if isinstance(message, ToolResultMessage) and message.tool_call_id != known:
        yield h.div(".new")[result_mark(message)]
    for at, block in enumerate(message.content):
        if block in stored.content and isinstance(message, type(stored)):
            kind = "as stored" if is_sure else label(block)
            yield h.p(".unchanged")[h.span(".kind")[f"{kind} "], one_line(plain(block)[:120])]
        else:
            yield h.div(".new")[draw(block, ink, place, at)]


def draw_changes(
    changes: Sequence[Change], stored: Message | None = None, *, is_sent: bool = False
) -> Iterator[h.Renderable]:
    """The changes of a message or a request: the word, what was done, and what was lost, struck through. Those of one
    kind share a line."""
    for _, group in groupby(changes, key=lambda change: (change.code, change.lossy)):
        same = list(group)
        word = "lost" if same[0].lossy else "adapted"
        excerpts = [text for change in same if (text := _excerpt(stored, change, is_sent))]
        details = "; ".join(dict.fromkeys(one_line(change.detail) for change in same if _adds(change)))
        yield h.p(f".change.{word}")[
            h.b(".word")[word],
            f" {phrase(same[0].code)}" if len(same) == 1 else f" {len(same)} {phrase(same[0].code, len(same))}",
            [h.del_(".excerpt")[text] for text in excerpts],
            h.span(".detail")[f"{': ' if not excerpts else ''}{details}"] if details else None,
        ]


def _excerpt(stored: Message | None, change: Change, is_sent: bool) -> str:
    """The beginning of the block that was lost, or of the whole message if nothing of it is sent."""
    if stored is None or not change.lossy or (is_sent and change.block is None):
        return ""
    blocks = stored.content if change.block is None else stored.content[change.block : change.block + 1]
    return next((one_line(plain(block)[:200]) or label(block) for block in blocks), "")


def _adds(change: Change) -> bool:
    """Whether the detail says more than the phrase."""
    return change.detail.split()[1:] != phrase(change.code).split()[1:]


def draw_findings(findings: Sequence[Finding], model: str = "") -> Iterator[h.Renderable]:
    """What a provider refuses here: its words, the rule, and its source. Findings of one rule share a box."""
    for _, group in groupby(findings, key=lambda finding: (finding.rule, finding.severity)):
        first, *others = same = list(group)
        word = "refused" if first.severity == "error" else "warning"
        more = f" (and {len(others)} more)" if others else ""
        yield h.details(f".finding.{word}")[
            h.summary[h.b(".word")[word], f"{' as stored' if model else ''}: {one_line(first.message)}{more}"],
            h.dl[
                [h.dt["the provider answers"], h.dd[h.q(dir="auto")[one_line(first.answers)]]]
                if first.answers
                else None,
                h.dt["where"],
                [h.dd[h.code[one_line(each.path) or "the request"], f": {one_line(each.message)}"] for each in same],
                h.dt["rule"],
                h.dd[f"{first.rule}; source: {one_line(first.source)}"],
                [h.dt["for"], h.dd[one_line(model)]] if model else None,
            ],
        ]


# -- two columns, compared --------------------------------------------------------------------------------------------

_Part = tuple[str, str]
"""A block as its kind and its text."""


def _compared(sheet: Sheet, index: int, message: Message, cells: list[Cell]) -> list[h.Renderable]:
    assert sheet.diff is not None
    old, new = (_parts(message, cells, number) for number in sheet.diff)
    if old == new:
        same = h.p(".as-stored")["no difference"]
        return [
            h.div(".cell.stored")[_title(index, message), [_part(part, sheet.ink) for part in old]],
            h.div(".cell.same")[same],
        ]
    left, right = [], []
    for before, after in _pairs(old, new):
        if before is not None:
            left.append(_drawn(before, after, "old"))
        if after is not None:
            right.append(_drawn(after, before, "new"))
    return [h.div(".cell.stored")[_title(index, message), left], h.div(".cell.changed")[right]]


def _parts(message: Message, cells: list[Cell], number: int) -> list[_Part]:
    parts: list[_Part] = []
    for each in [message] if number == 0 else cells[number - 1].messages:
        if isinstance(each, ToolResultMessage):
            parts.append(("failed result" if each.is_error else "result", each.tool_call_id))
        parts += [(label(block), _compared_text(block)) for block in each.content]
    return parts


def _compared_text(block: Block) -> str:
    return f"{plain(block)} {block.id}" if isinstance(block, ToolCall) else plain(block)


def _pairs(old: Sequence[_Part], new: Sequence[_Part]) -> Iterator[tuple[_Part | None, _Part | None]]:
    """The parts of both sides, aligned: equal ones, then those at the same position between them."""
    for _, i1, i2, j1, j2 in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        for at in range(max(i2 - i1, j2 - j1)):
            yield (old[i1 + at] if i1 + at < i2 else None, new[j1 + at] if j1 + at < j2 else None)


def _part(part: _Part, ink: Ink) -> h.Renderable:
    return h.p(".unchanged")[h.span(".kind")[f"{part[0]} "], safe(one_line(part[1][:160]), ink.find)]


_TAGS: dict[str, Callable[[str], h.Renderable]] = {"old": lambda text: h.del_[text], "new": lambda text: h.ins[text]}


def _drawn(part: _Part, other: _Part | None, side: str) -> h.Renderable:
    """A part of one side, with what the other side does not have marked."""
    word = "only here" if other is None else "as in the other" if other == part else "changed"
    kind = part[0] if other is None or other[0] == part[0] else f"{part[0]} ({other[0]} there)"
    if other == part:
        return h.p(".unchanged")[h.span(".kind")[f"{kind} "], one_line(part[1][:160])]
    mark = _TAGS[side]
    if other is None:
        body: h.Node = mark(printable(cut(part[1])))
    else:
        old, new = (part[1], other[1]) if side == "old" else (other[1], part[1])
        pieces = [(tag, printable(cut(text))) for tag, text in differences(old, new) if tag in ("same", side)]
        body = [mark(text) if tag == side else text for tag, text in pieces]
    return h.div(".difference")[h.span(".kind")[f"{kind}, {word} "], h.div(".text", dir="auto")[body]]
