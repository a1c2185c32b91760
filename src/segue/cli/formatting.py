"""Texts, values, counts and amounts in the short form of ``types.formatting``."""

from ..types.formatting import (
    brief as brief,
    cost_of as cost_of,
    shorten as shorten,
    size_of as size_of,
    text_of as text_of,
    title_of as title_of,
    tokens_of as tokens_of,
)
