"""The compare-and-set of the store: each condition a function of plain values, called in the writing transaction."""

from __future__ import annotations

from datetime import datetime

from seamark.errors import LeaseLost, StateConflict
from seamark.model.checkpoint import Checkpoint
from seamark.model.state import Lease

_OURS_IS_OVER = "Nothing was changed. Whoever holds the lease now finishes what was begun; run again after that."


def require_incarnation(current: str, lease: Lease) -> None:
    if lease.incarnation != current:
        raise LeaseLost(
            f"pipeline {lease.pipeline!r}: the state store has become another one since the lease was taken "
            f"(incarnation {lease.incarnation}, now {current})",
            _OURS_IS_OVER,
        )


def require_token(current: int | None, holder: str | None, lease: Lease) -> None:
    """The holder counts too: a store put back from a backup may give a token that is still around to someone else."""
    if (current, holder) != (lease.token, lease.holder.id):
        now = "nobody holds it now" if holder is None else f"{holder} holds it with token {current}"
        raise LeaseLost(f"pipeline {lease.pipeline!r}: the lease (token {lease.token}) was lost; {now}", _OURS_IS_OVER)


def require_unexpired(expires_at: datetime, now: datetime, lease: Lease) -> None:
    if expires_at <= now:
        raise LeaseLost(
            f"pipeline {lease.pipeline!r}: the lease with token {lease.token} expired at {expires_at.isoformat()}, "
            f"it is {now.isoformat()} now",
            "Nothing was changed. The process was stopped or too busy to renew its lease; run again.",
        )


def require_version(current: int, version: int, pipeline: str) -> None:
    if current != version:
        raise StateConflict(
            f"pipeline {pipeline!r}: the state has moved on from version {version} to {current}",
            "Nothing was changed. Look at the state again and repeat what you wanted.",
        )


def require_nothing_prepared(prepared: int | None, pipeline: str) -> None:
    if prepared is not None:
        raise StateConflict(
            f"pipeline {pipeline!r}: checkpoint {prepared} is prepared and not committed yet",
            "Nothing was changed. Recovery has to finish it first: run the pipeline.",
        )


def require_prepared(prepared: int | None, checkpoint: Checkpoint) -> None:
    if prepared != checkpoint.seq:
        raise StateConflict(
            f"pipeline {checkpoint.pipeline!r}: checkpoint {checkpoint.seq} is no longer the prepared one "
            f"({'none is' if prepared is None else f'{prepared} is'})",
            "Nothing was changed: someone else has resolved it. Run again to go on.",
        )
