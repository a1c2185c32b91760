"""Merge the headers of a request from several sources."""

from collections.abc import Mapping

from .binding import HEADER

LISTS = frozenset({HEADER})
"""Headers whose value is a comma-separated list."""


def join_headers(ours: Mapping[str, str], theirs: Mapping[str, str]) -> dict[str, str]:
    """Merge both. The caller's headers win, except that lists are joined, because the body may depend on ours."""
    headers = dict(ours)
    for name, value in theirs.items():
        if name.lower() in LISTS:
            items = [item.strip() for item in f"{headers.get(name.lower(), '')},{value}".split(",")]
            headers[name.lower()] = ",".join(dict.fromkeys(item for item in items if item))
        else:
            headers[name] = value
    return headers
