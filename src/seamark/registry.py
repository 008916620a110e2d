"""Finds connectors by their entry points and opens what a pipeline asks for. Only what is asked for is imported."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib.metadata import EntryPoint, entry_points
from typing import Any, TypeVar

from seamark.config.catalog import Catalog
from seamark.config.pipeline import ConnectorConfig, PipelineConfig
from seamark.config.problems import suggestion
from seamark.config.project import Project
from seamark.destinations.base import Destination, DestinationConnector
from seamark.errors import ConfigError
from seamark.model.status import ConnectorInfo
from seamark.sources.base import Source, SourceConnector
from seamark.state.store import StateStore, StateStoreConnector

Connector = SourceConnector | DestinationConnector | StateStoreConnector
AnyConnector = TypeVar("AnyConnector", SourceConnector, DestinationConnector, StateStoreConnector)


@dataclass(frozen=True)
class Role:
    """What connectors of one group are, in words and in the entry points."""

    name: str
    group: str


SOURCE = Role("source", "seamark.sources")
DESTINATION = Role("destination", "seamark.destinations")
STATE_STORE = Role("state store", "seamark.state_stores")
ROLES = (SOURCE, DESTINATION, STATE_STORE)


def source(kind: str) -> SourceConnector:
    """The source of that kind; ConfigError when there is none or it can't be loaded."""
    return _named(SOURCE, SourceConnector, kind)


def destination(kind: str) -> DestinationConnector:
    """The destination of that kind; ConfigError as for `source`."""
    return _named(DESTINATION, DestinationConnector, kind)


def state_store(kind: str) -> StateStoreConnector:
    """The state store of that kind; ConfigError as for `source`."""
    return _named(STATE_STORE, StateStoreConnector, kind)


def kinds(role: Role) -> tuple[str, ...]:
    """What is installed, by name; nothing is imported."""
    return tuple(sorted({point.name for point in entry_points(group=role.group)}))


def all_connectors() -> tuple[ConnectorInfo, ...]:
    """Every connector that is installed; one that can't be loaded is there too, with what is wrong with it."""
    return tuple(_info(role, kind) for role in ROLES for kind in kinds(role))


def open_source(config: PipelineConfig) -> Source:
    connector = _of(source, config.source)
    return connector.open(config.source.validated(connector.options), config.root)


def open_destination(config: PipelineConfig) -> Destination:
    connector = _of(destination, config.destination)
    return connector.open(config.destination.validated(connector.options), config.root)


def open_state_store(project: Project, config: PipelineConfig | None = None) -> StateStore:
    """The pipeline's own store if its file names one, else the project's."""
    store = config.state_store if config is not None else project.state_store
    connector = _of(state_store, store)
    return connector.open(store.validated(connector.options), store.root)


def check_options(config: PipelineConfig) -> None:
    """Check what connectors would be opened with, without opening them; ConfigError as they would raise."""
    config.source.validated(_of(source, config.source).options)
    config.destination.validated(_of(destination, config.destination).options)
    config.state_store.validated(_of(state_store, config.state_store).options)


def catalog() -> Catalog:
    """Every connector that can be loaded, for the schema and the reference."""
    return Catalog(
        sources=list(_loadable(SOURCE, SourceConnector)),
        destinations=list(_loadable(DESTINATION, DestinationConnector)),
        state_stores=list(_loadable(STATE_STORE, StateStoreConnector)),
    )


def pipeline_json_schema() -> dict[str, Any]:
    """The JSON Schema of pipeline files with every connector that is installed and can be loaded."""
    from seamark.config import json_schema

    return json_schema.pipeline_json_schema(catalog())


def connector_reference() -> str:
    """The reference page on every connector that is installed and can be loaded."""
    from seamark.config import reference

    return reference.connector_reference(catalog())


def _of(find: Callable[[str], AnyConnector], config: ConnectorConfig) -> AnyConnector:
    """The connector that a file asks for, errors at the line that does."""
    try:
        return find(config.kind)
    except ConfigError as error:
        raise ConfigError(f"{config.section}.type: {error.message}", error.hint, str(config.place)) from error


def _named(role: Role, connector: type[AnyConnector], kind: str) -> AnyConnector:
    points = entry_points(group=role.group, name=kind)
    if not points:
        hint = suggestion(kind, kinds(role), "installed")
        plug_in = f"if a plug-in brings it, install its package for {sys.executable}"
        raise ConfigError(f"there is no {role.name} {kind!r}", f"{hint}; {plug_in}" if hint else plug_in)
    if len({point.value for point in points}) > 1:
        packages = ", ".join(sorted(_package(point) for point in points))
        raise ConfigError(f"the {role.name} {kind!r} is in several packages: {packages}", "uninstall all but one")
    point = next(iter(points))
    try:
        loaded = point.load()
    except Exception as error:
        raise ConfigError(
            f"the {role.name} {kind!r} of {_package(point)} can't be loaded: {type(error).__name__}: {error}",
            "reinstall the package together with what it needs",
        ) from error
    if not isinstance(loaded, connector):
        raise ConfigError(
            f"the {role.name} {kind!r} of {_package(point)} is no {connector.__name__} but a {type(loaded).__name__}",
            f"the entry point {point.value} has to name a {connector.__name__}",
        )
    return loaded


def _package(point: EntryPoint) -> str:
    return f"{point.dist.name} {point.dist.version}" if point.dist is not None else point.value


def _info(role: Role, kind: str) -> ConnectorInfo:
    try:
        found = _FINDERS[role.name](kind)
    except ConfigError as error:
        return ConnectorInfo(role.name, kind, "", problem=error.message)
    return ConnectorInfo(role.name, kind, found.summary, found.capabilities)


def _loadable(role: Role, connector: type[AnyConnector]) -> Iterator[AnyConnector]:
    """What can't be loaded is left out here: `all_connectors` says what is wrong with it."""
    for kind in kinds(role):
        try:
            yield _named(role, connector, kind)
        except ConfigError:
            continue


_FINDERS: dict[str, Callable[[str], Connector]] = {
    SOURCE.name: source,
    DESTINATION.name: destination,
    STATE_STORE.name: state_store,
}

if __name__ == "__main__":
    sys.stdout.write(connector_reference())
