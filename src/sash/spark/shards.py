"""Shards on Spark: one stateful task for each, which keeps them in RocksDB.

Spark hashes the number that stands for a shard; the numbers are chosen so that as many partitions as there are
shards have one each.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any

import numpy as np
from pyspark.sql import Row
from pyspark.sql.streaming.stateful_processor import StatefulProcessor

from sash import options
from sash.engine.streams.packing import table_bytes
from sash.engine.streams.shard import Done, Plan, Shard
from sash.engine.streams.shipping import Body
from sash.engine.streams.sources import with_late
from sash.spark.passing import shown
from sash.spark.worker import begin

HEAD, CHUNKS = "head", "chunks"
SEEN = ("late", "answers", "windows", "keys", "size")
GIVEN = f"shard int, body binary, {', '.join(f'{name} bigint' for name in SEEN)}"
ROWS = 1 << 17  # answers of one body

_kept: dict[str, Shard] = {}  # shards that this worker has in memory, by token; the one used last is the last


class Shards(StatefulProcessor):
    """What Spark calls for each shard in each batch."""

    def __init__(self, plan: Plan, delay: int, late: bool) -> None:
        """Be ready; ``delay`` is the watermark's, in ticks."""
        self.plan, self.delay, self.late = plan, delay, late

    def init(self, handle: Any) -> None:
        """Name what is kept."""
        self.handle = handle
        self.head = handle.getValueState(HEAD, "body binary")
        self.chunks = handle.getMapState(CHUNKS, "number bigint", "body binary")

    def handleInputRows(self, key: Any, rows: Iterator[Row], timerValues: Any) -> Iterator[Row]:
        """Take a batch."""
        bodies = [Body(int(row["shard"]), int(row["kind"]), bytes(row["body"])) for row in rows]
        return self._work(int(key[0]), bodies, timerValues)

    def handleExpiredTimer(self, key: Any, timerValues: Any, expiredTimerInfo: Any) -> Iterator[Row]:
        """The watermark has moved, and nothing came."""
        return self._work(int(key[0]), [], timerValues)

    def close(self) -> None:
        """Nothing is open."""

    def _work(self, label: int, bodies: list[Body], timers: Any) -> Iterator[Row]:
        begin()
        moment = timers.getCurrentWatermarkInMs()
        watermark = moment * 1000 if moment > 0 else None  # Spark begins with 1970
        shard = self._shard(watermark)
        done = shard.work(bodies, watermark)
        self._keep(done)
        self._wait(moment)
        _remember(shard)
        answers = with_late(done.answers, shown(done.late)) if self.late else done.answers
        seen = done.seen
        for at in range(0, max(answers.num_rows, 1), ROWS):
            yield Row(shard=label, body=table_bytes(answers.slice(at, ROWS)), late=seen.late, answers=seen.answers,
                      windows=seen.windows, keys=seen.keys, size=seen.size)  # fmt: skip
            seen = type(seen)(0, 0, 0, 0, 0)  # told once

    def _shard(self, watermark: int | None) -> Shard:
        """The shard as it was kept: in this worker's memory, or in Spark's store."""
        kept = self.head.get()
        if kept is None:
            return Shard(self.plan)
        head = bytes(kept[0])
        remembered = _kept.pop(Shard.token_of(head), None)
        if remembered is not None:
            return remembered
        shard = Shard(self.plan)
        start = (watermark or 0) + self.delay + 1000  # Spark's watermark is of whole milliseconds
        shard.restore(head, lambda number: bytes(self.chunks.getValue((number,))[0]), start)
        return shard

    def _keep(self, done: Done) -> None:
        for number, body in done.put.items():
            self.chunks.updateValue((number,), (body,))
        for number in done.drop:
            self.chunks.removeKey((number,))
        self.head.update((done.head,))

    def _wait(self, moment: int) -> None:
        """Have one timer, which is due as soon as the watermark moves."""
        timers = list(self.handle.listTimers())
        for timer in timers:
            if timer != moment + 1:
                self.handle.deleteTimer(timer)
        if moment + 1 not in timers:
            self.handle.registerTimer(moment + 1)


def _remember(shard: Shard) -> None:
    """Hold a shard for the next batch, as far as memory allows; those that are not asked for go first."""
    _kept[shard.token] = shard
    budget = options.budget() // 2
    while len(_kept) > 1 and sum(each.size for each in _kept.values()) > budget:
        del _kept[next(iter(_kept))]


@cache
def labels(shards: int) -> tuple[int, ...]:
    """Numbers for shards that Spark hashes to as many different partitions.

    >>> sorted(_murmur(np.array(labels(5), np.uint32)) % 5)
    [0, 1, 2, 3, 4]
    """
    found: dict[int, int] = {}
    tried = 0
    while len(found) < shards:
        numbers = np.arange(tried, tried + 16 * shards, dtype=np.uint32)
        places = _murmur(numbers).view(np.int32).astype(np.int64) % shards
        for number, place in zip(numbers.tolist(), places.tolist(), strict=True):
            found.setdefault(place, number)
        tried += 16 * shards
    return tuple(found[place] for place in range(shards))


def _murmur(words: np.ndarray) -> np.ndarray:
    """Spark's hash of whole numbers of 32 bits (Murmur3, seed 42)."""

    def turned(value: np.ndarray, by: int) -> np.ndarray:
        return (value << np.uint32(by)) | (value >> np.uint32(32 - by))

    mixed = turned(words * np.uint32(0xCC9E2D51), 15) * np.uint32(0x1B873593)
    state = turned(np.uint32(42) ^ mixed, 13) * np.uint32(5) + np.uint32(0xE6546B64)
    state ^= np.uint32(4)
    state = (state ^ (state >> np.uint32(16))) * np.uint32(0x85EBCA6B)
    state = (state ^ (state >> np.uint32(13))) * np.uint32(0xC2B2AE35)
    return state ^ (state >> np.uint32(16))
