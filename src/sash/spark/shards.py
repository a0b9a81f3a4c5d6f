"""Shards on Spark: one stateful task for each, which keeps them in RocksDB.

Spark hashes the number that stands for a shard; the numbers are chosen so that as many partitions as there are
shards have one each.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache, lru_cache
from typing import NamedTuple

import numpy as np
from pyspark import cloudpickle
from pyspark.sql import Row

from sash import options
from sash.engine.streams.log import cut
from sash.engine.streams.packing import table_bytes
from sash.engine.streams.shard import Done, Plan, Seen, Shard
from sash.engine.streams.shipping import Body
from sash.engine.streams.sources import with_late
from sash.errors import SashError
from sash.spark.passing import shown
from sash.spark.processor import Shards
from sash.spark.worker import begin

SEEN = Seen._fields
GIVEN = "body binary, late bigint, answers bigint, rate double, windows bigint, keys bigint, size bigint"
ROWS, LARGE = 1 << 17, 1 << 25  # answers, and bytes, of one body

LIGHT = 1 << 16  # bytes that a shard takes in memory at least

_kept: dict[tuple[bytes, int], Shard] = {}  # what this worker has in memory; the one used last is the last


class Sent(NamedTuple):
    """What workers know of a query."""

    plan: Plan
    delay: int  # of the watermark, in ticks
    late: bool  # whether late rows are shown
    memory: int | None  # bytes that one may use, where the options say


@lru_cache(maxsize=16)
def opened(sent: bytes) -> Sent:
    """What was pickled, read once by each worker."""
    return cloudpickle.loads(sent)


def work(processor: Shards, label: int, rows: Iterator[Row], moment: int) -> Iterator[Row]:
    """What a shard does with a batch; ``moment`` is the watermark in milliseconds."""
    begin()
    sent = opened(processor.plan)
    came = sorted(rows, key=lambda row: row["task"])  # in whatever order they come, they are folded in one
    bodies = [Body(0, int(row["kind"]), bytes(row["body"])) for row in came]
    watermark = moment * 1000 if moment > 0 else None  # Spark begins with 1970
    shard = _shard(processor, sent, label, watermark)
    timer = _timer(shard) if shard.token else None
    done = shard.work(bodies, watermark, _reader(processor))
    _keep(processor, done)
    _wait(processor, timer, _timer(shard))
    _remember((processor.plan, label), shard, (sent.memory or options.budget()) // 2)
    answers = with_late(done.answers, shown(done.late)) if sent.late else done.answers
    yield Row(body=b"", **done.seen._asdict())
    for part in cut(answers, LARGE, ROWS):
        yield Row(body=table_bytes(part), **dict.fromkeys(Seen._fields))


def _reader(processor: Shards) -> Callable[[int], bytes]:
    def read(number: int) -> bytes:
        found = processor.chunks.getValue((number,))
        if found is None:
            raise SashError(f"state must be whole; chunk {number} is gone")
        return bytes(found[0])

    return read


def _shard(processor: Shards, sent: Sent, label: int, watermark: int | None) -> Shard:
    """The shard as it was kept: in this worker's memory, or in Spark's store."""
    kept = processor.head.get()
    if kept is None:
        return Shard(sent.plan)
    head = bytes(kept[0])
    remembered = _kept.pop((processor.plan, label), None)
    if remembered is not None and remembered.token == Shard.token_of(head):
        return remembered
    shard = Shard(sent.plan)
    start = (watermark or 0) + sent.delay + 1000  # Spark's watermark is of whole milliseconds
    shard.restore(head, _reader(processor), start)
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


def _remember(name: tuple[bytes, int], shard: Shard, budget: int) -> None:
    """Hold a shard for the next batch, as far as memory allows; those that were not asked for longest go first."""
    _kept[name] = shard
    while len(_kept) > 1 and sum(LIGHT + 4 * each.size for each in _kept.values()) > budget:
        del _kept[next(iter(_kept))]


@cache
def labels(shards: int) -> tuple[int, ...]:
    """Numbers for shards that Spark hashes to as many different partitions.

    >>> (_murmur(np.array(labels(5), np.uint32)).view(np.int32) % 5).tolist()
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
