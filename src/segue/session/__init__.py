"""Sessions as logs of entries, and the stores that keep them. What a turn is, is told by ``agent``."""

from .entries import (
    AnyEntry,
    CallStarted,
    Compacted,
    Entry,
    Failed,
    MessageAdded,
    ModelChosen,
    Prompted,
    TurnBegun,
    TurnEnded,
    TurnRenewed,
)
from .location import default_path, open_store
from .postgres import PostgresStore
from .sqlite import ExposedStoreWarning, SQLiteStore
from .store import SessionInfo, Store, Stored
from .transfer import export_session, import_session

__all__ = [
    "AnyEntry",
    "CallStarted",
    "Compacted",
    "Entry",
    "ExposedStoreWarning",
    "Failed",
    "MessageAdded",
    "ModelChosen",
    "PostgresStore",
    "Prompted",
    "SQLiteStore",
    "SessionInfo",
    "Store",
    "Stored",
    "TurnBegun",
    "TurnEnded",
    "TurnRenewed",
    "default_path",
    "export_session",
    "import_session",
    "open_store",
]
