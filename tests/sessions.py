"""Spark sessions for tests."""

import os
import sys
from pathlib import Path

import pytest

HERE = {
    "PYSPARK_PYTHON": sys.executable,
    "PYSPARK_DRIVER_PYTHON": sys.executable,
    "SPARK_LOCAL_IP": "127.0.0.1",
    "PYTHONPATH": os.pathsep.join([str(Path(__file__).parent), os.environ.get("PYTHONPATH", "")]),
}
QUIET = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.memory": "1g",
    "spark.sql.shuffle.partitions": "4",
    "spark.sql.session.timeZone": "UTC",
}
PATIENCE = 300  # seconds; a busy machine is slow


def session(conf):
    """A Spark session, wherever the environment and the configuration say."""
    from pyspark.sql import SparkSession

    from sash.spark.java import ensure_java

    ensure_java()
    builder = SparkSession.builder
    for key, value in (QUIET | conf).items():
        builder = builder.config(key, value)
    return builder.getOrCreate()


@pytest.fixture(scope="session")
def spark(tmp_path_factory):
    """One session with two cores in this process."""
    os.environ.update(HERE)
    os.environ.pop("SPARK_REMOTE", None)
    folder = tmp_path_factory.mktemp("spark")
    local = session(
        {
            "spark.master": "local[2]",
            "spark.local.dir": str(folder),
            "spark.sql.warehouse.dir": str(folder / "warehouse"),
        }
    )
    local.sparkContext.setLogLevel("OFF")
    yield local
    local.stop()
