"""What pipelines read from and write to: an object for each, a file each; every module here is looked through."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterator, Mapping
from typing import Any

from sash.pipelines.connectors.connector import Connector
from sash.pipelines.connectors.tables import TABLES
from sash.spark.reading import by_ending

__all__ = ["CONNECTORS", "TABLES", "Connector", "format_of", "named", "names", "of"]


def _declared() -> Iterator[Connector]:
    """The connectors at the top of each module."""
    for each in sorted(pkgutil.iter_modules(__path__), key=lambda module: module.name):
        module = importlib.import_module(f"{__name__}.{each.name}")
        yield from (thing for thing in vars(module).values() if isinstance(thing, Connector))


# Each once; those of one kind of database before those of any.
CONNECTORS = tuple(sorted(dict.fromkeys(_declared()), key=lambda each: -len(each.url)))


def format_of(place: Any) -> str:
    """The format of a place: as named, by the ending of the path, or parquet."""
    return place.format or by_ending(place.path) or "parquet"


def named(format: str | None, options: Mapping[str, Any]) -> Connector | None:
    """The connector that a format names; None of formats that Spark may have, and nothing here knows."""
    return next((each for each in CONNECTORS if format in each.names and each.takes(options)), None)


def of(place: Any) -> Connector:
    """The connector of a place: a source or a sink of the model, or what Spark is told of it.

    >>> from types import SimpleNamespace
    >>> of(SimpleNamespace(format=None, path="out.csv", table=None, options={})).names
    ('csv',)
    """
    fits = [
        each for each in CONNECTORS if (each.in_catalogue or each.has_tables if place.table else not each.in_catalogue)
    ]
    format = format_of(place)
    connector = next((each for each in fits if format in each.names and each.takes(place.options)), None)
    return connector or (TABLES if place.table else Connector())


def names(sources: bool) -> list[str]:
    """The formats of sources, or of sinks, that are known by name."""
    every = (each for each in CONNECTORS if (each.is_source if sources else each.is_sink))
    return sorted({name for each in every for name in each.names})
