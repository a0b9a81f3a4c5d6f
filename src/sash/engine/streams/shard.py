"""A shard: the part of a stream that one stateful task keeps, for all of its keys, as chunks of bytes.

A batch comes as bodies; answers leave, and with them the chunks to be written or dropped: an entry of the log, what
changed of the core, and the head, which says what there is. A head names its content by a token, so that a shard
that is still in memory is known to be the one that was kept, or not.
"""

from __future__ import annotations

import hashlib
import os
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from sash.engine.streams.history import continued, described
from sash.engine.streams.lateness import missed_by
from sash.engine.streams.logged import Logged
from sash.engine.streams.packing import packed, table_bytes, table_of, unpacked
from sash.engine.streams.scheme import Scheme
from sash.engine.streams.shipping import CELLS, MALFORMED, ROWS, TALLY, Body

HEAD = "head"
PIECE = 1 << 16  # bytes of the core that are written together
FEW = 1 << 12  # cells or rows that are not worth writing anew


@dataclass(frozen=True)
class Plan:
    """What all shards of a stream know."""

    scheme: Scheme
    slicer: str
    emit: str
    starts: bool
    shards: int
    computed: tuple[tuple[str, str], ...] = ()  # columns that were computed before, by name


class Run(NamedTuple):
    """An entry of the log as it was written: its number, its rows and bytes, when it may go, and if it is of cells."""

    number: int
    rows: int
    size: int
    lapses: int
    cells: bool


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
        self.runs: list[Run] = []
        self.pieces: list[str] = []  # digests of the core's
        self.size = 0  # bytes that are kept
        self.next = 0
        self.token = ""
        self.moment = 0.0  # when the last batch was done, in seconds since 1970

    @staticmethod
    def token_of(head: bytes) -> str:
        """What names the content that a head is of."""
        return str(unpacked(HEAD, head)["token"])

    def restore(self, head: bytes, chunk: Callable[[int], bytes], start: int) -> None:
        """Go on with what was kept, given its head and how a chunk is read.

        Queries that are new answer windows that begin at ``start``, after all that came so far, or later.
        """
        parts = unpacked(HEAD, head)
        self.told = continued(parts["told"], self.told, start)
        self.runs = [Run(*run) for run in parts["runs"]]
        self.pieces, self.next, self.token = parts["pieces"], parts["next"], parts["token"]
        self.moment = parts["moment"]
        pieces = [chunk(-1 - k) for k in range(len(self.pieces))]
        core = b"".join(pieces) if pieces else parts["core"].tobytes()
        self.operator.recover(core)
        for run in self.runs:
            self.operator.replay(table_of(chunk(run.number)))
        self.operator.since({query["name"]: query["since"] for query in self.told["queries"] if query["since"]})

    def work(self, bodies: Iterable[Body], watermark: int | None) -> Done:
        """Take a batch, and answer what has ended where the watermark is now."""
        operator, before = self.operator, self.operator.late_count
        entries = []
        for body in bodies:
            if body.kind == CELLS:
                entries.append(operator.add_cells(table_of(body.table)))
            elif body.kind == ROWS:
                entries.append(operator.add_rows(table_of(body.table)))
            elif body.kind == TALLY:
                operator.late_count += self._late_of(table_of(body.table))
        answers = operator.due() if watermark is None else operator.advance(watermark)
        late = operator.late()
        put, drop = self._logged([entry for entry in entries if entry.num_rows])
        core = operator.core()
        small = len(core) <= PIECE  # then it goes with the head
        put |= self._pieces(b"" if small else core, drop)
        self.token, before_that, self.moment = os.urandom(12).hex(), self.moment, time.time()
        head = packed(HEAD, {"told": self.told, "runs": [list(run) for run in self.runs], "pieces": self.pieces,
                             "core": np.frombuffer(core if small else b"", np.uint8), "next": self.next,
                             "token": self.token, "moment": self.moment})  # fmt: skip
        self.size = len(head) + (0 if small else len(core)) + sum(run.size for run in self.runs)
        rate = answers.num_rows / max(self.moment - before_that, 1e-3) if before_that else 0.0
        late_rows, windows, keys = operator.late_count - before, operator.open_windows(), operator.open_keys()
        seen = Seen(late_rows, answers.num_rows, rate, windows, keys, self.size)
        return Done(answers, late, head, put, drop, seen)

    def _late_of(self, tally: pa.Table) -> int:
        """How many rows had no time, or missed a window; all rows of a slice miss the same."""
        malformed = int(tally.schema.metadata[MALFORMED.encode()])
        watermark, at = self.operator.watermark, tally["at"].to_numpy()
        if watermark is None or not len(at):
            return malformed
        behind = at < watermark
        missed, _ = missed_by(self.plan.scheme, at[behind], watermark)
        return malformed + int(tally["rows"].to_numpy()[behind][missed != ""].sum())

    def _logged(self, entries: list[pa.Table]) -> tuple[dict[int, bytes], list[int]]:
        """What the log has to write and to drop after a batch; all of it anew where most of it is old."""
        reached, live = self.operator.reached, self.operator.live()
        kept = [run for run in self.runs if run.lapses > reached]
        new = pa.concat_tables(entries, promote_options="default") if entries else None
        if new is not None and self.operator.lapses(new) <= reached:
            new = None
        old = [run for run in kept if run.cells != self.operator.by_cells]  # lapse by themselves
        rows = sum(run.rows for run in kept if run not in old) + (new.num_rows if new is not None else 0)
        if rows > 2 * live + FEW:
            kept, new = old, self.operator.everything()
        drop = [run.number for run in self.runs if run not in kept]
        put = {}
        if new is not None and new.num_rows:
            body = table_bytes(new)
            run = Run(self.next, new.num_rows, len(body), self.operator.lapses(new), self.operator.by_cells)
            kept = [*kept, run]
            put[self.next] = body
            self.next += 1
        self.runs = kept
        return put, drop

    def _pieces(self, core: bytes, drop: list[int]) -> dict[int, bytes]:
        """The pieces of the core that changed."""
        bodies = [core[at : at + PIECE] for at in range(0, len(core), PIECE)]
        digests = [hashlib.blake2b(body, digest_size=8).hexdigest() for body in bodies]
        known = [*self.pieces, *[""] * len(bodies)]
        put = {-1 - k: bodies[k] for k, digest in enumerate(digests) if digest != known[k]}
        drop += [-1 - k for k in range(len(bodies), len(self.pieces))]
        self.pieces = digests
        return put
