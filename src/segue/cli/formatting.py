"""Texts, values, counts and amounts in the short form of ``types.formatting``."""

from ..types.formatting import (
    UNKNOWN_MODEL as UNKNOWN_MODEL,
    brief as brief,
    cost_of as cost_of,
    media_of as media_of,
    origin_of as origin_of,
    shorten as shorten,
    size_of as size_of,
    text_of as text_of,
    title_of as title_of,
    tokens_of as tokens_of,
)
