"""The state store: leases, checkpoints and the journal of what was moved, kept in SQLite or Postgres."""
