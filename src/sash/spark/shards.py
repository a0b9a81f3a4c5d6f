"""Shards on Spark: one stateful task for each, which keeps them in RocksDB.

Spark hashes the number that stands for a shard; the numbers are chosen so that as many partitions as there are
shards have one each.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache, lru_cache
from typing import Any, NamedTuple, Protocol

import numpy as np
import pandas as pd  # type: ignore[import-untyped]

from sash import options
from sash.engine.memory_need import within_memory
from sash.engine.sizes import cut
from sash.engine.streams.body import Body
from sash.engine.streams.limits import Limits
from sash.engine.streams.packing import table_bytes
from sash.engine.streams.shard import Seen, Shard, ShardedQuery
from sash.engine.streams.sources import with_late
from sash.errors import SashError
from sash.spark.by_value import dumps, loads
from sash.spark.garbage import set_apart
from sash.spark.passing import shown
from sash.spark.worker import begin
from sash.version import VERSION

SEEN = Seen._fields
GIVEN = "body binary, late bigint, answers bigint, rate double, windows bigint, keys bigint, size bigint"
NOTHING = Seen(0, 0, 0.0, 0, 0, 0)
LIGHT = 1 << 16  # bytes that a shard takes in memory at least

_kept: dict[tuple[bytes, int], Shard] = {}  # what this worker has in memory; the one used last is the last


class Sent(NamedTuple):
    """What workers know of a query."""

    plan: ShardedQuery
    delay: int  # of the watermark, in ticks
    late: bool  # whether late rows are shown
    memory: int | None  # bytes that one may use, where the options say

    @property
    def limits(self) -> Limits:
        """How much a task may have in memory here."""
        return Limits.of(self.memory or options.budget())

    def packed(self) -> bytes:
        """The same as bytes, behind the version of the Sash that wrote them."""
        return VERSION.encode() + b"\n" + dumps(self)


@lru_cache(maxsize=16)
def opened(sent: bytes) -> Sent:
    """What was packed, read once by each worker."""
    version, _, body = sent.partition(b"\n")
    begin(version.decode())
    return loads(body)


class Processor(Protocol):
    """What Spark calls, as far as a shard needs it: the plan, pickled, and the state."""

    plan: bytes
    head: Any
    chunks: Any
    handle: Any


class Chunks:
    """Chunks in Spark's state."""

    def __init__(self, processor: Processor) -> None:
        self.state = processor.chunks

    def read(self, number: int) -> bytes:
        """A chunk."""
        row = self.state.getValue((number,))
        if row is None:
            raise SashError(f"state must be whole; chunk {number} is gone")
        return bytes(row[0])

    def write(self, number: int, body: bytes) -> None:
        """Keep a chunk."""
        self.state.updateValue((number,), (body,))

    def remove(self, number: int) -> None:
        """Drop a chunk."""
        self.state.removeKey((number,))


def work(processor: Processor, label: int, frames: Iterator[pd.DataFrame], moment: int) -> Iterator[pd.DataFrame]:
    """What a shard does with a batch; ``moment`` is the watermark in milliseconds.

    Each frame that it gives is a batch of its own on the way to the JVM, so that none is large.
    """
    sent = opened(processor.plan)
    limits = sent.limits
    watermark = moment * 1000 if moment > 0 else None  # Spark begins with 1970
    with within_memory(limits.memory, "the state and the answers of a shard"):
        shard = _shard(processor, sent, label, watermark, limits)
        timer = _timer(shard) if shard.token else None
        for answers, late in shard.work(_bodies(frames), watermark, Chunks(processor)):
            table = with_late(answers, shown(late)) if sent.late else answers
            for part in cut(table, limits.body, limits.answers):
                yield _frame(table_bytes(part), NOTHING)
        processor.head.update((shard.head,))
        _wait(processor, timer, _timer(shard))
        _remember((processor.plan, label), shard, limits.memory // 2)
        yield _frame(None, shard.seen)
    set_apart()


def _bodies(frames: Iterator[pd.DataFrame]) -> Iterator[Body]:
    for frame in frames:
        for content, body, task in zip(frame["kind"], frame["body"], frame["task"], strict=True):
            yield Body(0, int(content), bytes(body), int(task))


def _frame(body: bytes | None, seen: Seen) -> pd.DataFrame:
    return pd.DataFrame({"body": [body], **{name: [value] for name, value in seen._asdict().items()}})


def _shard(processor: Processor, sent: Sent, label: int, watermark: int | None, limits: Limits) -> Shard:
    """The shard as it was kept: in this worker's memory, or in Spark's store."""
    row = processor.head.get()
    if row is None:
        return Shard(sent.plan, limits)
    head = bytes(row[0])
    remembered = _kept.pop((processor.plan, label), None)
    if remembered is not None and remembered.token == Shard.token_of(head):
        return remembered
    shard = Shard(sent.plan, limits)
    shard.restore(head, (watermark or 0) + sent.delay + 1000)  # Spark's watermark is of whole milliseconds
    return shard


def _timer(shard: Shard) -> int:
    """When a shard is due again: as soon as the watermark moves."""
    return 1 if shard.watermark is None else shard.watermark // 1000 + 1


def _wait(processor: Processor, before: int | None, timer: int) -> None:
    """Have one timer."""
    if before == timer:
        return
    if before is not None:
        processor.handle.deleteTimer(before)
    processor.handle.registerTimer(timer)


def _remember(name: tuple[bytes, int], shard: Shard, budget: int) -> None:
    """Hold a shard for the next batch, as far as memory allows; those that were not asked for longest go first."""
    _kept[name] = shard
    while len(_kept) > 1 and sum(LIGHT + each.in_memory for each in _kept.values()) > budget:
        del _kept[next(iter(_kept))]


@cache
def labels(shards: int) -> tuple[int, ...]:
    """Numbers for shards that Spark hashes to as many different partitions.

    >>> (_murmur(np.array(labels(5), np.uint32)).view(np.int32) % 5).tolist()
    [0, 1, 2, 3, 4]
    """
    label_of: dict[int, int] = {}
    tried = 0
    while len(label_of) < shards:
        numbers = np.arange(tried, tried + 16 * shards, dtype=np.uint32)
        places = _murmur(numbers).view(np.int32).astype(np.int64) % shards
        for number, place in zip(numbers.tolist(), places.tolist(), strict=True):
            label_of.setdefault(place, number)
        tried += 16 * shards
    return tuple(label_of[place] for place in range(shards))


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
