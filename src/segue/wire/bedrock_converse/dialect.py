"""Helpers for rules that apply to some models only (``only`` of a rule)."""

from collections.abc import Callable

from ...dialects import BedrockConverse
from ...types import Model


def where(condition: Callable[[BedrockConverse], bool]) -> Callable[[Model], bool]:
    """A condition on the dialect as a condition on the model; false for a model of another protocol."""

    def applies(model: Model) -> bool:
        return isinstance(model.dialect, BedrockConverse) and condition(model.dialect)

    return applies


def dialect_of(model: Model | None) -> BedrockConverse:
    """The dialect of a model, or the default dialect."""
    dialect = None if model is None else model.dialect
    return dialect if isinstance(dialect, BedrockConverse) else BedrockConverse()


claude = where(lambda dialect: dialect.anthropic_backend)
