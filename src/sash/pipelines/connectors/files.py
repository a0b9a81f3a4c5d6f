"""Files in a folder."""

from __future__ import annotations

from sash.pipelines.connectors.connector import Connector

FILES = Connector(
    ("parquet", "json", "orc", "text", "avro", "xml"),
    needs_path=True,
    words=(
        (
            "files on this machine",
            "into a hidden folder beside, which takes the place of the old one at the end; what a format replaces "
            "itself (Delta, dynamic partitions) is left to it",
            "exactly once, through Spark's file sink; read them with Spark, which knows the files of finished batches",
            "exactly once: each batch in a folder of its own, `sash_batch=7`, which is replaced if the batch comes "
            "again; readers have a column `sash_batch` more",
        ),
        (
            "files elsewhere (`s3a://`, `hdfs://`), or from a cluster",
            "by Spark: it removes the old answers first, and files appear when all tasks are done; `_SUCCESS` comes "
            "last. To keep the old ones, write to a new path for each run (`${day}`), or to Delta or Iceberg",
            "exactly once",
            "as above",
        ),
    ),
)
