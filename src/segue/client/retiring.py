"""A warning for requests to models that are no longer served, or soon will not be."""

from datetime import date, timedelta

from ..types import Model

NOTICE = timedelta(days=30)
"""How long before its last day a model is warned about."""

_warned: set[str] = set()


class RetiringModelWarning(UserWarning):
    """A request is sent to a model whose last day, according to the catalog, is near or past."""


def warn_if_retiring(model: Model) -> None:
    """Warn once per process and model. Days are compared as text, which sorts."""
    if model.retires is None or model.ref in _warned:
        return
    today = date.today()
    if model.retires > (today + NOTICE).isoformat():
        return
    import warnings

    _warned.add(model.ref)
    verb, advice = ("was", "choose") if model.retires < today.isoformat() else ("is", "choose in time")
    text = f"the last day of {model.ref} {verb} {model.retires}, according to the catalog; {advice} another model"
    warnings.warn(text, RetiringModelWarning, stacklevel=5)
