"""A shard: the part of a stream that one stateful task keeps, for all of its keys, as chunks of bytes.

A batch comes as bodies; answers leave, and with them the chunks to be written or dropped: runs of the log, what
changed of the rest, and the head, which says what there is. A head names its content by a token, so that a shard
that is still in memory is known to be the one that was kept, or not.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from sash.engine.streams.axes import LEAST
from sash.engine.streams.history import continued, described
from sash.engine.streams.lateness import missed_by
from sash.engine.streams.log import Log, Run, Writing
from sash.engine.streams.logged import Logged
from sash.engine.streams.packing import packed, table_of, unpacked
from sash.engine.streams.partials import AT
from sash.engine.streams.pieces import Pieces
from sash.engine.streams.scheme import Scheme
from sash.engine.streams.shipping import CELLS, LATEST, MALFORMED, ROWS, TALLY, Body

HEAD, TOLD = "head", "told"


@dataclass(frozen=True)
class Plan:
    """What all shards of a stream know."""

    scheme: Scheme
    slicer: str
    emit: str
    starts: bool
    shards: int
    computed: tuple[tuple[str, str], ...] = ()  # columns that were computed before, by name


class Seen(NamedTuple):
    """What an observer sees of a shard."""

    late: int
    answers: int
    rate: float  # answers a second, since the batch before
    windows: int
    keys: int
    size: int


@dataclass(frozen=True)
class Done:
    """What a batch did: answers, what was set aside, and the chunks that are to be written and dropped."""

    answers: pa.Table
    late: pa.Table
    head: bytes
    put: dict[int, bytes]
    drop: list[int]
    seen: Seen


class Shard:
    """The state of a shard, and what it does with a batch."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self.operator = Logged(plan.scheme, plan.slicer, emit=plan.emit, starts=plan.starts)
        self.told = described(plan.scheme, plan.emit, plan.shards, dict(plan.computed))
        self.log, self.pieces = Log(self.operator), Pieces()
        self.next = 0  # the number of the next chunk
        self.token = ""
        self.latest = LEAST  # the time of the latest row that came
        self.moment = 0.0  # when the last batch was done, in seconds since 1970
        self.size = 0  # bytes that are kept

    @staticmethod
    def token_of(head: bytes) -> str:
        """What names the content that a head is of."""
        return str(unpacked(HEAD, head)["token"])

    def restore(self, head: bytes, read: Callable[[int], bytes], start: int) -> None:
        """Go on with what was kept, given its head and how a chunk is read.

        Queries that are new answer windows that begin at ``start`` or later, and after all rows that came so far.
        """
        parts = unpacked(HEAD, head)
        self.next, self.token, self.latest, self.moment = (
            parts[name] for name in ("next", "token", "latest", "moment")
        )
        core = self.pieces.read(parts["pieces"], parts["core"].tobytes(), read)
        self.told = continued(core.pop(TOLD), self.told, max(start, self.latest + 1))
        self.operator.recover(core)
        self.operator.since({query["name"]: query["since"] for query in self.told["queries"] if query["since"]})
        self.log.restore([Run(*run) for run in parts["runs"]], read)

    def work(self, bodies: Iterable[Body], watermark: int | None, read: Callable[[int], bytes]) -> Done:
        """Take a batch, and answer what has ended where the watermark is now."""
        operator, before = self.operator, self.operator.late_count
        entries = [entry for body in bodies if (entry := self._take(body)) is not None and entry.num_rows]
        answers = operator.due() if watermark is None else operator.advance(watermark)
        late = operator.late()
        writing = Writing(self.next)
        self.log.add(entries, writing, read)
        core = self.pieces.write({TOLD: self.told, **operator.core()}, writing)
        head = self._head(core, writing)
        elapsed, self.moment = time.time() - self.moment if self.moment else 0.0, time.time()
        rate = answers.num_rows / elapsed if elapsed > 0 else 0.0
        self.size = len(head) + self.log.size + self.pieces.size
        seen = Seen(operator.late_count - before, answers.num_rows, rate, operator.open_windows(),
                    operator.open_keys(), self.size)  # fmt: skip
        return Done(answers, late, head, writing.put, writing.drop, seen)

    def _take(self, body: Body) -> pa.Table | None:
        """Take a body; gives what the log must hold of it."""
        if body.kind == CELLS:
            cells = table_of(body.table)
            self.latest = max(self.latest, int(cells.schema.metadata[LATEST.encode()]))
            return self.operator.take(cells.replace_schema_metadata(None))
        if body.kind == ROWS:
            entry = self.operator.add_rows(table_of(body.table))
            self.latest = max([self.latest, *([int(entry[AT].to_numpy().max())] if entry.num_rows else [])])
            return entry
        if body.kind == TALLY:
            self.operator.late_count += self._late_of(table_of(body.table))
        return None

    def _head(self, core: bytes, writing: Writing) -> bytes:
        self.next, self.token = writing.next, os.urandom(12).hex()
        return packed(HEAD, {
            "runs": [list(run) for run in self.log.runs], "pieces": self.pieces.known,
            "core": np.frombuffer(core, np.uint8), "next": self.next, "token": self.token, "latest": self.latest,
            "moment": time.time(),
        })  # fmt: skip

    def _late_of(self, tally: pa.Table) -> int:
        """How many rows had no time, or missed a window; all rows of a slice miss the same."""
        malformed = int(tally.schema.metadata[MALFORMED.encode()])
        upto, at = self.operator.ended, tally[AT].to_numpy()
        if upto is None or not len(at):
            return malformed
        behind = at < upto
        last = tally["last"].to_numpy()[behind] if self.plan.scheme.spans else None
        missed, _ = missed_by(self.plan.scheme, at[behind], upto, self.operator.least_starts, last)
        return malformed + int(tally["rows"].to_numpy()[behind][missed != ""].sum())
