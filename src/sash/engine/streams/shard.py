"""A shard: the part of a stream that one stateful task keeps, for all of its keys, as chunks of bytes.

A batch comes as bodies; answers leave in parts, and chunks are written and dropped meanwhile: runs of logs, what
changed of the rest, and at last the head, which says what there is. The keys of a shard are in one bucket until that
is too large for memory, and in two, four, eight from then on, of which some are in memory at a time. A head names its
content by a token, so that a shard that is still in memory is known to be the one that was kept, or not.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import numpy as np
import pyarrow as pa

from sash.engine.memory_need import give_back, said
from sash.engine.streams.assigners.base import LEAST
from sash.engine.streams.body import CELLS, ROWS, Body
from sash.engine.streams.bucket import Bucket, KeptOperator
from sash.engine.streams.filling import Fill
from sash.engine.streams.history import continued, described, former_places
from sash.engine.streams.limits import EACH, Limits
from sash.engine.streams.logged import LoggedOperator
from sash.engine.streams.packing import packed, unpacked
from sash.engine.streams.restoring import array_of, is_whole, part_of, refused, typed_of, watermark_of, whole_of
from sash.engine.streams.scheme import Scheme
from sash.engine.streams.sharding import Share, cover
from sash.engine.streams.shipping import Shipping, parted
from sash.engine.streams.store import ChunkStore, ChunkWriter
from sash.engine.streams.waiting import Waiting
from sash.errors import SashError

HEAD = "head"


class ShardedQuery(Protocol):
    """What all shards of a stream know, whatever is asked of it: a board, or columns beside its rows."""

    @property
    def scheme(self) -> Scheme:
        """The time and the key of rows."""

    @property
    def shards(self) -> int:
        """How many there are."""

    @property
    def words(self) -> tuple[str, str]:
        """What a key has that takes memory, and what would take less."""

    def description(self) -> dict[str, Any]:
        """All that kept state depends on."""

    def continued(self, before: Any, now: dict[str, Any], start: int) -> dict[str, Any]:
        """What is asked now, going on with state that was kept before; or a sentence that says what changed."""

    def places(self, before: Any, now: dict[str, Any]) -> list[int | None] | None:
        """The places that queries have in kept state, where these may differ."""

    def shipping(self, late: bool, limits: Limits) -> Shipping:
        """What a task does with its rows."""

    def bucket(self, share: Share, limits: Limits) -> Bucket:
        """The state of some keys, at first."""


@dataclass(frozen=True)
class ShardPlan:
    """What all shards of a board know."""

    scheme: Scheme
    slicer: str
    emit: str
    starts: bool
    shards: int
    computed: tuple[tuple[str, str], ...] = ()  # columns that were computed before, by name
    fill: Fill = False
    words = ("open windows", "have shorter windows or more keys")

    def description(self) -> dict[str, Any]:
        """All that kept state depends on."""
        return described(self.scheme, self.emit, self.shards, dict(self.computed), self.fill)

    def continued(self, before: Any, now: dict[str, Any], start: int) -> dict[str, Any]:
        """What is asked now; queries that are new answer from ``start`` on."""
        return continued(before, now, start)

    def places(self, before: Any, now: dict[str, Any]) -> list[int | None]:
        """The place that each query has in kept state."""
        return former_places(before, now)

    def shipping(self, late: bool, limits: Limits) -> Shipping:
        """Rows are folded to partials where these suffice, but for those that must be shown if they come late."""
        return Shipping(self.scheme, self.slicer, self.shards, late, limits)

    def bucket(self, share: Share, limits: Limits) -> Bucket:
        """The state of some keys, at first."""
        operator = LoggedOperator(self.scheme, self.slicer, emit=self.emit, starts=self.starts, fill=self.fill)
        return Bucket(share, operator, limits)


class Seen(NamedTuple):
    """What an observer sees of a shard."""

    late: int
    answers: int
    rate: float  # answers a second, since the batch before
    windows: int
    keys: int
    size: int


class ShardOutput(NamedTuple):
    """Some of what a batch gives: answers, and what was set aside."""

    answers: pa.Table
    late: pa.Table


class Shard:
    """The state of a shard, and what it does with a batch."""

    def __init__(self, plan: ShardedQuery, limits: Limits) -> None:
        self.plan, self.limits = plan, limits
        self.description = plan.description()
        self.heads: dict[Share, bytes] = {Share(): b""}  # of all buckets; nothing is kept of one without a head
        self.former: set[Share] = set()  # those that are as they were when this began
        self.places: list[int | None] | None = None  # of queries in these
        self.sizes: dict[Share, int] = {}  # bytes that are kept of each, beside its head
        self.buckets: dict[Share, Bucket] = {}  # those that are in memory; the one used last is the last
        self.watermark: int | None = None
        self.next = 0  # the number of the next chunk
        self.token = ""
        self.latest = LEAST  # the time of the latest row that came
        self.moment = 0.0  # when the last batch was done, in seconds since 1970
        self.head = b""
        self.seen = Seen(0, 0, 0.0, 0, 0, 0)

    @staticmethod
    def token_of(head: bytes) -> str:
        """What names the content that a head is of."""
        return str(typed_of(unpacked(HEAD, head), "token", str))

    @property
    def in_memory(self) -> int:
        """About how many bytes there are in memory."""
        return sum(bucket.in_memory for bucket in self.buckets.values())

    def restore(self, head: bytes, start: int) -> None:
        """Go on with what was kept, given its head.

        Queries that are new answer windows that begin at ``start`` or later, and after all rows that came so far.
        """
        parts = unpacked(HEAD, head)
        latest, shares = whole_of(parts, "latest"), part_of(parts, "shares")
        before = part_of(parts, "told")
        asked = self.description
        self.description = self.plan.continued(before, asked, max(start, latest + 1))
        self.places = self.plan.places(before, asked)
        if not isinstance(shares, list) or not all(
            isinstance(share, list) and len(share) == 3 and all(is_whole(each, 0) for each in share) for share in shares
        ):
            raise refused("the shares of a shard", "their bits and sizes", "another thing")
        if not cover([Share(*share) for *share, _ in shares]):
            raise refused("the shares of a shard", "all of its keys, each once", "others")
        self.next, self.token, self.latest = whole_of(parts, "next", 0), typed_of(parts, "token", str), latest
        self.moment, self.watermark = typed_of(parts, "moment", float), watermark_of(parts)
        self.heads = {
            Share(*share): array_of(parts, f"bucket {k}", np.uint8).tobytes() for k, (*share, _) in enumerate(shares)
        }
        self.sizes = {Share(*share): size for *share, size in shares}
        self.former = set(self.heads)
        self.buckets = {}

    def work(self, bodies: Iterable[Body], watermark: int | None, store: ChunkStore) -> Iterator[ShardOutput]:
        """Take a batch, and answer what has ended where the watermark is now; ``head`` and ``seen`` are then its."""
        writer = ChunkWriter(store, self.next, self.limits.body)
        late, counts = 0, np.zeros(3, np.int64)  # answers, windows, keys
        with Waiting(self.limits.batch) as waiting:
            shares = sorted(self.heads, key=lambda share: share not in self.buckets)  # each is read once, if at all
            came = {shares[0]: self._in_order(bodies)}
            if len(shares) > 1:
                self._part(came.pop(shares[0]), shares, waiting)
            while shares:
                share = shares.pop(0)
                bucket = self._bucket(share, writer)
                operator, before = bucket.operator, bucket.operator.late_count
                mine, halves = came.pop(share, None) or waiting.of(share), None
                for body in mine:
                    bucket.take(body, writer)
                    yield from _aside(operator)
                    if bucket.in_memory > self.limits.bucket and (halves := self._split(bucket, writer)):
                        break
                    self._make_room(writer)
                if not halves:
                    bucket.finish(writer)
                    yield from _aside(operator)
                self.latest = max(self.latest, bucket.latest)
                if halves:
                    late += operator.late_count - before
                    self._part(mine, halves, waiting)
                    shares = halves + shares
                    continue
                for answers in operator.passing(watermark, self.limits):
                    counts[0] += answers.num_rows
                    yield ShardOutput(answers, operator.late())
                yield from _aside(operator)
                late += operator.late_count - before
                counts[1:] += operator.open_windows(), operator.open_keys()
                self.watermark = operator.watermark
                self._settle(bucket, writer)
                give_back()
        elapsed, self.moment = time.time() - self.moment if self.moment else 0.0, time.time()
        self._close(writer)
        size = len(self.head) + sum(self.sizes[share] for share in self.heads)
        self.seen = Seen(int(late), int(counts[0]), counts[0] / elapsed if elapsed > 0 else 0.0, int(counts[1]),
                         int(counts[2]), size)  # fmt: skip

    def _in_order(self, bodies: Iterable[Body]) -> Iterator[Body]:
        """Bodies, as many as fit memory at a time in one order whatever that in which they came."""
        chunk: list[Body] = []
        size = 0
        for body in bodies:
            if chunk and size + len(body.table) > self.limits.batch:
                yield from _drained(chunk)
                size = 0
            chunk.append(body)
            size += len(body.table)
        yield from _drained(chunk)

    def _part(self, bodies: Iterable[Body], shares: list[Share], waiting: Waiting) -> None:
        """Let bodies wait for their buckets; what is of no key goes to the first."""
        for body in bodies:
            if body.content in (CELLS, ROWS):
                for share, part in parted(self.plan.scheme, body, self.plan.shards, shares):
                    waiting.add(share, part)
            else:
                waiting.add(shares[0], body)

    # Buckets in memory

    def _bucket(self, share: Share, writer: ChunkWriter) -> Bucket:
        """A bucket, read again where it is not in memory; others leave it where there is no room."""
        bucket = self.buckets.pop(share, None)
        if bucket is not None:
            self.buckets[share] = bucket
            return bucket
        bucket = self.buckets[share] = self.plan.bucket(share, self.limits)
        self._make_room(writer)
        if self.heads[share]:
            bucket.restore(self.heads[share], writer, self.places if share in self.former else None)
        if since := {query["name"]: query["since"] for query in self.description["queries"] if query["since"]}:
            bucket.operator.since(since)
        return bucket

    def _make_room(self, writer: ChunkWriter) -> None:
        """Let buckets leave memory, those that were not used longest first, but never the last."""
        while len(self.buckets) > 1 and self.in_memory > self.limits.resident:
            bucket = self.buckets.pop(next(iter(self.buckets)))
            if not self.heads[bucket.share]:  # it was just made, as one of two
                self._write(bucket, writer)

    def _write(self, bucket: Bucket, writer: ChunkWriter) -> None:
        self.heads[bucket.share] = bucket.head(writer)
        self.sizes[bucket.share] = bucket.size
        self.former.discard(bucket.share)

    def _settle(self, bucket: Bucket, writer: ChunkWriter) -> None:
        """Write what a bucket has; one that is too large by now is split."""
        if bucket.in_memory > self.limits.bucket and (halves := self._split(bucket, writer)):
            for share in halves:
                self._write(self.buckets[share], writer)
        else:
            self._write(bucket, writer)

    def _split(self, bucket: Bucket, writer: ChunkWriter) -> list[Share] | None:
        """Have two buckets in the place of one; a single key that is too large for memory is an error."""
        halves = bucket.split(self.plan.shards, writer)
        if halves is None:
            if bucket.in_memory > self.limits.key:
                raise self._too_large(bucket)
            return None
        del self.heads[bucket.share], self.buckets[bucket.share]
        for each in halves:
            self.heads[each.share], self.buckets[each.share] = b"", each
        return [each.share for each in halves]

    def _too_large(self, bucket: Bucket) -> SashError:
        keys = [column[0].as_py() for column in bucket.operator.key_values()]
        named = ", ".join(f"{name} = {value!r}" for name, value in zip(self.plan.scheme.key_names, keys, strict=True))
        what, less = self.plan.words
        return SashError(
            f"the {what} of {f'the key {named}' if named else 'a stream without a key'} have about "
            f"{said(bucket.in_memory)}, for which a worker needs {said(EACH * bucket.in_memory)} and may use "
            f"{said(self.limits.memory)}: set sash.options.memory (or SASH_MEMORY), {less}"
        )

    def _close(self, writer: ChunkWriter) -> None:
        """Write the head."""
        writer.flush()
        self.next, self.token = writer.next, os.urandom(12).hex()
        self.head = packed(HEAD, {
            "told": self.description, "shares": [[*share, self.sizes[share]] for share in self.heads],
            "next": self.next, "token": self.token, "latest": self.latest,
            "moment": self.moment, "watermark": self.watermark,
            **{f"bucket {k}": np.frombuffer(head, np.uint8) for k, head in enumerate(self.heads.values())},
        })  # fmt: skip


def _drained(bodies: list[Body]) -> Iterator[Body]:
    bodies.sort(key=lambda each: each.task)
    while bodies:
        yield bodies.pop(0)


def _aside(operator: KeptOperator) -> Iterator[ShardOutput]:
    """The rows that were set aside, if any: they leave before their bucket may leave memory."""
    aside = operator.late()
    if aside.num_rows:
        yield ShardOutput(operator.answer_schema.empty_table(), aside)
