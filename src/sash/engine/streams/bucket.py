"""A bucket: some keys of a shard, as many as fit memory: their operator, its log, and the rest of its state."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Protocol

import numpy as np
import pyarrow as pa

from sash.engine.streams.assigners.base import LEAST
from sash.engine.streams.body import Body
from sash.engine.streams.cells import KEY
from sash.engine.streams.chunked_parts import ChunkedParts
from sash.engine.streams.history import placed_parts
from sash.engine.streams.limits import Limits
from sash.engine.streams.log import BucketLog, Logged, runs_of
from sash.engine.streams.packing import packed, unpacked
from sash.engine.streams.restoring import array_of, part_of, refused
from sash.engine.streams.sharding import Share
from sash.engine.streams.store import ChunkWriter
from sash.engine.tables import one_array
from sash.engine.value_words import hashes_of

BUCKET = "bucket"


class KeptOperator(Protocol):
    """An operator of some keys of a shard, of which all is kept: as entries of logs, and a core."""

    @property
    def watermark(self) -> int | None:
        """Where the watermark is, if anywhere."""

    @property
    def late_count(self) -> int:
        """How many rows came late or malformed."""

    @property
    def size(self) -> int:
        """About how many bytes it has in memory."""

    @property
    def answer_schema(self) -> pa.Schema:
        """The columns of answers."""

    def logged(self) -> Mapping[str, Logged]:
        """What its logs hold, by their names."""

    def take_body(self, body: Body) -> tuple[Mapping[str, pa.Table], int]:
        """Take what came; gives the entries of its logs, and the time of the latest row."""

    def finish(self) -> tuple[Mapping[str, pa.Table], int]:
        """Take what waits for the end of a batch; gives the same."""

    def left(self) -> Mapping[str, list[pa.Table]]:
        """Further entries of its logs, of what has happened since this was last asked."""

    def core(self) -> dict[str, Any]:
        """What no log holds."""

    def recover(self, parts: dict[str, Any]) -> None:
        """Begin with a core; the logs are to be replayed."""

    def since(self, queries: dict[str, int]) -> None:
        """Let queries that were added later answer only what begins at a time, or after it."""

    def passing(self, watermark: int | None, limits: Limits) -> Iterator[pa.Table]:
        """The answers that are due, in parts."""

    def late(self) -> pa.Table:
        """The rows set aside since this was last asked."""

    def key_values(self) -> list[pa.Array]:
        """The values of all keys that it knows."""

    def of_share(self, share: Share, shards: int) -> KeptOperator:
        """Another that has what this one has of a share of the keys."""

    def take_late(self, other: Any) -> None:
        """Go on with the rows that another set aside."""

    def open_windows(self) -> int:
        """How many windows, or rows, wait for their answers."""

    def open_keys(self) -> int:
        """How many keys have one."""


class Bucket:
    """The state of some keys, and what it does with a batch."""

    def __init__(self, share: Share, operator: KeptOperator, limits: Limits) -> None:
        self.share, self.operator, self.limits = share, operator, limits
        self.logs = {name: BucketLog(logged, limits) for name, logged in operator.logged().items()}
        self.pieces = ChunkedParts(limits.piece)
        self.latest = LEAST  # the time of the latest row that came since it was read

    @property
    def size(self) -> int:
        """How many bytes are kept."""
        return sum(log.size for log in self.logs.values()) + self.pieces.size

    @property
    def in_memory(self) -> int:
        """About how many bytes there are in memory."""
        return self.operator.size + sum(log.waiting for log in self.logs.values())

    def restore(self, head: bytes, writer: ChunkWriter, places: Sequence[int | None] | None = None) -> None:
        """Go on with what was kept, given its head, and the places that queries have there, where these differ."""
        parts = unpacked(BUCKET, head)
        core = array_of(parts, "core", np.uint8).tobytes()
        rest = self.pieces.read(part_of(parts, "pieces"), core, writer)
        logs = {name: runs_of(part_of(parts, name), writer.next) for name in self.logs}
        numbers = [run.number for runs in logs.values() for run in runs]
        numbers += [each[0] for pieces in self.pieces.known.values() for each in pieces]
        if len(set(numbers)) < len(numbers):
            raise refused("chunks", "each in one place", "one in two")
        self.operator.recover(rest if places is None else placed_parts(rest, places))
        for name, runs in logs.items():
            self.logs[name].restore(runs, writer)

    def head(self, writer: ChunkWriter) -> bytes:
        """Write what there is; gives what says so."""
        for name, entries in self.operator.left().items():
            for entry in entries:
                self.logs[name].take(entry, writer)
        for log in self.logs.values():
            log.compact(writer)
        core = self.pieces.write(self.operator.core(), writer)
        runs = {name: [list(run) for run in log.runs] for name, log in self.logs.items()}
        return packed(BUCKET, {**runs, "pieces": self.pieces.known, "core": np.frombuffer(core, np.uint8)})

    def take(self, body: Body, writer: ChunkWriter) -> None:
        """Take a body; what the logs must hold of it is written, now or later."""
        self._log(*self.operator.take_body(body), writer)

    def finish(self, writer: ChunkWriter) -> None:
        """Take what waits for the end of a batch."""
        self._log(*self.operator.finish(), writer)

    def _log(self, entries: Mapping[str, pa.Table], latest: int, writer: ChunkWriter) -> None:
        self.latest = max(self.latest, latest)
        for name, entry in entries.items():
            self.logs[name].take(entry, writer)

    def split(self, shards: int, writer: ChunkWriter) -> tuple[Bucket, Bucket] | None:
        """Two buckets in the place of this one, each with some of its keys; None where it has but one key."""
        keys = self.operator.key_values()
        if not keys or len(keys[0]) < 2:
            return None
        words = share_words(keys, len(keys[0]), shards)
        if (words == words[0]).all():
            return None
        self.finish(writer)
        halves = [Bucket(share, self.operator.of_share(share, shards), self.limits) for share in self.share.split()]
        halves[0].latest = self.latest
        halves[0].operator.take_late(self.operator)
        older = {name: log.older(writer) for name, log in self.logs.items()}
        self.clear(writer)
        for name, entries in older.items():
            parts = [(entry, _words_of(entry, shards)) for entry in entries]
            for bucket in halves:
                log = bucket.logs[name]
                log.add_older([entry.filter(pa.array(bucket.share.holds(words))) for entry, words in parts], writer)
                log.rewrite(writer)
        return halves[0], halves[1]

    def clear(self, writer: ChunkWriter) -> None:
        """Drop all that was kept."""
        for log in self.logs.values():
            log.clear(writer)
        self.pieces.clear(writer)


def share_words(keys: Sequence[pa.Array], count: int, shards: int) -> np.ndarray:
    """What tells the shares of keys."""
    return hashes_of(keys, count) // np.uint64(shards)


def _words_of(entry: pa.Table, shards: int) -> np.ndarray:
    """What tells the buckets of an entry's rows."""
    keys = [one_array(entry[name]) for name in entry.column_names if name.startswith(KEY)]
    return share_words(keys, entry.num_rows, shards)
