"""Headers from several places: the caller's win, and lists are joined."""

import pytest

from segue.wire.common.binding import BETA, HEADER
from segue.wire.common.headers import join_headers


def test_a_header_of_the_caller_wins() -> None:
    assert join_headers({"a": "1", "b": "2"}, {"b": "3", "C": "4"}) == {"a": "1", "b": "3", "C": "4"}


@pytest.mark.parametrize("name", [HEADER, HEADER.title()])
@pytest.mark.parametrize("value", ["other-2026", f"other-2026,{BETA}", f" {BETA} , other-2026 "])
def test_betas_of_the_caller_go_along_with_ours(name: str, value: str) -> None:
    """Without ours, a body that relies on it would be refused."""
    assert sorted(join_headers({HEADER: BETA}, {name: value})[HEADER].split(",")) == sorted([BETA, "other-2026"])
    assert join_headers({}, {name: "other-2026"}) == {HEADER: "other-2026"}
