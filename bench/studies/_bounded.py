"""Streams of many rows that are made as they are read, and a shard's store on disk: what is in memory is Sash's."""

from __future__ import annotations

import gc
import shutil
from functools import partial
from pathlib import Path

import numpy as np
import pyarrow as pa

import sash
from sash import functions as sf
from sash.engine.streams.bounded import answer_partials, answer_rows, fold
from sash.engine.streams.operator import Operator
from sash.engine.streams.shard import Shard, ShardPlan
from sash.engine.streams.shipping import Body, Shipping

SCHEMA = pa.schema({"ts": pa.timestamp("us"), "k": pa.string(), "v": pa.int64(), "w": pa.string()})
ARRIVING = 10_000  # rows of a batch as Spark gives it, at most
ALL = 1 << 21  # and its bytes
END = 10**15


def board(calls, length="60 seconds", slide="1 second"):
    return sash.stream(SCHEMA, time="ts", key="k", watermark="0 seconds").query(calls, range=length, slide=slide)


BOARDS = {
    "partials": lambda: board({"n": sf.count(), "mean": sf.avg("v"), "most": sf.max("v")}),
    "rows": lambda: board({"mid": sf.median("v"), "all": sf.max("w")}, "60 seconds", "20 seconds"),
    "lists": lambda: board({"all": sf.collect_list("w")}, "60 seconds", "30 seconds"),
    "counted": lambda: board({"n": sf.sum("v"), "mid": sf.median("v")}, 50, 10),
}


def events(rows, keys=1000, width=20, seed=0, step=None):
    """Tables of rows in about their order, of some keys and with texts of some width."""
    random, step = np.random.default_rng(seed), step or max(300_000_000 // rows, 1)
    size = max(min(ARRIVING, ALL // (width + 30)), 1)
    for start in range(0, rows, size):
        at = np.arange(start, min(start + size, rows))
        texts = [f"{place:x}".ljust(width, "x") for place in at.tolist()]
        yield pa.table({
            "ts": pa.array(at * step + random.integers(0, 1000, len(at)), pa.timestamp("us")),
            "k": pa.array([f"key {key}" for key in random.integers(0, keys, len(at))]),
            "v": random.integers(0, 1000, len(at)),
            "w": texts,
        }, schema=SCHEMA)  # fmt: skip


class Files:
    """A store in a folder: what a batch does there is done as a whole, or not."""

    def __init__(self, folder):
        self.folder, self.pending, self.gone = Path(folder), {}, set()
        self.folder.mkdir(parents=True, exist_ok=True)

    def _path(self, number):
        return self.folder / str(number)

    def read(self, number):
        return self._path(number).read_bytes() if number not in self.pending else self.pending[number].read_bytes()

    def write(self, number, body):
        self.pending[number] = self.folder / f"{number}.new"
        self.pending[number].write_bytes(body)

    def remove(self, number):
        if number in self.pending:
            self.pending.pop(number).unlink()
        else:
            self.gone.add(number)

    @property
    def head(self):
        path = self.folder / "head"
        return path.read_bytes() if path.exists() else b""

    def commit(self, head):
        for number, path in self.pending.items():
            path.rename(self._path(number))
        for number in self.gone:
            self._path(number).unlink()
        self.pending, self.gone = {}, set()
        (self.folder / "head").write_bytes(head)


class Run:
    """A board of one shard whose bodies, state and answers are files of a folder."""

    def __init__(self, name, folder, limits, emit="final", late=False):
        self.board, self.folder, self.limits, self.late = BOARDS[name](), Path(folder), limits, late
        scheme, self.emit = self.board._scheme, emit
        self.plan = ShardPlan(scheme, self.board._slicer, emit, False, 1)
        self.store = Files(self.folder / "store")
        self.shard = None

    def fold(self, tables, batch=0):
        """Fold and ship rows; the bodies are files."""
        place = self.folder / f"batch {batch}"
        shutil.rmtree(place, ignore_errors=True)
        place.mkdir(parents=True)
        shipping = Shipping(self.plan.scheme, self.plan.slicer, 1, self.late, self.limits)
        for k, body in enumerate(shipping.bodies(tables)):
            (place / f"{k:06} {body.content}").write_bytes(body.table)

    def bodies(self, batch=0):
        for path in sorted((self.folder / f"batch {batch}").iterdir()):
            yield Body(0, int(path.name.split()[1]), path.read_bytes())

    def work(self, batch=None, watermark=None):
        """Take a batch, or none, into the shard that is in memory, else one that is restored."""
        if self.shard is None:
            self.shard = Shard(self.plan, self.limits)
            if head := self.store.head:
                self.shard.restore(head, 10)
        bodies = self.bodies(batch) if batch is not None else ()
        self._write(f"answers {batch} {watermark}", (each.answers for each in self.shard.work(bodies, watermark,
                                                                                             self.store)))  # fmt: skip
        self.store.commit(self.shard.head)

    def restart(self):
        """Forget all that is not kept."""
        self.shard, self.store = None, Files(self.store.folder)

    def whole(self, tables):
        """Answer a batch that ends: what Spark's tasks do, all in this one."""
        opened = partial(Operator, self.plan.scheme, self.plan.slicer, emit=self.emit, arrival=False)
        if self.plan.scheme.buffered or self.plan.scheme.kind != "time":
            self._write("whole", (answers for answers, _ in answer_rows(tables, opened, self.limits)))
            return
        place = self.folder / "partials"
        place.mkdir(parents=True, exist_ok=True)
        written = 0
        for table in fold(tables, opened, self.limits):
            for batch in table.to_batches(max_chunksize=ARRIVING):
                with pa.OSFile(str(place / f"{written:06}"), "wb") as file, pa.ipc.new_stream(file, batch.schema) as to:
                    to.write_batch(batch)
                written += 1
        read = (pa.ipc.open_stream(path.read_bytes()).read_all() for path in sorted(place.iterdir()))
        self._write("whole", answer_partials(read, opened, self.limits))

    def _write(self, name, tables):
        schema = Operator(self.plan.scheme, self.plan.slicer, emit=self.emit).answer_schema
        with pa.OSFile(str(self.folder / name), "wb") as file, pa.ipc.new_stream(file, schema) as to:
            for table in tables:
                to.write_table(table)

    def answers(self):
        """All answers by name, in one order."""
        found = {}
        for path in sorted(self.folder.iterdir()):
            if path.is_file():
                table = pa.ipc.open_stream(path.read_bytes()).read_all()
                name = "whole" if path.name == "whole" else "streamed"
                found[name] = pa.concat_tables([*([found[name]] if name in found else []), table])
        return {name: sorted(map(repr, table.to_pylist())) for name, table in found.items()}


class Peak:
    """Bytes beyond what there was before, at the peak of a ``with`` block."""

    def __enter__(self):
        gc.collect()
        pa.default_memory_pool().release_unused()
        Path("/proc/self/clear_refs").write_text("5")
        self.before, self.bytes = status("VmRSS"), 0
        self.mapped, self.grown = status("VmSize"), 0
        return self

    def __exit__(self, *_):
        self.bytes = status("VmHWM") - self.before


def status(name):
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(name + ":"):
            return int(line.split()[1]) << 10
    raise LookupError(name)
