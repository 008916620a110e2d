"""Publishing a checkpoint: look at the table, then commit on that very look, until the number is in it once."""

from __future__ import annotations

import random
import time
from collections.abc import Iterator
from typing import TYPE_CHECKING

from seamark.crash import reach
from seamark.destinations.base import Sessions
from seamark.destinations.delta.evolve import enable_timestamps, evolve
from seamark.destinations.delta.log import Look, Moved, commit, look_at_own
from seamark.destinations.delta.merge import merge, overwrite, prepare_table
from seamark.destinations.delta.places import filesystem, staged_path
from seamark.destinations.delta.receipt import find_receipt, write_fence, write_receipt
from seamark.destinations.delta.rows import has_twins, require_same_partitions
from seamark.destinations.delta.types import delta_schema, same_columns
from seamark.errors import DestinationError, StateConflict
from seamark.model.checkpoint import Checkpoint, TableChange, Write
from seamark.model.state import TableOutcome

if TYPE_CHECKING:
    from deltalake.transaction import AddAction

ATTEMPTS = 20


def publish(checkpoint: Checkpoint, change: TableChange, spark: Sessions) -> TableOutcome:
    """See `Destination.publish`."""
    for _ in attempts(change.table):
        seen = look_at_own(change.table, checkpoint.pipeline_uuid)
        if outcome := settled(seen, checkpoint, change):
            return outcome
        require_same_partitions(seen.facts, change)
        reach("publish.looked")
        try:
            if _evolve(seen, checkpoint, change, spark):
                reach("publish.evolved")
                continue
            _write(seen, checkpoint, change, spark)
        except Moved:
            continue
        reach("publish.written")
        return _written(checkpoint, change)
    raise AssertionError("attempts ends with an error")


def entomb(checkpoint: Checkpoint, change: TableChange) -> TableOutcome:
    """See `Destination.entomb`."""
    for _ in attempts(change.table):
        seen = look_at_own(change.table, checkpoint.pipeline_uuid)
        if outcome := settled(seen, checkpoint, change):
            return outcome
        try:
            commit(seen, [], checkpoint.tombstone, write_receipt(checkpoint, change, checkpoint.tombstone))
        except Moved:
            continue
        return TableOutcome(change.stream, has_rows=False, recorded=checkpoint.tombstone)
    raise AssertionError("attempts ends with an error")


def entomb_number(table: str, pipeline_uuid: str, seen_number: int, number: int) -> bool:
    """See `Destination.entomb_number`."""
    for _ in attempts(table):
        seen = look_at_own(table, pipeline_uuid)
        if seen.facts.recorded != seen_number:
            return False
        try:
            commit(seen, [], number, write_fence(pipeline_uuid, number))
        except Moved:
            continue
        return True
    raise AssertionError("attempts ends with an error")


def undo(checkpoint: Checkpoint, change: TableChange) -> bool:
    """Remove precisely this checkpoint's files and leave the tombstone, in one commit. Only an append can be taken
    back, and only while every one of its files is there as it was added."""
    from deltalake.transaction import RemoveAction

    if change.write not in (Write.APPEND, Write.NOTHING):
        return False
    for _ in attempts(change.table):
        seen = look_at_own(change.table, checkpoint.pipeline_uuid)
        if seen.facts.recorded == checkpoint.tombstone:
            return True
        if seen.facts.recorded != checkpoint.number or not _untouched(seen, change):
            return False
        now = int(time.time() * 1000)
        removes = [
            RemoveAction(
                file.path,
                data_change=True,
                deletion_timestamp=now,
                size=file.bytes,
                partition_values=dict(file.partition),
            )
            for file in change.files
        ]
        try:
            commit(seen, removes, checkpoint.tombstone, write_receipt(checkpoint, change, checkpoint.tombstone))
        except Moved:
            continue
        return True
    raise AssertionError("attempts ends with an error")


def settled(seen: Look, checkpoint: Checkpoint, change: TableChange) -> TableOutcome | None:
    """What the table has already made of the checkpoint; None while it can still take it."""
    recorded = seen.facts.recorded
    if recorded < checkpoint.number:
        return None
    if recorded > checkpoint.tombstone:
        raise StateConflict(
            f"{change.table} has taken checkpoint {recorded // 2}, and this is {checkpoint.seq}: another run went on",
            "nothing was written; run it again to go on from there",
        )
    if recorded == checkpoint.number:
        _require_same_files(seen, checkpoint, change)
    return TableOutcome(
        change.stream,
        has_rows=recorded == checkpoint.number,
        recorded=recorded,
        rows=change.rows if recorded == checkpoint.number else 0,
        table_version=seen.facts.version,
    )


