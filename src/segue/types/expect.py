"""What callers hand in, told apart from what they meant to: a clear word instead of an error somewhere below."""

from .context import Context
from .model import Model
from .options import Options


def expect_context(value: object) -> None:
    """Complain of anything but a conversation."""
    if not isinstance(value, Context):
        raise TypeError(f"a conversation is a segue.Context, not {_told(value)}; segue.Context.from_json reads one")


def expect_model(value: object) -> None:
    """Complain of anything but a model."""
    if not isinstance(value, Model):
        raise TypeError(f"a model is a segue.Model, not {_told(value)}; segue.get_model('provider/model') gives one")


def expect_options(value: object) -> None:
    """Complain of anything but options."""
    if not isinstance(value, Options):
        raise TypeError(f"options are segue.Options(…), not {_told(value)}")


def _told(value: object) -> str:
    return f"{value!r}" if isinstance(value, str) and len(value) <= 60 else f"a {type(value).__name__}"
