"""The store on a SQL database, whichever it is."""

from __future__ import annotations

from seamark.state import identity
from seamark.state.checkpoints import SqlCheckpoints
from seamark.state.database import Database
from seamark.state.journal import SqlJournal
from seamark.state.leases import SqlLeases
from seamark.state.migrate import bring_up_to_date
from seamark.state.store import Checkpoints, Journal, Leases


class SqlStateStore:
    """`state.store.StateStore` in a SQL database."""

    def __init__(self, db: Database) -> None:
        self._db = db
        self.leases: Leases = SqlLeases(db)
        self.checkpoints: Checkpoints = SqlCheckpoints(db)
        self.journal: Journal = SqlJournal(db)

    @property
    def incarnation(self) -> str:
        """Asked of the database every time: another process may have begun a new one."""
        with self._db.reading() as connection:
            return identity.incarnation(connection)

    @property
    def location(self) -> str:
        return self._db.location

    def close(self) -> None:
        self._db.engine.dispose()


def open_store(db: Database) -> SqlStateStore:
    """The store in `db`, made or migrated if need be."""
    try:
        bring_up_to_date(db)
    except BaseException:
        db.engine.dispose()
        raise
    return SqlStateStore(db)
