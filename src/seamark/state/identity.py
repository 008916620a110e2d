"""The store's own row: which incarnation it is and what wrote it."""

from __future__ import annotations

import uuid
from datetime import datetime
from importlib.metadata import version

from sqlalchemy import Connection, insert, select, update

from seamark.state.tables import SCHEMA_VERSION, store


def incarnation(connection: Connection, *, keep: bool = False) -> str:
    """The store's incarnation; with `keep` nobody can begin another one until this transaction ends."""
    query = select(store.c.incarnation).where(store.c.id == 1)
    return str(connection.execute(query.with_for_update(read=True) if keep else query).scalar_one())


def schema_version(connection: Connection) -> tuple[int, str]:
    """The schema's version, and the Seamark that brought the store to it."""
    found = connection.execute(select(store.c.schema_version, store.c.seamark_version).where(store.c.id == 1)).one()
    return int(found.schema_version), str(found.seamark_version)


def write_identity(connection: Connection, now: datetime) -> None:
    """Note that the schema is ours now; a store that has no identity yet gets one."""
    ours = {"schema_version": SCHEMA_VERSION, "seamark_version": version("seamark")}
    if connection.execute(select(store.c.id)).first() is None:
        row = {"id": 1, "incarnation": str(uuid.uuid4()), "created_at": now, **ours}
        connection.execute(insert(store), row)
    else:
        connection.execute(update(store).values(ours))


def begin_incarnation(connection: Connection) -> tuple[str, str]:
    """The old identity and the new. Waits for transactions that rely on the old one; none begins until this ends."""
    this = store.c.id == 1
    old = connection.execute(select(store.c.incarnation).where(this).with_for_update()).scalar_one()
    new = str(uuid.uuid4())
    connection.execute(update(store).where(this).values(incarnation=new))
    return old, new
