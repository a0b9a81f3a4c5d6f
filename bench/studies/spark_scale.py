"""Window functions on Spark over tens of millions of rows: with keys, without, and with one key that has half of them.

Four million rows of Parquet, as many times as it takes, each with orders of its own; to Spark's noop sink, a text
carried along. Sash looks for hot keys, and leaves nothing to Spark's own operator. Seconds are of one run each, the
largest last, after one over the smallest: how they grow is the exponent of a fit over four sizes. Memory is the largest
resident set of the driver, of the JVM and of any Python worker, looked at five times a second while the largest runs;
spill is what Spark says that its shuffles wrote to disk for want of memory. ``SASH_SCALE_ROWS`` takes other sizes than
32 million.
"""

from __future__ import annotations

import os
import threading
from functools import partial
from pathlib import Path
from time import perf_counter
from unittest.mock import patch

from pyspark.sql import functions as F

import sash
from bench.harness import growth
from bench.harness.machine import descendants
from bench.peers._spark import consumed, session, stored
from bench.peers.spark import trades
from sash import Window, options
from sash import functions as sf
from sash.spark import native

TITLE = "Window functions on Spark over many rows"
QUICK = False
ROWS = int(os.environ.get("SASH_SCALE_ROWS", 32_000_000))
PAUSE = 0.2


def multiplied(base, times):
    """The rows so many times, each time between one another; half of them of one key."""
    copies = F.explode(F.sequence(F.lit(0), F.lit(times - 1)))
    more = base.withColumn("copy", copies).withColumn("at", F.col("at") * times + F.col("copy")).drop("copy")
    return more.withColumn("hot", F.when(F.col("at") % 2 == 0, F.lit(0)).otherwise(F.col("user")))


CASES = {
    "sliding max, 16 keys": (sf.max("price"), Window.partitionBy("few").orderBy("at").rowsBetween(-999, 0)),
    "sliding max, no PARTITION BY": (sf.max("price"), Window.orderBy("at").rowsBetween(-999, 0)),
    "running sum, no PARTITION BY": (sf.sum("price"), Window.orderBy("at").rowsBetween(Window.unboundedPreceding, 0)),
    "sliding max, one hot key": (sf.max("price"), Window.partitionBy("hot").orderBy("at").rowsBetween(-999, 0)),
}


class Memory:
    """The largest resident sets while something runs, in MiB."""

    def __init__(self):
        self.most = {"driver": 0.0, "JVM": 0.0, "worker": 0.0}
        self.done = threading.Event()

    def __enter__(self):
        self.thread = threading.Thread(target=self.look)
        self.thread.start()
        return self.most

    def __exit__(self, *_):
        self.done.set()
        self.thread.join()

    def look(self):
        while not self.done.wait(PAUSE):
            for pid in descendants(os.getpid()):
                try:
                    status = Path(f"/proc/{pid}/status").read_text()
                except OSError:
                    continue
                size = next((int(line.split()[1]) / 1024 for line in status.splitlines() if "VmRSS" in line), 0.0)
                what = "driver" if pid == os.getpid() else "JVM" if "Name:\tjava" in status else "worker"
                self.most[what] = max(self.most[what], size)


def spilled():
    """Bytes that shuffles wrote to disk for want of memory, of all stages so far."""
    java = session().sparkContext._gateway
    nothing = False, False, java.new_array(java.jvm.double, 0), java.jvm.java.util.ArrayList()
    stages = session()._jsparkSession.sparkContext().statusStore().stageList(None, *nothing)
    return sum(stages.apply(place).diskBytesSpilled() for place in range(stages.size()))


def run(bench):
    rows = bench.pick(ROWS, 64_000)
    sizes = [rows // 8, rows // 4, rows // 2, rows]
    base = session().read.parquet(str(stored(f"trades-{sizes[0]}-16", partial(trades, sizes[0]), 16)))
    lines, memory = [], []
    for name, (call, window) in CASES.items():
        took = {}
        for size in (sizes[0], *sizes):  # the first is for warmth alone
            before = spilled()
            with Memory() as most:
                begun = perf_counter()
                with options.set(skew=True), patch.multiple(native, ONE_TASK=0, FEW=0):
                    answered = sash.withColumns(multiplied(base, size // sizes[0]), {"answer": call.over(window)})
                consumed(answered)
                took[size] = perf_counter() - begun
        memory.append([name, *most.values(), (spilled() - before) / 2**20])
        lines.append([name, growth(took), *took.values()])
        bench.record(f"time of {name} by rows", growth(took), "exponent")
    bench.table("time grows as rows^exponent; seconds", ["", "exponent", *(f"{size:,} rows" for size in sizes)], lines)
    head = ["MiB", "driver", "JVM", "a Python worker", "spilled by shuffles"]
    bench.table(f"{rows:,} rows: peaks of memory", head, memory)
