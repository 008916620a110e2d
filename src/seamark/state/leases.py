"""Leases: who may advance a pipeline."""

from __future__ import annotations

import dataclasses
import uuid
from datetime import datetime, timedelta

from sqlalchemy import update

from seamark.errors import LeaseHeld
from seamark.model.state import Holder, Lease
from seamark.state.checksum import Values, sealed
from seamark.state.database import Database, put
from seamark.state.identity import incarnation
from seamark.state.process import is_gone
from seamark.state.rows import lease_of, lease_row, new_pipeline_row
from seamark.state.tables import leases, pipelines
from seamark.state.turn import lease_in_store, own, turn


class SqlLeases:
    """`state.store.Leases` in a SQL database."""

    def __init__(self, db: Database) -> None:
        self._db = db

    def acquire(self, pipeline: str, holder: Holder, ttl: timedelta) -> Lease:
        with self._db.writing() as connection:
            current = incarnation(connection, keep=True)
            now = self._db.clock(connection)
            new = sealed(pipelines, new_pipeline_row(pipeline, str(uuid.uuid4()), now))
            self._db.add_if_missing(connection, pipelines, new)
            own(connection, pipeline)
            held = lease_in_store(connection, pipeline)
            if held is not None:
                _require_free(held, current, holder, now)
            token = 1 if held is None else held["token"] + 1
            lease = Lease(pipeline, current, token, holder, now, now + ttl)
            put(connection, leases, [lease_row(lease)], set() if held is None else {(pipeline,)})
            return lease

    def renew(self, lease: Lease, ttl: timedelta) -> Lease:
        with turn(self._db, lease) as ours:
            renewed = dataclasses.replace(lease, expires_at=ours.now + ttl)
            this = leases.c.pipeline == lease.pipeline
            ours.connection.execute(update(leases).where(this).values(expires_at=renewed.expires_at))
            return renewed

    def release(self, lease: Lease) -> None:
        with self._db.writing() as connection:
            this = (leases.c.pipeline == lease.pipeline, leases.c.token == lease.token)
            still_ours = leases.c.incarnation == lease.incarnation
            connection.execute(update(leases).where(*this, still_ours).values(holder=None))

    def current(self, pipeline: str) -> Lease | None:
        with self._db.reading() as connection:
            held = lease_in_store(connection, pipeline)
            if held is None or held["holder"] is None or held["incarnation"] != incarnation(connection):
                return None
            return lease_of(held)


def _require_free(held: Values, incarnation: str, holder: Holder, now: datetime) -> None:
    """LeaseHeld unless the lease was given back, has expired, is the asker's own or of an incarnation that is over, or
    its holder is gone."""
    if held["holder"] is None or held["incarnation"] != incarnation or held["expires_at"] <= now:
        return
    lease = lease_of(held)
    if lease.holder == holder or is_gone(lease.holder):
        return
    raise LeaseHeld(
        f"pipeline {lease.pipeline!r} is being advanced by {lease.holder.id} on host {lease.holder.host} "
        f"(pid {lease.holder.pid}) since {lease.acquired_at.isoformat(timespec='seconds')}",
        f"Wait until it is done, or stop that process. Should it be gone, the lease ends by itself at "
        f"{lease.expires_at.isoformat(timespec='seconds')}.",
    )
