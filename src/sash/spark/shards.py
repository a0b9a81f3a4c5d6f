"""Shards on Spark: one stateful task for each, which keeps them in RocksDB.

Spark hashes the number that stands for a shard; the numbers are chosen so that as many partitions as there are
shards have one each.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache, lru_cache
from typing import NamedTuple

import numpy as np
from pyspark import cloudpickle
from pyspark.sql import Row

from sash import options
from sash.engine.streams.packing import table_bytes
from sash.engine.streams.shard import Done, Plan, Seen, Shard
from sash.engine.streams.shipping import Body
from sash.engine.streams.sources import with_late
from sash.spark.passing import shown
from sash.spark.processor import Shards
from sash.spark.worker import begin

SEEN = Seen._fields
GIVEN = "shard int, body binary, late bigint, answers bigint, rate double, windows bigint, keys bigint, size bigint"
ROWS = 1 << 17  # answers of one body

_kept: dict[str, Shard] = {}  # shards that this worker has in memory, by token; the one used last is the last


class Sent(NamedTuple):
    """What workers know of a query: the plan, the delay of the watermark in ticks, and whether late rows are shown."""

    plan: Plan
    delay: int
    late: bool


@lru_cache(maxsize=16)
def opened(sent: bytes) -> Sent:
    """What was pickled, read once by each worker."""
    return cloudpickle.loads(sent)


def work(processor: Shards, label: int, rows: Iterator[Row], moment: int) -> Iterator[Row]:
    """What a shard does with a batch; ``moment`` is the watermark in milliseconds."""
    begin()
    sent = opened(processor.plan)
    bodies = [Body(int(row["shard"]), int(row["kind"]), bytes(row["body"])) for row in rows]
    watermark = moment * 1000 if moment > 0 else None  # Spark begins with 1970
    shard = _shard(processor, sent, watermark)
    timer = _timer(shard) if shard.token else None
    done = shard.work(bodies, watermark)
    _keep(processor, done)
    _wait(processor, timer, _timer(shard))
    _remember(shard)
    answers = with_late(done.answers, shown(done.late)) if sent.late else done.answers
    seen = done.seen
    for at in range(0, max(answers.num_rows, 1), ROWS):
        yield Row(shard=label, body=table_bytes(answers.slice(at, ROWS)), **seen._asdict())
        seen = Seen(0, 0, 0.0, 0, 0, 0)  # told once


def _shard(processor: Shards, sent: Sent, watermark: int | None) -> Shard:
    """The shard as it was kept: in this worker's memory, or in Spark's store."""
    kept = processor.head.get()
    if kept is None:
        return Shard(sent.plan)
    head = bytes(kept[0])
    remembered = _kept.pop(Shard.token_of(head), None)
    if remembered is not None:
        return remembered
    shard = Shard(sent.plan)
    start = (watermark or 0) + sent.delay + 1000  # Spark's watermark is of whole milliseconds
    shard.restore(head, lambda number: bytes(processor.chunks.getValue((number,))[0]), start)
    return shard


def _keep(processor: Shards, done: Done) -> None:
    for number, body in done.put.items():
        processor.chunks.updateValue((number,), (body,))
    for number in done.drop:
        processor.chunks.removeKey((number,))
    processor.head.update((done.head,))


def _timer(shard: Shard) -> int:
    """When a shard is due again: as soon as the watermark moves."""
    watermark = shard.operator.watermark
    return 1 if watermark is None else watermark // 1000 + 1


def _wait(processor: Shards, before: int | None, timer: int) -> None:
    """Have one timer."""
    if before == timer:
        return
    if before is not None:
        processor.handle.deleteTimer(before)
    processor.handle.registerTimer(timer)


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
