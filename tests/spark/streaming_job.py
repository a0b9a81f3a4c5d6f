"""A continuous query in a process of its own, for tests that kill it.

Rows come from the parquet files of a folder. Answers go to a file for each batch and process, so that a batch that
was done again can be compared with what it gave at first. A board has its own checkpoint.
"""

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from collections import defaultdict
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

import sash
from sash import Window
from sash import functions as sf
from sessions import HERE, PATIENCE, die_with_parent, session

START = datetime(2026, 1, 1, tzinfo=UTC)
SCHEMA = "ts timestamp, k string, v bigint"
WATERMARK = timedelta(seconds=20)
DISORDER = 9_000  # milliseconds to either side: two rows are never as far out of order as the watermark is behind
MASTER = {
    "spark.master": "local[2]",
    # a driver killed while it writes its very first offsets leaves half a file, for which Spark would refuse to start
    "spark.sql.streaming.verifyCheckpointDirectoryEmptyOnStart": "false",
}


def partials(stream):
    return stream.query(
        {"n": sf.count(), "peak": sf.max("v"), "mean": sf.avg("v")}, range="10 minutes", slide="1 minute"
    ).query("total", sf.sum("v"), range="90 seconds", slide="1 minute")


def rows(stream):
    return stream.query({"mid": sf.median("v"), "kinds": sf.count_distinct("v")}, range="5 minutes", slide="2 minutes")


def both(stream):
    return rows(partials(stream))


def sessions(stream):
    calls = {"n": sf.count(), "peak": sf.max("v"), "mean": sf.avg("v")}
    return stream.query(calls, range=sash.session("4 seconds"))


def sessions_of_rows(stream):
    return stream.query({"n": sf.count(), "mid": sf.median("v")}, range=sash.session("4 seconds"))


def many_keys(stream):
    return stream.query(
        {"n": sf.count(), "peak": sf.max("v"), "mean": sf.avg("v")}, range="10 seconds", slide="2 seconds"
    ).query("total", sf.sum("v"), range="30 seconds", slide="5 seconds")


BOARDS = {board.__name__: board for board in (partials, rows, both, sessions, sessions_of_rows, many_keys)}
BOARDS |= {"late_windows": many_keys, "late_sessions": sessions}
GIVEN_AGAIN = {"watermark": timedelta(seconds=2), "lateness": timedelta(minutes=10)}
SETTINGS = {"late_windows": GIVEN_AGAIN, "late_sessions": GIVEN_AGAIN}
BESIDE = "beside"  # columns beside the rows themselves, which leave one by one
BY_KEY = Window.partitionBy("k").orderBy("ts")
RECENT = BY_KEY.rangeBetween("-10 minutes", 0)
FOLLOWS = timedelta(seconds=5)
COLUMNS = {
    "n": sf.count().over(RECENT),
    "mid": sf.median("v").over(RECENT),
    "ahead": sf.max("v").over(BY_KEY.rangeBetween("-5 seconds", FOLLOWS)),
    "five": sf.sum("v").over(BY_KEY.orderBy("ts", "v").rowsBetween(-4, 0)),  # a table has rows of one time as they came
    "total": sf.sum("v").over(BY_KEY.rangeBetween(Window.unboundedPreceding, 0)),
    "number": sf.row_number().over(BY_KEY.orderBy("ts", "v")),
}


def events(count, seed, step=500):
    """Rows half a second apart, out of order and of keys that come and go, some without a value."""
    random = np.random.default_rng(seed)
    order = np.arange(count)
    millis = order * step + random.integers(-DISORDER, DISORDER, count)
    keys = order * 12 // count + random.integers(0, 5, count)
    values = pa.array(random.integers(0, 1000, count), mask=random.random(count) < 0.05)
    return pa.table({"ts": times(millis), "k": pa.array([f"k{key}" for key in keys]), "v": values})


def delayed(table):
    """The same rows, of which some come a few minutes after the watermark has passed them."""
    order = np.arange(table.num_rows)
    return table.take(np.argsort(order + np.where(order % 9 == 0, 800, 0), kind="stable"))


