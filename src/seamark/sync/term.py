"""A term: one holder's time with the lease, from acquiring it to giving it back, with a heartbeat in between."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from seamark.errors import LeaseLost, StateUnavailable
from seamark.model.state import Lease, State
from seamark.sync.context import Context


class Term:
    """The lease as it was last renewed, and the state as this holder last read or wrote it."""

    def __init__(self, ctx: Context, lease: Lease, run_id: str) -> None:
        self.ctx = ctx
        self.run_id = run_id
        self._lease = lease
        self._ended = threading.Event()
        self.lost: LeaseLost | None = None
        """Why this term is over before its time, once the heartbeat has found out."""
        self.state: State = ctx.store.checkpoints.state(ctx.pipeline)

    @property
    def lease(self) -> Lease:
        return self._lease

    def beat(self) -> None:
        """Renew the lease until the term ends or the lease is lost; the store refuses whatever comes after that."""
        while not self._ended.wait(self.ctx.lease_ttl.total_seconds() / 3):
            try:
                self.renew()
            except LeaseLost as error:
                self.lost = error
                return
            except StateUnavailable as error:
                self.ctx.progress.warn(f"the lease could not be renewed yet: {error.message}")

    def renew(self) -> None:
        """Extend the lease; LeaseLost when it is someone else's by now, or over."""
        self._lease = self.ctx.store.leases.renew(self._lease, self.ctx.lease_ttl)

    def end(self) -> None:
        self._ended.set()


@contextmanager
def holding(ctx: Context, run_id: str) -> Iterator[Term]:
    """Take the pipeline's lease, keep it alive, and give it back at the end, however that comes about."""
    lease = ctx.store.leases.acquire(ctx.pipeline, ctx.holder, ctx.lease_ttl)
    term: Term | None = None
    try:
        term = Term(ctx, lease, run_id)
        threading.Thread(target=term.beat, name="lease", daemon=True).start()
        yield term
    finally:
        if term is not None:
            term.end()
        _give_back(ctx, term.lease if term is not None else lease)


def _give_back(ctx: Context, lease: Lease) -> None:
    try:
        ctx.store.leases.release(lease)
    except StateUnavailable as error:  # it ends by itself, and what the run came to is the news
        ctx.progress.warn(f"the lease could not be given back: {error.message}")
