"""Sessions as logs of entries, and the stores that keep them. ``agent`` defines what a turn is."""

from .entries import (
    AnyEntry as AnyEntry,
    AttemptFailed as AttemptFailed,
    CallStarted as CallStarted,
    Compacted as Compacted,
    Entry as Entry,
    MessageAdded as MessageAdded,
    ModelChosen as ModelChosen,
    SystemPromptSet as SystemPromptSet,
    TurnBegun as TurnBegun,
    TurnEnded as TurnEnded,
    TurnRenewed as TurnRenewed,
)
from .find import SEPARATOR as SEPARATOR, find_session as find_session, sessions
from .location import (
    STORE_VARIABLE as STORE_VARIABLE,
    default_path as default_path,
    is_postgres as is_postgres,
    open_store,
)
from .postgres import (
    MAX_CONNECTIONS as MAX_CONNECTIONS,
    PostgresConnections as PostgresConnections,
    PostgresStore,
    Unreachable as Unreachable,
)
from .rows import MAX_NAME as MAX_NAME, MAX_TIME as MAX_TIME
from .sqlite import MEMORY as MEMORY, ExposedStoreWarning, SQLiteStore
from .store import SessionInfo, Store, Stored
from .transfer import export_session, import_session, is_exported as is_exported, read_exported as read_exported

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
    "sessions",
]
