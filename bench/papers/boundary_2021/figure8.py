"""Figure 8: throughput inside an engine, by parallelism: max over the last 2^10 rows of each key, an answer a row.

The paper has Flink with and without PBA, 60 million readings of 84 plugs (DEBS 2014) on up to 6 cores, and 240 million
of 336 plugs on up to 6 machines. Here the engine is Spark with 1 and 2 cores (``local[1]``, ``local[2]``), and a
million readings are generated: 84 plugs, some a little busier. A query reads Parquet files, and its answers go to
Spark's noop sink. Spark answers by its own window function, with and without its segment tree; without it, from fewer
rows, as it recomputes each window. Sash answers by the algorithm that it chooses, and by pba, with the chunks of
Theorem 1 for each plug; a task of Spark has one core, so that pba has no second thread there.
"""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import sash
from bench.harness import Bench
from bench.peers._spark import consumed, session
from sash import functions as sf

TITLE = "Figure 8: throughput on top of Spark instead of Flink"
QUICK = False
PLUGS, SIZE, FILES = 84, 2**10, 8
TREE = "spark.sql.window.segmentTree.enabled"


def write(folder: str, rows: int) -> list[str]:
    """Files of readings, each of them all plugs over a stretch of time."""
    random = np.random.default_rng(2014)
    share = random.uniform(0.8, 1.2, PLUGS)
    paths = [str(Path(folder) / f"{k}.parquet") for k in range(FILES)]
    for k, path in enumerate(paths):
        columns = {
            "at": np.arange(k * rows // FILES, (k + 1) * rows // FILES),
            "plug": random.choice(PLUGS, rows // FILES, p=share / share.sum()),
            "load": np.round(random.gamma(1.5, 60.0, rows // FILES), 3),
        }
        pq.write_table(pa.table(columns), path)
    return paths


def by_sash(frame: Any, using: str | None) -> None:
    window = sash.Window.partitionBy("plug").orderBy("at").rowsBetween(1 - SIZE, 0)
    consumed(sash.withColumns(frame, {"most": sf.max("load").over(window, using=using)}))


def by_spark(frame: Any, tree: str) -> None:
    frame.sparkSession.conf.set(TREE, tree)
    consumed(frame.selectExpr("*", f"max(load) over (partition by plug order by at rows {SIZE - 1} preceding) as most"))


def cores_busy(task: Callable[[], Any]) -> float:
    """How many cores this process and all that it started keep busy while a task runs, on average."""
    before, start = cpu_seconds(), time.perf_counter()
    task()
    return (cpu_seconds() - before) / (time.perf_counter() - start)


def cpu_seconds() -> float:
    """Processor time of this process and of all that it started, ended ones included."""
    stats = {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):  # it may end meanwhile
            fields = path.read_text().rpartition(")")[2].split()
            stats[int(path.parent.name)] = int(fields[1]), sum(map(int, fields[11:15]))
    ours = {os.getpid()}
    while more := {pid for pid, (parent, _) in stats.items() if parent in ours} - ours:
        ours |= more
    return sum(stats[pid][1] for pid in ours) / os.sysconf("SC_CLK_TCK")


def run(bench: Bench) -> None:
    rows = bench.pick(1_000_000, 80_000)
    lines: dict[str, dict[int, float]] = {}
    with tempfile.TemporaryDirectory() as folder:
        paths = write(folder, rows)
        for cores in (1, 2):
            spark = session(spark__master=f"local[{cores}]")
            whole, part = spark.read.parquet(*paths), spark.read.parquet(paths[0])
            tasks = {
                "Sash": (lambda frame=whole: by_sash(frame, None), rows),
                "pba": (lambda frame=whole: by_sash(frame, "pba"), rows),
                "Spark, segment tree": (lambda frame=whole: by_spark(frame, "true"), rows),
                "Spark": (lambda frame=part: by_spark(frame, "false"), rows // FILES),
            }
            timings = bench.measure({name: task for name, (task, _) in tasks.items()}, f"{cores} cores")
            for name, timing in timings.items():
                lines.setdefault(name, {})[cores] = tasks[name][1] / timing.median / 1e6
            if cores == 1:
                busy = {name: cores_busy(task) for name, (task, _) in tasks.items()}
            spark.stop()
    bench.lines("Throughput on Spark, window 2^10, slide 1", {"": lines}, "cores", "million rows/s", xlog=False)

    ahead = {name: [lines["pba"][cores] / lines[name][cores] for cores in (1, 2)] for name in list(lines)[2:]}
    best = min(min(ratios) for ratios in ahead.values())
    bench.claim(
        "(a) Flink with PBA is above Flink at every parallelism",
        "pba over Spark at 1 and 2 cores: "
        + ", ".join(f"{a:.1f}x and {b:.1f}x {name}" for name, (a, b) in ahead.items())
        + f"; Sash, by its own choice, {lines['Sash'][1]:.2f} and {lines['Sash'][2]:.2f} million rows/s",
        best > 1,
        ", ".join(f"{name} {line[1]:.2f} and {line[2]:.2f} million rows/s" for name, line in lines.items()),
    )
    scaled = {name: line[2] / line[1] for name, line in lines.items()}
    bench.claim(
        "(a) throughput grows linearly while each instance has a core of its own",
        "two cores over one: " + ", ".join(f"{name} {ratio:.2f}x" for name, ratio in scaled.items()),
        min(scaled["pba"], scaled["Spark"]) > 1.5,
        "with one core for tasks, these keep so many cores busy, the JVM beside Python: "
        + ", ".join(f"{name} {cores:.2f}" for name, cores in busy.items())
        + f"; there are {os.cpu_count()}",
    )
    bench.claim("(b) throughput grows linearly with up to 6 machines", "not run", None, "there is one machine")
