"""A bucket: some keys of a shard, as many as fit memory: their operator, its log, and the rest of its state."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from sash.engine.streams.assigners.base import LEAST
from sash.engine.streams.cells import AT, KEY
from sash.engine.streams.chunked_parts import ChunkedParts
from sash.engine.streams.history import placed_parts
from sash.engine.streams.lateness import missed_by
from sash.engine.streams.limits import Limits
from sash.engine.streams.log import BucketLog, runs_of
from sash.engine.streams.logged import LoggedOperator
from sash.engine.streams.packing import packed, table_of, unpacked
from sash.engine.streams.restoring import array_of, part_of, refused
from sash.engine.streams.sharding import Share
from sash.engine.streams.shipping import CELLS, LATEST, MALFORMED, ROWS, TALLY, Body
from sash.engine.streams.store import ChunkWriter
from sash.engine.streams.times import ticks_of
from sash.engine.tables import one_array
from sash.engine.value_words import hashes_of
from sash.expressions.evaluation import evaluate

BUCKET = "bucket"


class Bucket:
    """The state of some keys, and what it does with a batch."""

    def __init__(self, share: Share, operator: LoggedOperator, limits: Limits) -> None:
        self.share, self.operator, self.limits = share, operator, limits
        self.log, self.pieces = BucketLog(operator, limits), ChunkedParts(limits.piece)
        self.latest = LEAST  # the time of the latest row that came since it was read
        self.behind: list[pa.Table] = []  # rows behind the watermark, of which sessions are told at the end of a batch

    @property
    def size(self) -> int:
        """How many bytes are kept."""
        return self.log.size + self.pieces.size

    @property
    def in_memory(self) -> int:
        """About how many bytes there are in memory."""
        return self.operator.size + self.log.waiting

    def restore(self, head: bytes, writer: ChunkWriter, places: Sequence[int | None] | None = None) -> None:
        """Go on with what was kept, given its head, and the places that queries have there, where these differ."""
        parts = unpacked(BUCKET, head)
        core = array_of(parts, "core", np.uint8).tobytes()
        rest = self.pieces.read(part_of(parts, "pieces"), core, writer)
        runs = runs_of(part_of(parts, "runs"), writer.next)
        numbers = [run.number for run in runs] + [each[0] for pieces in self.pieces.known.values() for each in pieces]
        if len(set(numbers)) < len(numbers):
            raise refused("chunks", "each in one place", "one in two")
        self.operator.recover(rest if places is None else placed_parts(rest, places))
        self.log.restore(runs, writer)

    def head(self, writer: ChunkWriter) -> bytes:
        """Write what there is; gives what says so."""
        self.log.compact(writer)
        core = self.pieces.write(self.operator.core(), writer)
        return packed(BUCKET, {
            "runs": [list(run) for run in self.log.runs], "pieces": self.pieces.known,
            "core": np.frombuffer(core, np.uint8),
        })  # fmt: skip

    def take(self, body: Body, writer: ChunkWriter) -> None:
        """Take a body; what the log must hold of it is written, now or later."""
        if body.content == CELLS:
            cells = table_of(body.table)
            self.latest = max(self.latest, int(cells.schema.metadata[LATEST.encode()]))
            self.log.take(self.operator.take(cells.replace_schema_metadata(None)), writer)
        elif body.content == ROWS:
            self._take_rows(self._in_time(table_of(body.table)), writer)
        elif body.content == TALLY:
            self.operator.state.late_count += self._late_of(table_of(body.table))

    def finish(self, writer: ChunkWriter) -> None:
        """Take rows behind the watermark, once all others of a batch are there."""
        if self.behind:
            rows, self.behind = pa.concat_tables(self.behind), []
            self._take_rows(rows, writer)

    def _take_rows(self, rows: pa.Table, writer: ChunkWriter) -> None:
        entry = self.operator.add_rows(rows)
        self.latest = max([self.latest, *([int(entry[AT].to_numpy().max())] if entry.num_rows else [])])
        self.log.take(entry, writer)

    def _in_time(self, rows: pa.Table) -> pa.Table:
        """The rows that are taken as they come; where windows merge, others wait for the end of the batch."""
        scheme, watermark = self.operator.scheme, self.operator.watermark
        if not scheme.merging or watermark is None:
            return rows
        assert scheme.settings.time is not None
        time, known = ticks_of(evaluate(scheme.settings.time, rows), scheme.time_type)
        behind = time < watermark if known is None else known & (time < watermark)
        if not behind.any():
            return rows
        self.behind.append(rows.filter(pa.array(behind)))
        return rows.filter(pa.array(~behind))

    def split(self, shards: int, writer: ChunkWriter) -> tuple[Bucket, Bucket] | None:
        """Two buckets in the place of this one, each with some of its keys; None where it has but one key."""
        keys = self.operator.key_values()
        if not keys or len(keys[0]) < 2:
            return None
        words = hashes_of(keys, len(keys[0])) // np.uint64(shards)
        if (words == words[0]).all():
            return None
        self.finish(writer)
        keys = self.operator.key_values()
        words = hashes_of(keys, len(keys[0])) // np.uint64(shards)
        halves = []
        for share in self.share.split():
            some = self.operator.of_keys(np.flatnonzero(share.holds(words)))
            halves.append(Bucket(share, some, self.limits))
        halves[0].latest = self.latest
        halves[0].operator.state.late_count = self.operator.state.late_count
        halves[0].operator.state.late = self.operator.state.late
        older = [(entry, _words(entry, shards)) for entry in self.log.older(writer)]
        self.clear(writer)
        for bucket in halves:
            bucket.log.add_older([entry.filter(pa.array(bucket.share.holds(words))) for entry, words in older], writer)
            bucket.log.rewrite(writer)
        return halves[0], halves[1]

    def clear(self, writer: ChunkWriter) -> None:
        """Drop all that was kept."""
        self.log.clear(writer)
        self.pieces.clear(writer)

    def _late_of(self, tally: pa.Table) -> int:
        """How many rows had no time, or missed a window; all rows of a slice miss the same."""
        operator = self.operator
        malformed = int(tally.schema.metadata[MALFORMED.encode()])
        upto, at = operator.shut, tally[AT].to_numpy()
        if upto is None or not len(at):
            return malformed
        behind = at < upto
        last = tally["last"].to_numpy()[behind] if operator.scheme.spans else None
        missed, _ = missed_by(operator.scheme, operator.assigners, at[behind], upto, operator.least_starts, last)
        return malformed + int(tally["rows"].to_numpy()[behind][missed != ""].sum())


def _words(entry: pa.Table, shards: int) -> np.ndarray:
    """What tells the buckets of an entry's rows."""
    keys = [one_array(entry[name]) for name in entry.column_names if name.startswith(KEY)]
    return hashes_of(keys, entry.num_rows) // np.uint64(shards)
