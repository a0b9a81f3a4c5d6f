"""What a connector is, and what it does unless it says otherwise: as Spark's readers and writers of a format do."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from sash.errors import SashError
from sash.pipelines import same_place
from sash.spark import batches, checkpoints, flowing, reading, writing

Words = tuple[str, str, str, str]


@dataclass(frozen=True, eq=False)
class Connector:
    """A source or a sink of pipelines, or both; here any format that Spark has.

    Methods hand over functions of ``sash.spark``: what a stream's batches go through may run on a Connect server.
    """

    names: tuple[str, ...] = ()  # of its formats
    url: str = ""  # what options.url begins with
    needs: tuple[str, ...] = ()  # options that must be there
    needs_path: bool = False
    is_source: bool = True
    is_sink: bool = True
    reads_batches: bool = True  # whether it has a history to be read as a table
    reads_streams: bool = True
    has_columns: bool = False  # whether it knows its columns where there are no rows yet
    has_tables: bool = False  # whether ``table`` is its own, and not one of the catalogue
    in_catalogue: bool = False  # whether it is of tables of the catalogue
    is_known: bool = False  # whether Spark need not be asked if it has the format
    keeps: bool = True  # whether what is written stays
    only_adds: bool = False  # whether it replaces nothing, so that mode need not be written out
    replaces: bool = False  # whether it replaces what is there in one step itself
    takes_updates: bool = False  # whether early answers can be written to a path
    every_batch: bool = False  # whether batches without rows count, too
    defaults: Mapping[str, Any] = field(default_factory=dict)  # options of the writer
    words: tuple[Words, ...] = ()  # for the docs: where; as a batch; as a stream; with other sinks of a board

    # As the file is read

    def takes(self, options: Mapping[str, Any]) -> bool:
        """Whether it is the connector of a place with these options."""
        return str(options.get("url", "")).lower().startswith(self.url)

    def lacks(self, format: str, path: str | None, options: Mapping[str, Any]) -> str | None:
        """What a place must have and does not, as a sentence."""
        if self.needs_path and not path:
            return f"{format} needs a path"
        lacking = next((name for name in self.needs if name not in options), None)
        if lacking is None:
            return None
        quote = "" if lacking.isidentifier() else '"'
        return f"{format} needs options.{quote}{lacking}{quote}"

    # Where it is

    def relation(self, target: writing.Target) -> str:
        """The table that a sink writes, if it writes one."""
        return target.table or ""

    def whole_name(self, spark: Any, table: str, options: Mapping[str, Any]) -> tuple[str, ...]:
        """A table by its whole name, by which it is known whether two are the same."""
        return same_place.table(table, spark.catalog.currentCatalog(), spark.catalog.currentDatabase())

    def is_files(self, target: writing.Target) -> bool:
        """Whether the rows are plain files in a folder."""
        return target.path is not None and not self.replaces

    def exists(self, spark: Any, target: writing.Target) -> bool:
        """Whether there is something at a target; where only Spark can tell, its writer does, by the mode."""
        return writing.is_there(spark, target)

    # As a source

    def check_source(self, format: str | None, streaming: bool) -> None:
        """Refuse to read it as a table, or as a stream, where that cannot be."""
        if not self.reads_batches and not streaming:
            raise SashError(f"{format} has no history to be read as a table; run it with --stream, and not static")
        if not self.reads_streams and streaming:
            raise SashError(f"{format} cannot be read as a stream; say static = true to read it once, as a table")

    def read(self, spark: Any, origin: reading.Origin, streaming: bool, name: str) -> tuple[Any, Any]:
        """The rows of an origin, and the messages that are no rows, if it has messages."""
        return reading.load(spark, origin, streaming, infers=not self.has_columns), None

    # As a sink

    def check(self, spark: Any, target: writing.Target, streaming: bool) -> None:
        """Refuse before anything runs what could not be written, or would put a batch among what a stream wrote."""
        self.check_options(target)
        if target.mode == "error" and self.exists(spark, target):
            raise SashError(f"{target.shown} is there already; mode says that this is an error")
        if not self.is_known:
            writing.check_format(spark, target.format)
        if self.is_files(target) and not streaming:
            writing.check_folder(spark, target, self._in_place(spark, target))

    def check_options(self, target: writing.Target) -> None:
        """Refuse options that do not go together."""

    def check_stream(self, target: writing.Target, trigger: str, updates: bool) -> None:
        """Refuse what a stream could not write."""
        flowing.when(trigger)
        if updates and target.path is not None and not self.takes_updates:
            raise SashError(f"files keep what is written, got {target.format} for early answers; use emit = 'final'")

    def check_history(self, spark: Any, target: writing.Target, checkpoint: str | None, shared: bool) -> None:
        """Refuse what is there, where it is not what the stream of the checkpoint wrote."""
        if self.is_files(target):
            (checkpoints.check_parts if shared else checkpoints.check_alone)(spark, target, checkpoint)
            checkpoints.check_timeline(spark, target, checkpoint)

    def shaped(self, frame: Any, target: writing.Target) -> Any:
        """The rows as they are written."""
        return frame

    def write(self, frame: Any, target: writing.Target, count: reading.Count, show: flowing.Show) -> int | None:
        """Write a batch; how many rows that were, where it is known."""
        if target.mode == "ignore" and self.exists(frame.sparkSession, target):
            return 0
        self.save(frame, target)
        return count.get()

    def save(self, frame: Any, target: writing.Target) -> None:
        """Write all rows."""
        writing.save(frame, target, self._in_place(frame.sparkSession, target))

    def start(self, frame: Any, target: writing.Target, query: flowing.StreamSettings) -> Any:
        """A query that writes answers as they come."""
        return flowing.start(frame, target, query)

    def put(self, target: writing.Target) -> Callable[[Any, flowing.Batch], None]:
        """What puts batches of a query, which several sinks share, into this one."""
        return partial(batches.add if target.path is None or self.replaces else batches.into_folder, target)

    def _in_place(self, spark: Any, target: writing.Target) -> bool:
        """Whether overwriting is the format's own affair: tables with a history, or partitions one by one."""
        return self.replaces or writing.replaces_partitions(spark, target)
