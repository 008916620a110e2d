"""Every error Seamark raises on purpose: one root, grouped by what the reader can do about it.

The message says what happened with the values, the hint says what to do. Neither ever holds a secret.
"""

from __future__ import annotations


class SeamarkError(Exception):
    """The root. `exit_status` is what the command line ends with."""

    exit_status = 1

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint


class UsageError(SeamarkError):
    """The command was called wrongly: call it again, corrected."""

    exit_status = 2


class ConfigError(SeamarkError):
    """A project or pipeline file is wrong: edit it. `where` is `file:line` when it is known."""

    exit_status = 2

    def __init__(self, message: str, hint: str = "", where: str = "") -> None:
        super().__init__(f"{where}: {message}" if where else message, hint)
        self.where = where


class SourceError(SeamarkError):
    """The source said no, or said something that can't be moved faithfully."""


class SourceUnavailable(SourceError):
    """The source can't be reached; trying again later may help."""


class TypeMappingError(SourceError):
    """A column's type or value has no faithful place in the destination: choose with `cast:`."""


class DestinationError(SeamarkError):
    """The destination said no; nothing half-written is visible in it."""


class ForeignTable(DestinationError):
    """The table exists and is not this pipeline's: name another one."""


class SchemaConflict(DestinationError):
    """The stream's columns no longer fit the table, and changing the table could lose data."""


class EngineError(SeamarkError):
    """Spark, Java or the jars: could not start, or a task failed for good."""


class StateError(SeamarkError):
    """The state store can't be used as it is."""


class StateCorruptionError(StateError):
    """A row's checksum does not match what it holds."""


class StateUnavailable(StateError):
    """The state store can't be reached or stays locked; trying again later may help."""


class NewerStateStore(StateError):
    """The store was written by a newer Seamark: upgrade this one."""

    exit_status = 2


class StateConflict(SeamarkError):
    """The state has moved on since it was read: nothing was changed; look again."""

    exit_status = 3


class LeaseHeld(StateConflict):
    """Someone else is advancing this pipeline right now."""


class LeaseLost(StateConflict):
    """This run's lease was taken over; its unfinished checkpoint is the new holder's to resolve."""


class AdoptionRequired(StateConflict):
    """Tables hold rows that this state store never saw: a person has to choose."""


class StoreBehind(AdoptionRequired):
    """A table has moved past what this state store knows: the store is an older copy of itself."""


class Cancelled(SeamarkError):
    """A person stopped the run; what was committed stays."""
