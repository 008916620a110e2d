"""A table's log through delta-rs: looking at it, and committing to it exactly once.

Looking and committing go through one handle. delta-rs builds a commit on the version that the handle was opened at, and
refuses it if any commit since then recorded a number under the same id: with the look at `recorded` a compare-and-set.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import unquote

from seamark.destinations.base import TableFacts
from seamark.destinations.delta.types import model_schema
from seamark.errors import DestinationError, ForeignTable

if TYPE_CHECKING:
    from deltalake import CommitProperties, DeltaTable
    from deltalake import Schema as DeltaSchema
    from deltalake.transaction import AddAction, RemoveAction

OWNER = "seamark.pipeline_uuid"
OWNER_NAME = "seamark.pipeline"
FORGETS = "delta.setTransactionRetentionDuration"


class Moved(Exception):
    """Someone committed since the handle was opened: look again."""


@dataclass(frozen=True)
class Look:
    """One version of a table, and the only handle through which a commit may build on it."""

    table: str
    handle: DeltaTable
    facts: TableFacts
    properties: dict[str, str]
    sizes: tuple[int, ...]
    """Of the files that the table is made of."""

    @property
    def app_id(self) -> str:
        return app_id(self.facts.owner)

    def paths(self) -> list[str]:
        """Of the table's files, relative to it."""
        import pyarrow as pa

        return [unquote(path) for path in pa.table(self.handle.get_add_actions()).column("path").to_pylist()]


def app_id(pipeline_uuid: str) -> str:
    """The id that a pipeline's numbers stand under; constant for a table's life."""
    return f"seamark-{pipeline_uuid}"


def look(table: str) -> Look | None:
    """The table now; None when there is none."""
    import pyarrow as pa

    handle = _open(table)
    if handle is None:
        return None
    metadata = handle.metadata()
    owner = metadata.configuration.get(OWNER, "")
    if owner and FORGETS in metadata.configuration:
        raise DestinationError(
            f"{table} has the property {FORGETS}, so it forgets which checkpoints it has taken",
            f"remove it: ALTER TABLE delta.`{table}` UNSET TBLPROPERTIES ('{FORGETS}')",
        )
    recorded = handle.transaction_version(app_id(owner)) if owner else None
    sizes = tuple(pa.table(handle.get_add_actions()).column("size_bytes").to_pylist())
    facts = TableFacts(
        table=table,
        owner=owner,
        schema=model_schema(handle.schema().to_json()),
        recorded=-1 if recorded is None else recorded,
        version=handle.version(),
        has_rows=bool(sizes),
        partition_by=tuple(metadata.partition_columns),
        owner_name=metadata.configuration.get(OWNER_NAME, ""),
    )
    return Look(table, handle, facts, dict(metadata.configuration), sizes)


def look_at_own(table: str, pipeline_uuid: str) -> Look:
    """The table of this pipeline; DestinationError when it is gone, ForeignTable when it is someone else's."""
    found = look(table)
    if found is None:
        raise DestinationError(
            f"{table} is gone", "put it back, or load the stream again with --full-refresh, which makes it anew"
        )
    if found.facts.owner != pipeline_uuid:
        raise ForeignTable(
            f"{table} belongs to {found.facts.owner_name or 'someone other than Seamark'!r} "
            f"({found.facts.owner or 'no owner'}), not to this pipeline ({pipeline_uuid})",
            "name another table, or use the state store that this table's pipeline had",
        )
    return found


def commit(
    seen: Look,
    actions: Sequence[AddAction | RemoveAction],
    number: int,
    receipt: str,
    replace_with: DeltaSchema | None = None,
) -> None:
    """Commit file actions and the number as one version. `replace_with`: remove every other file, and have this schema.

    Moved when the table recorded anything since `seen`.
    """
    from deltalake import Transaction

    with looked_at(seen):
        seen.handle.create_write_transaction(
            list(actions),
            mode="append" if replace_with is None else "overwrite",
            schema=seen.handle.schema() if replace_with is None else replace_with,
            partition_by=list(seen.facts.partition_by),
            commit_properties=_properties(receipt, [Transaction(seen.app_id, number)]),
        )


@contextmanager
def looked_at(seen: Look) -> Iterator[None]:
    """Turns what delta-rs raises into Moved, when the table went on since `seen`, or DestinationError."""
    from deltalake.exceptions import DeltaError

    try:
        yield
    except (DeltaError, OSError) as error:
        if _version(seen.table) != seen.facts.version:
            raise Moved(str(error)) from error
        raise _refused(seen.table, error) from error


def receipt_properties(receipt: str) -> CommitProperties:
    return _properties(receipt, None)


def _properties(receipt: str, transactions: list[object] | None) -> CommitProperties:
    from deltalake import CommitProperties

    return CommitProperties(custom_metadata={"userMetadata": receipt}, app_transactions=transactions)  # type: ignore[arg-type]


def _open(table: str) -> DeltaTable | None:
    from deltalake import DeltaTable
    from deltalake.exceptions import DeltaError, TableNotFoundError

    try:
        return DeltaTable(table)
    except TableNotFoundError:
        return None
    except (DeltaError, OSError) as error:
        if "Invalid table location" in str(error):
            return None
        raise _refused(table, error) from error


def _version(table: str) -> int | None:
    handle = _open(table)
    return handle.version() if handle else None


def _refused(table: str, error: Exception) -> DestinationError:
    reason = " ".join(str(error).split())[:500]
    if "feature" in reason:
        hint = "drop the table's feature that delta-rs can't write, or give the stream another name, and so a new table"
    else:
        hint = "check that the folder can be written to and that its _delta_log is whole"
    return DestinationError(f"{table}: {reason}", hint)
