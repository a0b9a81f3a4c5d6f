"""What a pipeline writes with Spark as a batch: whole, or not at all, wherever the place allows it."""

from __future__ import annotations

import os
import shutil
import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from sash.errors import SashError
from sash.expressions.naming import quoted
from sash.spark import postgres, stores
from sash.spark.reading import SCHEME, by_ending

METADATA = "_spark_metadata"  # in a folder that a stream writes
BATCH = "sash_batch"  # a folder of each batch, where one stream writes to several sinks
ANOTHER = "give each a path of its own, such as out/${mode}/…"
OF_KAFKA = {"key", "value", "topic", "headers", "partition"}
REPLACES = ("delta", "iceberg")  # these replace a table in one step themselves


@dataclass(frozen=True)
class Target:
    """Where rows go."""

    name: str
    format: str | None
    path: str | None
    table: str | None
    mode: str
    partition_by: tuple[str, ...]
    options: Mapping[str, Any]
    key: str | None = None

    @property
    def kind(self) -> str:
        """The format: as named, by the ending of the path, or parquet."""
        return self.format or by_ending(self.path) or "parquet"

    @property
    def relation(self) -> str:
        """The table of a database."""
        return str(self.table or self.options.get("dbtable") or "")

    @property
    def by_files(self) -> bool:
        """Whether the rows are plain files in a folder."""
        return self.path is not None and self.kind not in REPLACES

    @property
    def defaults(self) -> dict[str, Any]:
        """The options, with the first line of CSV for names unless they say otherwise."""
        return {**({"header": True} if self.kind == "csv" else {}), **self.options}

    @property
    def shown(self) -> str:
        """Where the rows are, for people."""
        return self.path or self.table or str(self.options.get("topic") or self.options.get("dbtable") or self.kind)


def shaped(frame: DataFrame, target: Target) -> DataFrame:
    """The rows as their target takes them: for Kafka, JSON, unless they are messages already."""
    if target.kind != "kafka" or ("value" in frame.columns and OF_KAFKA.issuperset(frame.columns)):
        return frame
    value = F.to_json(F.struct(*(F.col(quoted(name)) for name in frame.columns))).alias("value")
    key = [F.col(quoted(target.key)).cast("string").alias("key")] if target.key else []
    return frame.select(*key, value)


def check(spark: Any, target: Target, streaming: bool) -> None:
    """Refuse before anything runs what could not be written, or would put a batch among what a stream wrote."""
    if target.kind == "jdbc":
        postgres.check(target.options, target.relation)
    elif target.table is not None and "path" in target.options:
        raise SashError("a table has a place already, got options.path, too")
    if target.mode == "error" and _exists(spark, target):
        raise SashError(f"{target.shown} is there already; mode says that this is an error")
    _check_format(spark, target.kind)
    if streaming or not target.by_files or not is_local(spark, str(target.path)):
        return
    folder = Path(str(target.path))
    if (folder / METADATA).exists() or next(folder.glob(f"{BATCH}=*"), None):
        raise SashError(f"{target.shown} is written by a stream; {ANOTHER}")
    elif target.mode == "overwrite" and not _replaces_parts(spark, target) and _is_foreign(folder):
        raise SashError(f"{target.shown} is there, and not by a run that ended well (it has no _SUCCESS): remove it "
                        "yourself, or write to another path")  # fmt: skip


def _is_foreign(folder: Path) -> bool:
    """Whether there is something that no run wrote."""
    return folder.is_file() or (folder.is_dir() and any(folder.iterdir()) and not (folder / "_SUCCESS").exists())


def _check_format(spark: Any, kind: str) -> None:
    """Refuse a format that Spark does not have."""
    if kind in ("console", "memory", "noop", "kafka", "jdbc"):
        return
    try:
        spark.read.format(kind).load()
    except Exception as error:
        if "DATA_SOURCE_NOT_FOUND" in str(error) or "Failed to find the data source" in str(error):
            raise SashError(f"there is no format {kind}: name one that Spark has, or its package in [spark]") from None


