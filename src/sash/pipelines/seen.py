"""What a page shows of a pipeline: a sight for each step that a sink takes, and who tells them how far these are."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from sash.pipelines.building import Built
from sash.pipelines.loading import Loaded
from sash.pipelines.reporting import Written
from sash.watching.sight import Sight
from sash.watching.spark_progress import BatchReader

Show = Callable[[Sequence[Sight]], None]  # puts sights on a page


class Seen:
    """The sights of a run, by what its sinks take; it has none where nobody looks."""

    def __init__(self, loaded: Loaded, built: Built, show: Show | None) -> None:
        self.sights: dict[str, Sight] = {}
        self._readers: list[tuple[BatchReader, Any]] = []
        self._left = [loaded.taken(sink) for sink in loaded.pipeline.sinks]
        if show is not None:
            for name in dict.fromkeys(self._left):
                board = built.boards.get(name)
                self.sights[name] = Sight(name) if board is None else board._sight(name)
            show(list(self.sights.values()))

    def runs(self, name: str, query: Any) -> None:
        """A streaming query writes what there is by a name."""
        if name in self.sights:
            self.sights[name].began()
            self._readers.append((BatchReader(self.sights[name]), query))

    def look(self) -> None:
        """Take in what queries tell."""
        for reader, query in self._readers:
            reader.look(query)

    def began(self, name: str, sink: str) -> None:
        """A sink of a batch is being written."""
        if name in self.sights:
            self.sights[name].began()
            self.sights[name].words = f"writing {sink}"

    def wrote(self, written: Written, rows_in: int | None) -> None:
        """A sink of a batch is written."""
        self._left.remove(written.taken)
        sight = self.sights.get(written.taken)
        if sight is None:
            return
        sight.answers, sight.rows_in, sight.words = written.rows, rows_in, f"{written.sink} is written"
        sight.late = written.late
        if written.taken not in self._left:
            sight.ended()

    def failed(self, error: str) -> None:
        """The run has failed."""
        for sight in self.sights.values():
            sight.ended(error)

    def ended(self) -> None:
        """The run has ended."""
        for sight in self.sights.values():
            sight.ended()
