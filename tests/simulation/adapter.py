"""The one place where the simulation touches names of Sash: what tasks run, what they keep, and to which limits.

Everything here stands for Spark: a task that folds rows, a stateful task of a label, and how a body is read again.
"""

import os
import random
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from functools import lru_cache
from types import SimpleNamespace
from unittest.mock import patch

import pyarrow as pa
from pyspark import cloudpickle
from pyspark.sql import Row

from sash.engine.streams import log, logged, pieces, shard, shipping, windows
from sash.engine.streams import operator as operators
from sash.engine.streams.operator import Operator
from sash.engine.streams.scheme import Scheme
from sash.engine.streams.shard import Plan
from sash.engine.streams.sources import with_late
from sash.spark import shards, streaming
from sash.spark.passing import columns_of, narrowed, shown
from sash.spark.processor import Shards

SOON = True  # whether merging may go on forever and keys be mixed up: issue 19, 1, and the simulation's first find
MERGES = 200  # of runs in one batch: each makes fewer runs of some, and no shard here has that many


class Endless(AssertionError):
    """A batch has done more than any batch needs."""


@dataclass(frozen=True)
class Limits:
    """What a history draws: sizes at which Sash cuts, merges and forgets."""

    fan: int  # runs of a level that are merged
    few: int  # cells or rows that are not worth writing anew
    run: int  # bytes of a run of the log
    piece: int  # bytes of the core that are written together
    cells: int  # cells or rows of a body
    body: int  # bytes of a body
    gathered: int  # rows that are pushed at a time
    answers: int  # answers of a body
    answered: int  # bytes of a body of answers
    keys: int  # that are not worth forgetting

    @staticmethod
    def drawn(chance: random.Random, width: int, early: bool) -> "Limits":
        """Any limits, of which small ones are as likely as large ones; cuts of wide rows are not made too fine."""

        def size(least: int, most: int) -> int:
            return int(least * (most / least) ** chance.random())

        least = max(width // 8, 1)
        large = chance.random() < 0.5
        run = size(least, 1 << 25) if large else size(max(width, 600), 8 * max(width, 1000))
        return Limits(
            fan=chance.choice([2, 2, 2, 3, 4, 8]),
            few=chance.choice([0, 0, 4, 30, 1 << 12]),
            run=chance.choice([1, 1 << 25]) if SOON else run,
            piece=size(max(width, 40), 1 << 17),
            cells=size(1, 1 << 10),
            body=size(least, 1 << 25),
            gathered=size(1, 200),
            answers=size(1, 1000),
            answered=size(least, 1 << 25),
            keys=1024 if SOON and early else chance.choice([0, 1, 2, 1024]),
        )

    def patches(self) -> list[tuple[object, str, object]]:
        """Where they are."""
        return [
            (log, "FAN", self.fan), (log, "FEW", self.few), (log, "LARGE", self.run), (pieces, "PIECE", self.piece),
            (shipping, "MOST", self.cells), (shipping, "LARGE", self.body), (streaming, "GATHERED", self.gathered),
            (shards, "ROWS", self.answers), (shards, "LARGE", self.answered), (operators, "FEW", self.keys),
        ]  # fmt: skip


@dataclass(frozen=True, eq=False)
class Asked:
    """A board as workers know it."""

    sent: bytes
    names: tuple[str, ...]  # the columns that tasks are given
    schema: pa.Schema  # of what leaves
    labels: tuple[int, ...]


def asked(board, emit: str, late: bool, count: int, memory: int) -> Asked:
    """What a streaming DataFrame sends to its workers; see ``StreamingSource.results``."""
    settings = replace(board._scheme.settings, grows=True)
    operator = Operator(Scheme(board._scheme.schema, settings, board._scheme.queries), board._slicer, emit=emit)
    scheme, answers = operator.scheme, operator.answer_schema
    whole = late or scheme.kind == "delta"
    names = list(scheme.schema.names) if whole else columns_of(scheme)
    schema = with_late(answers.empty_table(), shown(operator.late())).schema if late else answers
    plan = Plan(scheme if whole else narrowed(scheme, names), operator.slicer, emit, False, count)
    sent = cloudpickle.dumps(shards.Sent(plan, scheme.delay, late, memory))
    return Asked(sent, tuple(names), schema, shards.labels(count))


def fold(ask: Asked, task: int, batches: Iterable[pa.RecordBatch]) -> Iterator[tuple[int, tuple]]:
    """What a task sends, each with its label."""
    _Context.task = task
    for batch in streaming._folds(ask.sent)(iter(batches)):
        for row in batch.to_pylist():
            yield row["label"], (row["task"], row["kind"], row["body"])


def work(ask: Asked, label: int, came: list[tuple] | None, moment: int, handle) -> Iterator[tuple]:
    """What a stateful task gives for a label: what an observer sees, or a body; without rows, a timer has fired."""
    processor = Shards(ask.sent)
    processor.init(handle)
    times = SimpleNamespace(getCurrentWatermarkInMs=lambda: moment)
    if came is None:
        found = processor.handleExpiredTimer((label,), times, None)
    else:
        rows = (Row(label=label, task=task, kind=kind, body=body) for task, kind, body in came)
        found = processor.handleInputRows((label,), rows, times)
    for row in found:
        yield (None, bytes(row["body"])) if row["late"] is None else (row.asDict(), None)


def read(ask: Asked, bodies: list[bytes]) -> list[dict]:
    """The rows of some bodies, as a sink is given them."""
    if not bodies:
        return []
    given = pa.RecordBatch.from_arrays([pa.array(bodies, pa.binary())], ["body"])
    return [row for batch in streaming._answers(ask.schema)(iter([given])) for row in batch.to_pylist()]


class _Context:
    """Stands for Spark's TaskContext."""

    task = 0

    @classmethod
    def get(cls):
        return cls

    @classmethod
    def partitionId(cls):
        return cls.task


class Counted:
    """How many merges a batch has made."""

    def __init__(self):
        self.merges = 0

    def around(self, condensed):
        def counting(operator, entries):
            self.merges += 1
            if self.merges > MERGES:
                raise Endless(f"a batch merged runs more than {MERGES} times")
            return condensed(operator, entries)

        return counting


opened = lru_cache(maxsize=None)(shards.opened.__wrapped__)
nothing = windows.Windows.none.func
nones: dict[int, tuple] = {}  # what no windows answer, by scheme: the same for each, and found slowly


def none(self):
    """The answers of no windows, found once."""
    if id(self.scheme) not in nones:
        nones[id(self.scheme)] = self.scheme, nothing(self)
    return nones[id(self.scheme)][1]


@contextmanager
def simulated(chance: random.Random, limits: Limits):
    """Sash with these limits, and without a clock or randomness of its own; gives how memory is swapped, and counts."""
    counted = Counted()
    clock = SimpleNamespace(now=1.7e9)

    def time():
        clock.now += 0.25
        return clock.now

    before = os.environ.get("SASH_THREADS")
    with ExitStack() as stack:
        for owner, name, value in limits.patches():
            stack.enter_context(patch.object(owner, name, value))
        for owner, name, value in [
            (shards, "_kept", {}), (shards, "opened", opened), (streaming, "opened", opened),
            (streaming, "TaskContext", _Context), (shard, "os", SimpleNamespace(urandom=chance.randbytes)),
            (shard, "time", SimpleNamespace(time=time)),
            (windows.Windows, "none", property(none)),
            (logged.Logged, "condensed", counted.around(logged.Logged.condensed)),
        ]:  # fmt: skip
            stack.enter_context(patch.object(owner, name, value))
        try:
            yield counted
        finally:
            os.environ.pop("SASH_THREADS", None)
            if before is not None:
                os.environ["SASH_THREADS"] = before


def remember(memory: dict) -> None:
    """Be the worker that has this in memory."""
    shards._kept = memory
