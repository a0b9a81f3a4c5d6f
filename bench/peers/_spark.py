"""A session with two cores, and data in Parquet files that stays from run to run."""

from __future__ import annotations

import hashlib
import inspect
import os
import shutil
import sys
from functools import cache

os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")

import pyarrow.parquet as pq
from pyspark.sql import SparkSession

from bench.harness.machine import HOME
from sash.spark.java import ensure_java

FOLDER = HOME / "out" / "bench" / "spark"
STORE = "spark.sql.streaming.stateStore"


@cache
def session(**options):
    """Two cores, 6 GB, Spark's segment tree on, and for streams its best store of state."""
    ensure_java()
    conf = {
        "spark.master": "local[2]",
        "spark.driver.memory": "6g",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.local.dir": str(FOLDER / "scratch"),
        "spark.sql.warehouse.dir": str(FOLDER / "warehouse"),
        "spark.sql.window.segmentTree.enabled": "true",
        f"{STORE}.providerClass": "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider",
        f"{STORE}.rocksdb.changelogCheckpointing.enabled": "true",
    }
    spark = SparkSession.builder.config(map=conf | {name.replace("__", "."): value for name, value in options.items()})
    found = spark.getOrCreate()
    found.sparkContext.setLogLevel("OFF")
    return found


def stored(name, make, files=1):
    """A folder of Parquet files of a table, which ``make`` gives where they are not there yet; the older ones first.

    The folder is named after its rows and the source of ``make``, so that other data is never taken for it.
    """
    maker = getattr(make, "func", make)
    name = f"{name}-{files}-{hashlib.blake2b(inspect.getsource(maker).encode(), digest_size=4).hexdigest()}"
    folder = FOLDER / name
    if not folder.exists():
        table, new = make(), folder.with_name(f".{name}.{os.getpid()}")
        new.mkdir(parents=True)
        for place in range(files):
            start, end = (at * len(table) // files for at in (place, place + 1))
            path = new / f"{place:03}.parquet"
            pq.write_table(table.slice(start, end - start), path)
            os.utime(path, (10**9 + place, 10**9 + place))
        shutil.rmtree(folder, ignore_errors=True)
        new.replace(folder)
    return folder


def consumed(frame):
    """Compute a frame, all of it, and keep nothing."""
    frame.write.format("noop").mode("overwrite").save()
