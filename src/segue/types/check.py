"""Check the types of arguments where a caller passes them: a clear ``TypeError`` instead of a failure deep inside."""

from .model import Model
from .options import Options


def check_model(value: object) -> None:
    """Raise ``TypeError`` unless ``value`` is a ``Model``."""
    if not isinstance(value, Model):
        raise TypeError(f"a model is a segue.Model or its name, such as 'openai/gpt-5.1', not {_shown(value)}")


def check_options(value: object) -> None:
    """Raise ``TypeError`` unless ``value`` is an ``Options``."""
    if not isinstance(value, Options):
        raise TypeError(f"options are segue.Options(…), not {_shown(value)}")


def _shown(value: object) -> str:
    return f"{value!r}" if isinstance(value, str) and len(value) <= 60 else f"a {type(value).__name__}"
