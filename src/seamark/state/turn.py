"""A turn: one write transaction on one pipeline by whoever holds its lease."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, select, update

from seamark.model.state import Lease
from seamark.state import conditions
from seamark.state.checksum import Values, sealed, verified
from seamark.state.database import Database
from seamark.state.identity import incarnation
from seamark.state.tables import leases, pipelines


@dataclass(frozen=True)
class Turn:
    """An open turn; the pipeline's row is ours until it ends."""

    connection: Connection
    row: Values
    now: datetime

    def advance(self, **changes: Any) -> Values:
        """Write the pipeline's row with these changes, and give it; the last thing in a turn."""
        return write_pipeline(self.connection, self.row, updated_at=self.now, **changes)


@contextmanager
def turn(db: Database, lease: Lease) -> Iterator[Turn]:
    """Begin a turn; LeaseLost when it isn't this lease's to take."""
    with db.writing() as connection:
        # Always in this order, the store's row and then the pipeline's, or two turns could wait for each other.
        current = incarnation(connection, keep=True)
        row = own(connection, lease.pipeline)
        now = db.clock(connection)
        require_lease(connection, current, lease, now)
        assert row is not None
        yield Turn(connection, row, now)


def own(connection: Connection, pipeline: str) -> Values | None:
    """The pipeline's row, which no other transaction can change until this one ends."""
    query = select(pipelines).where(pipelines.c.pipeline == pipeline).with_for_update()
    row = connection.execute(query).mappings().first()
    return None if row is None else verified(pipelines, row)


def write_pipeline(connection: Connection, row: Values, **changes: Any) -> Values:
    """Change some of the columns of a row that is ours."""
    values = sealed(pipelines, {**row, **changes})
    connection.execute(update(pipelines).where(pipelines.c.pipeline == row["pipeline"]).values(values))
    return values


def lease_in_store(connection: Connection, pipeline: str) -> Values | None:
    row = connection.execute(select(leases).where(leases.c.pipeline == pipeline)).first()
    return None if row is None else row._asdict()


def require_lease(connection: Connection, incarnation: str, lease: Lease, now: datetime) -> None:
    held = lease_in_store(connection, lease.pipeline)
    conditions.require_incarnation(incarnation, lease)
    if held is None:
        conditions.require_token(None, None, lease)
    else:
        conditions.require_token(held["token"], held["holder"], lease)
        conditions.require_unexpired(held["expires_at"], now, lease)
