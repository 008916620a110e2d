"""Making an empty table, through delta-rs alone: a pipeline that only appends never needs a JVM."""

from __future__ import annotations

from seamark.destinations.delta.evolve import check_names
from seamark.destinations.delta.log import OWNER, OWNER_NAME, Look, look
from seamark.destinations.delta.places import STAGED, filesystem
from seamark.destinations.delta.types import delta_schema
from seamark.errors import DestinationError, ForeignTable, SchemaConflict
from seamark.model.schema import Schema
from seamark.model.stream import Shape, Stream

_NO_PARTITION = ("list", "struct", "binary")


def create_table(
    table: str, stream: Stream, shape: Shape, pipeline: str, pipeline_uuid: str, properties: dict[str, str]
) -> None:
    """See `Destination.create`. Of several at once one makes it; the others see whose it is."""
    from deltalake import CommitProperties, DeltaTable
    from deltalake.exceptions import DeltaError

    if _is_ours(look(table), pipeline_uuid):
        return
    check_names(table, shape.schema)
    check_partitions(stream.name, shape.schema, stream.partition_by)
    _require_free(table)
    try:
        DeltaTable.create(
            table,
            delta_schema(shape.schema),
            mode="error",
            partition_by=list(stream.partition_by) or None,
            description=shape.comment or None,
            configuration={**properties, OWNER: pipeline_uuid, OWNER_NAME: pipeline},
            raise_if_key_not_exists=False,
            # A second try would not make the table but take over the one that somebody else has made meanwhile.
            commit_properties=CommitProperties(max_commit_retries=0),
        )
    except (DeltaError, OSError) as error:
        if not _is_ours(look(table), pipeline_uuid):
            raise DestinationError(
                f"{table} could not be made: {' '.join(str(error).split())[:500]}",
                "check the destination's `path:` and who may write there",
            ) from error


def check_partitions(stream: str, schema: Schema, partition_by: tuple[str, ...]) -> None:
    for name in partition_by:
        column = schema.get(name)
        if column is None:
            raise SchemaConflict(
                f"stream {stream!r}: partition_by names {name!r}, which is no column of it",
                f"its columns are {', '.join(schema.names)}",
            )
        if column.type.kind in _NO_PARTITION:
            raise SchemaConflict(
                f"stream {stream!r}: a table can't be partitioned by {name!r}, which is {column.type}",
                "partition by a column with a plain type",
            )
    if partition_by and len(partition_by) >= len(schema):
        raise SchemaConflict(
            f"stream {stream!r}: every column is named in partition_by, so that its files would hold nothing",
            "partition by fewer columns",
        )


def _is_ours(found: Look | None, pipeline_uuid: str) -> bool:
    """Whether the table is there; ForeignTable when it is someone else's."""
    if found is None:
        return False
    if found.facts.owner == pipeline_uuid:
        return True
    whose = f"belongs to the pipeline {found.facts.owner_name!r}" if found.facts.owner else "was not made by Seamark"
    raise ForeignTable(
        f"{found.table} is a Delta table that {whose}",
        "give the stream another name or the destination another path; Seamark only writes to tables it made itself",
    )


def _require_free(table: str) -> None:
    """ForeignTable when the folder holds more than hidden files and what was once staged; DestinationError when it
    can't be made or read."""
    import pyarrow.fs as fs

    files, base = filesystem(table)
    try:
        files.create_dir(base, recursive=True)
        inside = files.get_file_info(fs.FileSelector(base))
    except OSError as error:
        raise DestinationError(
            f"the folder {table} can't be made or read: {error}",
            "check the destination's `path:` and who may write there",
        ) from error
    strangers = sorted(info.base_name for info in inside if info.base_name[0] not in "._" and info.base_name != STAGED)
    if strangers:
        raise ForeignTable(
            f"the folder {table} holds files that are no Delta table's: {', '.join(strangers[:3])}",
            "give the stream another name or the destination another path",
        )
