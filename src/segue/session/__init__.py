"""Sessions as logs of entries, and the stores that keep them. What a turn is, is told by ``agent``."""

from .entries import (
    AnyEntry as AnyEntry,
)
from .entries import (
    CallStarted as CallStarted,
)
from .entries import (
    Compacted as Compacted,
)
from .entries import (
    Entry as Entry,
)
from .entries import (
    Failed as Failed,
)
from .entries import (
    MessageAdded as MessageAdded,
)
from .entries import (
    ModelChosen as ModelChosen,
)
from .entries import (
    Prompted as Prompted,
)
from .entries import (
    TurnBegun as TurnBegun,
)
from .entries import (
    TurnEnded as TurnEnded,
)
from .entries import (
    TurnRenewed as TurnRenewed,
)
from .postgres import PostgresStore
from .sqlite import ExposedStoreWarning, SQLiteStore
from .store import SessionInfo, Store, Stored
from .transfer import export_session, import_session
from .where import default_path as default_path
from .where import open_store

__all__ = [
    "ExposedStoreWarning",
    "PostgresStore",
    "SQLiteStore",
    "SessionInfo",
    "Store",
    "Stored",
    "export_session",
    "import_session",
    "open_store",
]
