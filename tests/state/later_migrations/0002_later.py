"""A migration of the future, for tests: a column that old rows have no value for."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("streams", sa.Column("note", sa.Text))
