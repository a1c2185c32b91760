"""The row of a name that has none: many names are another form of one that has.

A provider's row lists its own forms (``names``); dates, versions and ``-latest`` are forms everywhere. Several may
apply to one name: an ARN contains a name with a region, and the region is a form, too.
"""

import re
from collections.abc import Iterator, Mapping
from functools import cache

from .rows import ModelRow, NameForm, Provider

EVERYWHERE = (
    NameForm(pattern=r"(?P<base>.+?)[-@](20\d{6}|20\d\d-\d\d-\d\d)"),
    NameForm(pattern=r"(?P<base>.+)@(default|latest|\d{3,4})"),
)
DEEPEST = 4
"""How many forms one name may combine."""
LATEST = "-latest"


def find_base(models: Mapping[str, ModelRow], provider: Provider, model_id: str) -> tuple[ModelRow, str] | None:
    """Find the row that has the facts about a name without a row, and whether its prices hold, too: ``same``,
    ``unverified`` or ``unknown``."""
    names = [(model_id, "same")]
    for _ in range(DEEPEST):
        names = [_less_known(known, found) for known in names for found in _bases(models, provider, known[0])]
        for name, prices in names:
            row = models.get(f"{provider.id}/{name}")
            if row is not None:
                return row, prices
    return None


def _bases(models: Mapping[str, ModelRow], provider: Provider, name: str) -> Iterator[tuple[str, str]]:
    """The names of which ``name`` is a form."""
    for form in (*provider.names, *EVERYWHERE):
        match = _compiled(form.pattern).fullmatch(name)
        if match is not None:
            yield form.prefix + match["base"], form.prices
    if name.endswith(LATEST):
        stem = name.removesuffix(LATEST)
        yield stem, "unverified"
        newest = _newest(models, f"{provider.id}/{stem}-")
        if newest is not None:
            yield newest.partition("/")[2], "unverified"


_RANK = ("same", "unverified", "unknown")


def _less_known(one: tuple[str, str], other: tuple[str, str]) -> tuple[str, str]:
    return other[0], max(one[1], other[1], key=_RANK.index)


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern)


def _newest(models: Mapping[str, ModelRow], stem: str) -> str | None:
    """The name of the highest version among those that continue ``stem`` with nothing but numbers."""
    found = {ref: ref[len(stem) :] for ref in models if ref.startswith(stem)}
    versions = {ref: rest for ref, rest in found.items() if re.fullmatch(r"[\d.@-]+", rest)}
    return max(versions, key=lambda ref: (_version(versions[ref]), ref), default=None)


def _version(text: str) -> tuple[int, ...]:
    """The numbers of a version, without dates."""
    return tuple(int(number) for number in re.findall(r"\d+", text) if len(number) < 4)
