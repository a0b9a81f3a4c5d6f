"""The one place where the simulation touches names of Sash: what tasks run, what they keep, and to which limits.

Everything here stands for Spark: a task that folds rows, a stateful task of a label, and how a body is read again.
"""

import os
import random
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from functools import cache
from types import SimpleNamespace
from unittest.mock import patch

import pyarrow as pa

from sash import SashError
from sash.engine.row_streams.row_log import RowLog
from sash.engine.row_streams.row_operator import RowOperator
from sash.engine.row_streams.row_scheme import RowScheme
from sash.engine.row_streams.row_shards import RowShardPlan
from sash.engine.streams import logged, shard, state
from sash.engine.streams.limits import Limits
from sash.engine.streams.operator import Operator
from sash.engine.streams.scheme import Scheme
from sash.engine.streams.shard import ShardPlan
from sash.engine.streams.sources import with_late
from sash.spark import shards, streaming_boards, unpacking
from sash.spark.passing import columns_of, narrowed, shown
from sash.spark.processor import Shards

MERGES = 200  # of runs in one batch: each leaves fewer runs, and no shard here has that many
TOO_LARGE = ("the open windows of ", "the rows of ")  # how the sentence begins that says that a key does not fit memory


class Endless(AssertionError):
    """A batch has done more than any batch needs."""


@dataclass(frozen=True)
class Drawn:
    """What a history draws: sizes at which Sash cuts, merges, splits and forgets."""

    limits: Limits
    keys: int  # that are not worth forgetting


def drawn(chance: random.Random, width: int) -> Drawn:
    """Any limits, of which small ones are as likely as large ones; cuts of wide rows are not made too fine."""

    def size(least: int, most: int) -> int:
        return int(least * (most / least) ** chance.random())

    least = max(width // 8, 1)
    limits = Limits(
        memory=chance.choice([1 << 31, size(40 * (width + 100), 1000 * (width + 100))]),
        rows=size(1, 1000),
        body=chance.choice([size(least, 1 << 25), size(max(width, 600), 4 * max(width, 1000))]),
        answers=size(1, 1000),
        piece=size(max(width, 40), 1 << 17),
        fan=chance.choice([2, 2, 2, 3, 4, 8]),
        few=chance.choice([0, 0, 4, 30, 1 << 12]),
    )
    return Drawn(limits, chance.choice([0, 1, 2, 1024]))


@dataclass(frozen=True, eq=False)
class Asked:
    """A board as workers know it."""

    sent: bytes
    names: tuple[str, ...]  # the columns that tasks are given
    schema: pa.Schema  # of what leaves
    labels: tuple[int, ...]


def asked(board, emit: str, late: bool, count: int) -> Asked:
    """What a streaming DataFrame sends to its workers; see ``StreamingSource.results``."""
    settings = replace(board._scheme.settings, grows=True)
    operator = Operator(Scheme(board._scheme.schema, settings, board._scheme.queries), board._slicer, emit=emit)
    scheme, answers = operator.scheme, operator.answer_schema
    whole = late or scheme.kind == "delta"
    names = list(scheme.schema.names) if whole else columns_of(scheme)
    schema = with_late(answers.empty_table(), shown(operator.late())).schema if late else answers
    plan = ShardPlan(scheme if whole else narrowed(scheme, names), operator.slicer, emit, False, count)
    sent = shards.Sent(plan, scheme.delay, late, None).packed()
    return Asked(sent, tuple(names), schema, shards.labels(count))


def asked_beside(scheme: RowScheme, late: bool, count: int) -> Asked:
    """The same of columns beside rows; see ``sash.spark.streaming_rows``."""
    rows = RowOperator(scheme)
    schema = with_late(rows.answer_schema.empty_table(), shown(rows.late())).schema if late else rows.answer_schema
    plan = RowShardPlan(scheme, count, tuple((name, str(over)) for name, over in scheme.columns.items()))
    sent = shards.Sent(plan, scheme.stream.delay, late, None).packed()
    return Asked(sent, tuple(scheme.schema.names), schema, shards.labels(count))


def fold(ask: Asked, task: int, batches: Iterable[pa.RecordBatch]) -> Iterator[tuple[int, tuple]]:
    """What a task sends, each with its label."""
    _Context.task = task
    for batch in streaming_boards._folds(ask.sent, "slices")(iter(batches)):
        for row in batch.to_pylist():
            yield row["label"], (row["task"], row["kind"], row["body"])


def work(ask: Asked, label: int, came: list[list[tuple]] | None, moment: int, handle) -> Iterator[tuple]:
    """What a stateful task gives for a label: what an observer sees, and a body or None.

    What came is in frames, as Spark cuts them; without any, a timer has fired.
    """
    processor = Shards(ask.sent)
    processor.init(handle)
    times = SimpleNamespace(getCurrentWatermarkInMs=lambda: moment)
    if came is None:
        found = processor.handleExpiredTimer((label,), times, None)
    else:
        frames = (dict(zip(("task", "kind", "body"), zip(*frame, strict=True), strict=True)) for frame in came)
        found = processor.handleInputRows((label,), frames, times)
    for frame in found:
        for values in zip(*frame.values(), strict=True):
            row = dict(zip(frame, values, strict=True))
            yield row, row.pop("body")


def read(ask: Asked, bodies: list[bytes]) -> list[dict]:
    """The rows of some bodies, as a sink is given them."""
    if not bodies:
        return []
    given = pa.RecordBatch.from_arrays([pa.array(bodies, pa.binary())], ["body"])
    return [row for batch in unpacking.unpacking(ask.schema, "answers")(iter([given])) for row in batch.to_pylist()]


def is_too_large(error: Exception) -> bool:
    """Whether Sash refuses a key that does not fit memory."""
    return isinstance(error, SashError) and str(error).startswith(TOO_LARGE)


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


opened = cache(shards.opened.__wrapped__)


@contextmanager
def one_thread():
    """Kernels on the thread that calls them; patch.dict would copy the whole environment for each history."""
    before = os.environ.get("SASH_THREADS")
    os.environ["SASH_THREADS"] = "1"
    try:
        yield
    finally:
        del os.environ["SASH_THREADS"]
        os.environ |= {} if before is None else {"SASH_THREADS": before}


@contextmanager
def simulated(chance: random.Random, draw: Drawn):
    """Sash with these limits, and without a clock or randomness of its own; gives what it counts."""
    counted = Counted()
    clock = SimpleNamespace(now=1.7e9)

    def time():
        clock.now += 0.25
        return clock.now

    with ExitStack() as stack:
        stack.enter_context(one_thread())
        for owner, name, value in [
            (shards.Sent, "limits", draw.limits), (state, "FEW", draw.keys), (shards, "_kept", {}),
            (shards, "opened", opened), (streaming_boards, "opened", opened),
            (streaming_boards, "TaskContext", _Context),
            (shard, "os", SimpleNamespace(urandom=chance.randbytes)), (shard, "time", SimpleNamespace(time=time)),
            (shards, "pd", SimpleNamespace(DataFrame=dict)),  # which takes a third of the time otherwise
            (logged.LoggedOperator, "condensed", counted.around(logged.LoggedOperator.condensed)),
            (RowLog, "condensed", counted.around(RowLog.condensed)),
        ]:  # fmt: skip
            stack.enter_context(patch.object(owner, name, value))
        yield counted


def remember(memory: dict) -> None:
    """Be the worker that has this in memory."""
    shards._kept = memory
