"""Which models a rule holds for: questions to a dialect, for the ``only`` of rules."""

from collections.abc import Callable

from ...dialects import BedrockConverse
from ...types import Model


def where(holds: Callable[[BedrockConverse], bool]) -> Callable[[Model], bool]:
    """``holds``, asked of a model; false for a model of another protocol."""

    def asked(model: Model) -> bool:
        return isinstance(model.dialect, BedrockConverse) and holds(model.dialect)

    return asked


def dialect_of(model: Model | None) -> BedrockConverse:
    """The model's dialect; that of a model nobody has described where there is none."""
    dialect = None if model is None else model.dialect
    return dialect if isinstance(dialect, BedrockConverse) else BedrockConverse()


claude = where(lambda dialect: dialect.anthropic_backend)
