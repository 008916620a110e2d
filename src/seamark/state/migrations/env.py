"""Alembic's entry: runs the migrations on the connection, and in the transaction, that the store gives it."""

from __future__ import annotations

from alembic import context

from seamark.state.tables import metadata

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=metadata,
    version_table_schema=context.config.attributes["schema"],
    render_as_batch=True,
)
context.run_migrations()
