"""The models that a session may ask, and how each is reached."""

from collections.abc import Callable

from ..catalog import Catalog
from ..client import Connection
from ..errors import ModelError
from ..router import Fixed, Router
from ..types import Model

Models = Model | str | Router
"""A model, its name, or a router that chooses one for each turn."""

Connections = Connection | Callable[[Model], Connection] | None
"""One connection for all models, or a function that returns the connection of a model."""


class Targets:
    """The router of a session, every model that it has had, and their connections."""

    def __init__(self, model: Models, connection: Connections) -> None:
        self.connection = connection
        self._known: dict[tuple[str, str], Model] = {}
        self.router = self.router_for(model)

    def router_for(self, model: Models) -> Router:
        """The router itself, or a ``Fixed`` router for a model. Its members are remembered."""
        router = Fixed(model) if isinstance(model, Model | str) else model
        if not isinstance(router, Router):
            raise TypeError(f"a model is a segue.Model, its name, or a router; not a {type(model).__name__}")
        self._known |= {(member.ref, member.protocol): member for member in router.members}
        return router

    def find(self, name: tuple[str, str] | None) -> Model | None:
        """The model with this name and protocol, if it was a member of a router here or is in the catalog."""
        if name is None or name in self._known:
            return None if name is None else self._known[name]
        try:
            return Catalog.default().resolve(*name)
        except ModelError:
            return None

    def likely(self, last: tuple[str, str] | None) -> Model:
        """The model that probably answers the next turn: the last one if it is still a member."""
        found = self.find(last)
        return found if found in self.router.members else self.router.members[0]

    def connection_to(self, model: Model) -> Connection:
        """How ``model`` is reached."""
        found = self.connection(model) if callable(self.connection) else self.connection
        return found or Connection()
