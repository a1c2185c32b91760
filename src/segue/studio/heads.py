"""The head of each column: what the model is, how much it gets, what that costs, and what is lost."""

from collections import Counter
from collections.abc import Iterator
from itertools import islice
from urllib.parse import parse_qsl

import htpy as h

from ..projection import CHOICES, PRESETS
from ..render import Preview
from ..rules import Finding
from ..types import dollars
from ..types.text import count_of
from .columns import Column
from .marked import one_line
from .opened import Opened
from .rows import Sheet, draw_changes, draw_findings
from .view import FREE, Target, View

MOST_LISTED = 200
"""Lines of findings that a list shows; the keys reach all."""

_LABELS = {
    "failed_turns": "failed turns",
    "orphan_results": "results without a call",
    "reasoning": "thinking of others",
    "provider_content": "provider content",
    "declared_names": "names of declared tools",
    "missing_result": "text for a missing result",
    "reasoning_limit": "characters of thinking kept",
}


def draw_heads(sheet: Sheet, view: View, path: str, *, is_file: bool = False) -> list[h.Renderable]:
    """The heads of all columns, or of the two that are compared."""
    all_heads = [
        _stored(sheet),
        *[_head(column, number, sheet.opened, view, path, is_file) for number, column in enumerate(sheet.columns, 1)],
    ]
    return [all_heads[number] for number in sheet.diff] if sheet.diff else all_heads


def _stored(sheet: Sheet) -> h.Renderable:
    opened = sheet.opened
    count = sum(each.severity == "error" for found in sheet.findings.values() for each in found)
    warned = sum(map(len, sheet.findings.values())) - count
    checked = f"this body: refused ({count})" if count else "this body: nothing that the rules refuse"
    checked += f", {count_of(warned, 'warning')}" if warned else ""
    return h.section(".head", aria_label="as stored")[
        h.h2(tabindex="-1")["as stored"],
        h.p[count_of(len(opened.context.messages), "message"), _frame(opened)],
        h.p(".refused" if count else ".fine")[checked] if opened.body is not None else None,
        h.div(".controls")[_findings(sheet.findings)] if sheet.findings else None,
        draw_findings(sheet.findings.get(None, [])),
        _not_read(opened.faults),
    ]


def _not_read(faults: list[str]) -> h.Renderable | None:
    """What a file contains beside what the page shows."""
    if not faults:
        return None
    more = h.li[f"and {len(faults) - MOST_LISTED:,} more"] if len(faults) > MOST_LISTED else None
    return h.details(".whole")[
        h.summary[f"not read: {count_of(len(faults), 'place')}"],
        h.ul(tabindex="0", aria_label="what was not read")[
            [h.li[one_line(fault)] for fault in faults[:MOST_LISTED]], more
        ],
    ]


def _frame(opened: Opened) -> str:
    context = opened.context
    parts = [count_of(len(context.tools), "tool")] if context.tools else []
    if context.system_prompt:
        parts.insert(0, "system prompt")
    return "".join(f" · {part}" for part in parts)


def _head(column: Column, number: int, opened: Opened, view: View, path: str, is_file: bool) -> h.Renderable:
    target = column.target
    return h.section(".head", aria_label=one_line(target.name))[
        h.h2(tabindex="-1")[
            one_line(target.model),
            None if is_file else _remove(view, number, target, path),
        ],
        h.p(".failure")[one_line(column.error)] if column.error else _facts(column),
        h.div(".controls")[
            (_findings(column.findings) if column.findings else None)
            if is_file
            else list(_controls(column, number, opened, view, path))
        ],
    ]


def _remove(view: View, number: int, target: Target, path: str) -> h.Renderable:
    address = f"{path}?{view.with_target(number, None).query()}"
    return h.a(".remove", href=address, data_visit="", aria_label=f"remove {one_line(target.model)}", title="remove")[
        "×"
    ]


def _facts(column: Column) -> Iterator[h.Renderable]:
    found = column.preview
    assert found is not None
    counts = column.counts()
    price = "price not known" if found.cost is None else dollars(found.cost.total)
    yield h.p(".size")[
        f"{_short(found.tokens.tokens)} tokens ",
        _bar(found),
        f" of {_short(found.model.input_limit())} · ",
        h.span(title="to send it once, without a cache")[price],
    ]
    lost, adapted = counts["lost"], counts["adapted"]
    yield h.p(".counts")[
        h.span(".lost" if lost else ".fine")[f"lost {lost}"],
        " · ",
        h.span(".adapted" if adapted else ".fine")[f"adapted {adapted}"],
        " · ",
        h.span(".refused" if counts["refused"] else ".fine")[_sent_as_stored(column, counts["refused"])],
    ]
    if column.target.preset != "default" or column.target.choices:
        yield h.p(".policy")["policy: ", one_line(column.target.name.partition(" · ")[2])]
    notes = [*[f"over a limit: {limit}" for limit in found.limits], *_warnings(found)]
    yield from (h.p(".failure")[note] for note in notes)
    whole = column.changes.get(None, [])
    placeless = column.findings.get(None, [])
    if whole or placeless:
        title = " · ".join(
            text
            for text in (
                f"{count_of(len(whole), 'change')} of the request" if whole else "",
                f"{count_of(len(placeless), 'finding')} without a place" if placeless else "",
            )
            if text
        )
        yield h.details(".whole")[
            h.summary[title],
            draw_changes(whole),
            draw_findings(placeless, column.target.model),
        ]