def attempts(table: str) -> Iterator[int]:
    """Tries, with a pause between them that grows; DestinationError after the last."""
    for attempt in range(ATTEMPTS):
        yield attempt
        time.sleep(random.uniform(0, min(1.0, 0.01 * 2**attempt)))  # noqa: S311 - spreads writers, keeps no secret
    raise DestinationError(
        f"{table} was written to by others each of the {ATTEMPTS} times that this run tried to commit",
        "run it again when they are done",
    )


def _evolve(seen: Look, checkpoint: Checkpoint, change: TableChange, spark: Sessions) -> bool:
    """Changes of the table that rows can't bring along; one at a time, each leaving a table that readers understand."""
    receipt = write_fence(checkpoint.pipeline_uuid, -1)
    if change.write is Write.NOTHING:
        return False
    if change.write is Write.REPLACE:
        return enable_timestamps(seen, change.schema, receipt)
    if evolve(seen, change.schema, receipt):
        return True
    return change.write is Write.MERGE and prepare_table(seen, spark)


def _write(seen: Look, checkpoint: Checkpoint, change: TableChange, spark: Sessions) -> None:
    receipt = write_receipt(checkpoint, change, checkpoint.number)
    match change.write:
        case Write.MERGE:
            merge(seen, checkpoint.number, change, receipt, spark)
        case Write.REPLACE if change.key and not change.unique_key and has_twins(change, spark):
            overwrite(seen, checkpoint.number, change, receipt, spark)
        case Write.REPLACE:
            same = same_columns(seen.facts.schema, change.schema)
            schema = seen.handle.schema() if same else delta_schema(change.schema)
            commit(seen, _adds(change), checkpoint.number, receipt, replace_with=schema)
        case Write.APPEND:
            commit(seen, _adds(change), checkpoint.number, receipt)
        case Write.NOTHING:
            commit(seen, [], checkpoint.number, receipt)


def _written(checkpoint: Checkpoint, change: TableChange) -> TableOutcome:
    """What the table says now. A statement of Spark's that found nothing to do may not have recorded its number: then
    it is recorded here, unless someone was faster."""
    for _ in attempts(change.table):
        seen = look_at_own(change.table, checkpoint.pipeline_uuid)
        if outcome := settled(seen, checkpoint, change):
            return outcome
        try:
            commit(seen, [], checkpoint.number, write_receipt(checkpoint, change, checkpoint.number))
        except Moved:
            continue
    raise AssertionError("attempts ends with an error")


def _adds(change: TableChange) -> list[AddAction]:
    from deltalake.transaction import AddAction

    files, base = filesystem(change.table)
    infos = files.get_file_info([staged_path(base, file.path) for file in change.files])
    return [
        AddAction(
            path=file.path,
            size=file.bytes,
            partition_values=dict(file.partition),
            modification_time=int(info.mtime_ns // 1_000_000) if info.mtime_ns else int(time.time() * 1000),
            data_change=True,
            # Verbatim: read and written again, a decimal's digits would be rounded, and readers would skip its file.
            stats=file.stats,
        )
        for file, info in zip(change.files, infos, strict=True)
    ]


def _untouched(seen: Look, change: TableChange) -> bool:
    import pyarrow as pa

    there = set(seen.paths())
    touched = set(pa.table(seen.handle.deletion_vectors().read_all()).column("filepath").to_pylist())
    return all(
        file.path in there and not any(path.endswith(f"/{file.path}") for path in touched) for file in change.files
    )


def _require_same_files(seen: Look, checkpoint: Checkpoint, change: TableChange) -> None:
    receipt = find_receipt(seen.handle, checkpoint.pipeline_uuid, checkpoint.number)
    if receipt is not None and receipt.get("digest") != change.digest:
        raise StateConflict(
            f"{change.table} took checkpoint {checkpoint.seq} of the state store {receipt.get('incarnation')!r}, with "
            f"other files than this store ({checkpoint.incarnation!r}) prepared",
            "two state stores ran this pipeline: put the right one back, or load everything again with --full-refresh",
        )