def times(millis):
    return pa.array(millis * 1000 + int(START.timestamp()) * 1_000_000, pa.timestamp("us", tz="UTC"))


def expected(board, table, last=None):
    """The answers of windows that have ended for a stream whose latest row is of that time."""
    ended = (last or pc.max(table["ts"]).as_py()) - SETTINGS.get(board, {}).get("watermark", WATERMARK)
    if board == BESIDE:
        found = sash.withColumns(table, COLUMNS)
        return in_order(found.filter(pc.less(found["ts"], ended - FOLLOWS)))
    found = BOARDS[board](sash.stream(table, time="ts", key="k")).results()
    return in_order(found.filter(pc.less_equal(found["window_end"], ended)))


def in_order(table):
    names = [name for name in ("window_end", "k", "revision", "ts", "v", "number") if name in table.column_names]
    return table.sort_by([(name, "ascending") for name in names])


@dataclass
class Job:
    """Queries on the files of a folder, and the process that runs them now."""

    folder: Path
    boards: tuple[str, ...]
    process: subprocess.Popen | None = None
    environment: dict[str, str] = field(default_factory=dict)

    def __enter__(self):
        for name in ("events", "scratch", *self.boards):
            (self.folder / name).mkdir(parents=True, exist_ok=True)
        return self

    def __exit__(self, *_):
        self.kill()

    def feed(self, table, files, first=0):
        """Write rows as so many files, which Spark takes in the order of their times of change."""
        size = -(-table.num_rows // files)
        for place in range(files):
            part = self.folder / "scratch" / "part"
            pq.write_table(table.slice(place * size, size), part)
            os.utime(part, (1e9 + first + place, 1e9 + first + place))
            part.rename(self.folder / "events" / f"{first + place:06d}.parquet")

    def start(self, conf=None, **how):
        """Run the queries in a process that leads a session of its own."""
        order = {"folder": str(self.folder), "boards": self.boards, "conf": MASTER | (conf or {}), **how}
        with (self.folder / "log").open("a") as log:
            self.process = subprocess.Popen(
                [sys.executable, __file__, json.dumps(order)],
                env=os.environ | HERE | self.environment,
                cwd=self.folder,
                stdout=log,
                stderr=log,
                start_new_session=True,
                preexec_fn=die_with_parent,
            )

    def finish(self):
        """Wait for the end of queries that end by themselves."""
        assert self.process.wait(PATIENCE) == 0, (self.folder / "log").read_text()[-20_000:]

    def wait_for(self, arrived):
        """Wait until something is so, or the process ends; says which."""
        deadline = time.monotonic() + PATIENCE
        while not arrived():
            assert time.monotonic() < deadline, (self.folder / "log").read_text()[-20_000:]
            if self.process.poll() is not None:
                return False
            time.sleep(0.02)
        return True

    def kill(self):
        """SIGKILL for the driver, its Java, and its Python workers, which are of a group of their own."""
        if self.process is None:
            return False
        alive = self.process.poll() is None
        while members := session_of(self.process.pid):
            for each in members:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(each, signal.SIGKILL)
            self.process.wait()
            time.sleep(0.02)
        self.process.wait()
        return alive

    def begun(self):
        return (self.folder / f"begun-{self.process.pid}").exists()

    def committed(self, board):
        """The last batch that Spark holds for done."""
        names = [path.name for path in (self.folder / board / "checkpoint" / "commits").glob("[0-9]*")]
        return max(map(int, names), default=-1)

    def lives(self, board):
        """The batches that each process answered, in the order in which they lived."""
        found = defaultdict(list)
        for path in sorted((self.folder / board).glob("*-*.parquet"), key=lambda path: path.stat().st_mtime_ns):
            batch, process = path.stem.split("-")
            found[process].append(int(batch))
        return list(found.values())

    def answers(self, board):
        """The answers of all batches; one that was done again must have given the same."""
        attempts = defaultdict(list)
        for path in (self.folder / board).glob("*-*.parquet"):
            attempts[int(path.stem.split("-")[0])].append(in_order(pq.read_table(path)))
        assert sorted(attempts) == list(range(len(attempts)))
        for batch, tables in attempts.items():
            assert all(table.equals(tables[0]) for table in tables), f"batch {batch} has changed"
        return in_order(pa.concat_tables(tables[0] for tables in attempts.values()))

    def progress(self, board):
        """What Spark said of each batch, as far as it was written before a process died."""
        lines = (self.folder / board / "progress").read_text().splitlines()
        return [json.loads(line) for line in lines if line.endswith("}")]


def session_of(leader):
    """The processes of a session, those that are dead and not yet waited for left out."""
    found = []
    for path in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            state, _, _, leads = (path / "stat").read_text().rpartition(")")[2].split()[:4]
            if int(leads) == leader and state not in "ZX":
                found.append(int(path.name))
    return found


def python_workers(leader):
    """The Python workers of a session: what Spark forks from its daemon."""
    parents = {}
    for pid in session_of(leader):
        with contextlib.suppress(OSError):
            if b"pyspark.daemon" in Path(f"/proc/{pid}/cmdline").read_bytes():
                parents[pid] = int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
    return [pid for pid, parent in parents.items() if parent in parents]


def start(spark, folder, board, trigger=None, files=None, keep=None):
    """A running query, whose answers are kept in a file for each batch."""
    folder = Path(folder)
    reader = spark.readStream.schema(SCHEMA)
    source = (reader.option("maxFilesPerTrigger", files) if files else reader).parquet(str(folder / "events"))
    results = answers(board, source)

    def write(batch, number):
        part = folder / "scratch" / f"{board}-{number}-{os.getpid()}"
        pq.write_table(batch.toArrow(), part)
        part.rename(folder / board / f"{number:06d}-{os.getpid()}.parquet")

    writer = results.writeStream.foreachBatch(keep(write) if keep else write)
    writer = writer.option("checkpointLocation", str(folder / board / "checkpoint"))
    return writer.trigger(**(trigger or {"availableNow": True})).start()


def answers(board, source):
    """What a query gives of a streaming DataFrame."""
    if board == BESIDE:
        return sash.withColumns(source, COLUMNS, watermark=WATERMARK)
    settings = SETTINGS.get(board, {"watermark": WATERMARK})
    return BOARDS[board](sash.stream(source, time="ts", key="k", **settings)).results()


def report(query, file, last):
    """Append what Spark says of batches behind the last one reported."""
    for progress in query.recentProgress:
        if progress.batchId > last and progress.observedMetrics:
            last = progress.batchId
            seen = next(iter(progress.observedMetrics.values())).asDict()
            file.write(json.dumps({"batch": last, "time": time.time(), "rows": progress.numInputRows, **seen}) + "\n")
    file.flush()
    return last


def run(order):
    """In the process of its own: run the queries until they end, or until some batches are answered."""
    folder = Path(order["folder"])
    spark = session(order["conf"] | {"spark.local.dir": str(folder / "scratch")})
    queries = [start(spark, folder, name, order.get("trigger"), order.get("files")) for name in order["boards"]]
    (folder / f"begun-{os.getpid()}").touch()
    last = dict.fromkeys(order["boards"], -1)
    with contextlib.ExitStack() as stack:
        reports = [stack.enter_context((folder / name / "progress").open("a")) for name in order["boards"]]
        running = True
        while running:
            running = any(query.isActive for query in queries)
            for name, query, file in zip(last, queries, reports, strict=True):
                last[name] = report(query, file, last[name])
            mine = len(list((folder / order["boards"][0]).glob(f"*-{os.getpid()}.parquet")))
            if mine >= order.get("stop_after", float("inf")):
                for query in queries:
                    query.stop()
            time.sleep(0.1)
    for query in queries:
        query.awaitTermination()  # raises what went wrong
    spark.stop()


if __name__ == "__main__":
    run(json.loads(sys.argv[1]))