def _sent_as_stored(column: Column, refused: int) -> str:
    if column.unchecked:
        return "as stored: cannot be written"
    return f"as stored: refused ({refused})" if refused else "as stored: accepted"


def _warnings(found: Preview) -> Iterator[str]:
    if not found.fits:
        yield f"does not fit{'' if found.sure else ', probably'}"
    if not found.model.known:
        yield "not in the catalog: limits and dialect are careful guesses"
    if found.model.retires is not None:
        yield f"last day: {found.model.retires}"


def _bar(found: Preview) -> h.Renderable:
    limit, tokens = found.model.input_limit(), found.tokens.tokens
    share = min(tokens / limit, 1) if limit else 1
    return h.meter(
        value=f"{share:.4f}",
        min="0",
        max="1",
        high="0.8",
        low="0.8",
        optimum="0",
        aria_label=f"{share:.0%} of the window",
        title=f"about {tokens:,} tokens ({found.tokens.basis}; {found.tokens.low:,} to {found.tokens.high:,})",
    )


def _short(count: int) -> str:
    if count < 1_000:
        return str(count)
    thousands = count / 1_000
    return (
        f"{thousands:.1f}k"
        if thousands < 10
        else f"{thousands:,.0f}k"
        if thousands < 1_000
        else f"{thousands / 1_000:.1f}M"
    )


# -- controls ---------------------------------------------------------------------------------------------------------


def _controls(column: Column, number: int, opened: Opened, view: View, path: str) -> Iterator[h.Renderable]:
    yield _policy_form(column.target, number, view, path)
    if column.preview is not None:
        raw = view.change(raw=0 if view.raw == number else number, diff=None)
        yield h.a(
            ".raw", href=f"{path}?{raw.query()}", data_visit="", aria_label=f"raw body for {column.target.model}"
        )["raw body"]
        if column.findings:
            yield _findings(column.findings)
        yield _python(column.target, opened)


def _findings(findings: dict[int | None, list[Finding]]) -> h.Renderable:
    """All findings, each with a link to its message; those that read the same are one line."""
    places = sorted(findings.items(), key=lambda item: -1 if item[0] is None else item[0])
    count = sum(map(len, findings.values()))
    lines = Counter((index, one_line(each.message), each.rule) for index, found in places for each in found)
    items = [
        h.li[
            h.a(href=f"#m{index}")[f"message {index}"] if index is not None else "the request",
            f": {text} ",
            h.span(".detail")[rule, f", {times} times" if times > 1 else ""],
        ]
        for (index, text, rule), times in islice(lines.items(), MOST_LISTED)
    ]
    more = h.li[f"and {len(lines) - MOST_LISTED} more"] if len(lines) > MOST_LISTED else None
    return h.details(".panel")[h.summary[f"findings ({count})"], h.ol[items, more]]


def _policy_form(target: Target, number: int, view: View, path: str) -> h.Renderable:
    """The choices of the policy of one column. Every other field of the URL is carried along."""
    base = PRESETS.get(target.preset, PRESETS["default"])
    chosen = dict(target.choices)
    presets = [h.option(value=name, selected=name == target.preset)[name] for name in PRESETS]
    fields = [_field("preset", number, "preset", presets)]
    for name, values in CHOICES.items():
        value = chosen.get(name, str(getattr(base, name)))
        options = [h.option(value=each, selected=each == value)[each] for each in values]
        fields.append(_field(name, number, _label(name), options))
    for name in FREE:
        default = getattr(base, name)
        value = chosen.get(name, "" if default is None else str(default))
        field = h.input(name=f"{number}.{name}", value=value, size="14", placeholder="all" if default is None else "")
        fields.append(h.label[h.span[_label(name)], field])
    others = view.with_target(number, Target(target.model))
    return h.details(".panel")[
        h.summary["policy"],
        h.form(method="get", action=path, data_visit="change")[
            hidden(others), fields, h.button(type="submit")["apply"]
        ],
    ]


def _label(name: str) -> str:
    return _LABELS.get(name, name.replace("_", " "))


def _field(name: str, number: int, text: str, options: list[h.Element]) -> h.Renderable:
    return h.label[h.span[text], h.select(name=f"{number}.{name}")[options]]


def hidden(view: View) -> list[h.Renderable]:
    """A view as hidden fields of a form."""
    return [h.input(type="hidden", name=name, value=value) for name, value in parse_qsl(view.query())]


def _python(target: Target, opened: Opened) -> h.Renderable:
    code = python_of(target, opened)
    return h.details(".panel")[
        h.summary["Python"], h.pre[code], h.button(type="button", data_copy=code)["copy as Python"]
    ]


def python_of(target: Target, opened: Opened) -> str:
    """The program that makes this column's request."""
    return "\n".join(
        (
            *(["from pathlib import Path", ""] if "Path(" in opened.python else []),
            "import segue",
            "",
            f"context = {opened.python}",
            f"request = segue.encode(context, {target.model!r}{target.python()})",
            "print(request.summary())",
        )
    )