def write(frame: DataFrame, target: Target) -> bool:
    """Write all rows; whether there was something to do."""
    spark = frame.sparkSession
    if target.mode == "ignore" and _exists(spark, target):
        return False
    local = target.path is not None and is_local(spark, target.path)
    if local:
        _mended(Path(str(target.path)))
    if target.kind == "memory":
        frame.createOrReplaceTempView(target.name)
    elif target.table is not None and target.kind != "jdbc":
        _table(frame, target)
    elif target.kind == "jdbc" and postgres.is_postgres(target.options):
        postgres.write(frame, target.options, target.relation, append=target.mode != "overwrite")
    elif local and target.mode != "append" and not _replaces_parts(spark, target):
        _folder(frame, target, Path(str(target.path)))
    else:
        plain(frame, target, target.mode if target.kind != "kafka" else "append").save(
            *([target.path] if target.path else [])
        )
    return True


def is_local(spark: Any, path: str) -> bool:
    """Whether files that Spark writes are those of this process: no cluster, no server in between."""
    if SCHEME.match(path) or type(spark).__module__.startswith("pyspark.sql.connect"):
        return False
    if not str(spark.conf.get("spark.master", "")).startswith("local"):
        return False
    return stores.default_store(spark).startswith(stores.LOCAL)


def _replaces_parts(spark: Any, target: Target) -> bool:
    """Whether overwriting is the format's own affair: tables with a history, or partitions one by one."""
    dynamic = "partitionOverwriteMode"
    said = target.options.get(dynamic, spark.conf.get(f"spark.sql.sources.{dynamic}", "static"))
    return target.kind in REPLACES or (str(said).lower() == "dynamic" and bool(target.partition_by))


def plain(frame: DataFrame, target: Target, mode: str) -> Any:
    """Spark's writer for a target."""
    writer = frame.write.format(target.kind).mode(mode).options(**target.defaults)
    if target.kind == "jdbc":
        writer = writer.option("dbtable", target.relation)
    return writer.partitionBy(*target.partition_by) if target.partition_by else writer


def _exists(spark: Any, target: Target) -> bool:
    """Whether there is something at a target; where only Spark can tell, its writer does, by the mode."""
    if target.kind == "jdbc":
        return postgres.is_postgres(target.options) and postgres.exists(spark, target.options, target.relation)
    if target.table is not None:
        return bool(spark.catalog.tableExists(target.table))
    return target.path is not None and is_local(spark, target.path) and Path(target.path).exists()


def _folder(frame: DataFrame, target: Target, folder: Path) -> None:
    """Write into a hidden folder beside, and put it into its place at the end."""
    made, old = folder.with_name(f".{folder.name}.sash-{uuid.uuid4().hex[:8]}"), _old(folder)
    folder.parent.mkdir(parents=True, exist_ok=True)
    try:
        plain(frame, target, "overwrite").save(str(made))
        _removed(old)
        if folder.exists():
            os.replace(folder, old)
        os.replace(made, folder)
    finally:
        _mended(folder)
        _removed(made, old)


def _old(folder: Path) -> Path:
    return folder.with_name(f".{folder.name}.sash-old")


def _mended(folder: Path) -> None:
    """Put back what was there, where a run ended between the two steps of a replacement."""
    if _old(folder).exists() and not folder.exists():
        os.replace(_old(folder), folder)


def _removed(*folders: Path) -> None:
    for folder in folders:
        shutil.rmtree(folder, ignore_errors=True)
        if folder.is_file():
            folder.unlink()


def _table(frame: DataFrame, target: Target) -> None:
    """A table of the catalogue; a new one takes the place of the old one when it is whole."""
    spark, name = frame.sparkSession, str(target.table)
    made = f"{name[:-1]}__sash_new`" if name.endswith("`") else f"{name}__sash_new"
    if spark.catalog.tableExists(made) and not spark.catalog.tableExists(name):
        spark.sql(f"ALTER TABLE {made} RENAME TO {name}")  # a run ended between the last two steps
    if target.mode != "overwrite" or target.kind in REPLACES or not spark.catalog.tableExists(name):
        plain(frame, target, target.mode).saveAsTable(name)
        return
    spark.sql(f"DROP TABLE IF EXISTS {made}")
    try:
        plain(frame, target, "overwrite").saveAsTable(made)
    except BaseException:
        spark.sql(f"DROP TABLE IF EXISTS {made}")
        raise
    spark.sql(f"DROP TABLE {name}")
    spark.sql(f"ALTER TABLE {made} RENAME TO {name}")
