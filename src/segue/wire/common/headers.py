"""Headers of a request, from several places."""

from collections.abc import Mapping

from .binding import HEADER

LISTS = frozenset({HEADER})
"""Headers whose value is a list, separated by commas."""


def joined(ours: Mapping[str, str], theirs: Mapping[str, str]) -> dict[str, str]:
    """Both. The caller's win over ours, except that lists are joined: what a body says may depend on ours."""
    headers = dict(ours) | {name: value for name, value in theirs.items() if name.lower() not in LISTS}
    for name, value in theirs.items():
        if name.lower() in LISTS:
            items = [item.strip() for item in f"{headers.get(name.lower(), '')},{value}".split(",")]
            headers[name.lower()] = ",".join(dict.fromkeys(item for item in items if item))
    return headers
