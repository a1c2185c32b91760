"""Check the types of arguments where a caller passes them: a clear ``TypeError`` instead of a failure deep inside."""

from .context import Context
from .model import Model
from .options import Options


def check_context(value: object) -> None:
    """Raise ``TypeError`` unless ``value`` is a ``Context``."""
    if not isinstance(value, Context):
        raise TypeError(f"a conversation is a segue.Context, not {_shown(value)}; segue.Context.from_json reads one")


def check_model(value: object) -> None:
    """Raise ``TypeError`` unless ``value`` is a ``Model``."""
    if not isinstance(value, Model):
        raise TypeError(f"a model is a segue.Model, not {_shown(value)}; segue.get_model('provider/model') returns one")


def check_options(value: object) -> None:
    """Raise ``TypeError`` unless ``value`` is an ``Options``."""
    if not isinstance(value, Options):
        raise TypeError(f"options are segue.Options(…), not {_shown(value)}")


def _shown(value: object) -> str:
    return f"{value!r}" if isinstance(value, str) and len(value) <= 60 else f"a {type(value).__name__}"
