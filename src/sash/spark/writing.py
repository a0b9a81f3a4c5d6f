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

from sash.errors import SashError
from sash.libraries import is_remote
from sash.spark import stores
from sash.spark.reading import SCHEME

METADATA = "_spark_metadata"  # in a folder that a stream writes
BATCH = "sash_batch"  # a folder of each batch, where one stream writes to several sinks
ANOTHER = "give each a path of its own, such as out/${mode}/…"


@dataclass(frozen=True)
class Target:
    """Where rows go."""

    name: str
    format: str
    path: str | None
    table: str | None
    mode: str
    partition_by: tuple[str, ...]
    options: Mapping[str, Any]
    key: str | None = None

    @property
    def relation(self) -> str:
        """The table of a database."""
        return str(self.table or self.options.get("dbtable") or "")

    @property
    def shown(self) -> str:
        """Where the rows are, for people."""
        return self.path or self.table or str(self.options.get("topic") or self.options.get("dbtable") or self.format)


def check_folder(spark: Any, target: Target, in_place: bool) -> None:
    """Refuse to put a batch among what a stream wrote, or in the place of what no run did."""
    if not is_local(spark, str(target.path)):
        return
    folder = Path(str(target.path))
    if (folder / METADATA).exists() or next(folder.glob(f"{BATCH}=*"), None):
        raise SashError(f"{target.shown} is written by a stream; {ANOTHER}")
    elif target.mode == "overwrite" and not in_place and _is_foreign(folder):
        raise SashError(f"{target.shown} is there, and not by a run that ended well (it has no _SUCCESS): remove it "
                        "yourself, or write to another path")  # fmt: skip


def _is_foreign(folder: Path) -> bool:
    """Whether there is something that no run wrote."""
    return folder.is_file() or (folder.is_dir() and any(folder.iterdir()) and not (folder / "_SUCCESS").exists())


def check_format(spark: Any, format: str) -> None:
    """Refuse a format that Spark does not have."""
    try:
        spark.read.format(format).load()
    except Exception as error:
        if "DATA_SOURCE_NOT_FOUND" in str(error) or "Failed to find the data source" in str(error):
            sentence = f"there is no format {format}: name one that Spark has, or its package in [spark]"
            raise SashError(sentence) from None


def save(frame: DataFrame, target: Target, in_place: bool) -> None:
    """Write all rows by Spark; into a folder of this machine whole, unless the format itself sees to that."""
    if target.path is None or not is_local(frame.sparkSession, target.path):
        plain(frame, target, target.mode).save(*([target.path] if target.path else []))
        return
    _mended(Path(target.path))
    if target.mode == "append" or in_place:
        plain(frame, target, target.mode).save(target.path)
    else:
        _folder(frame, target, Path(target.path))


def save_relation(frame: DataFrame, target: Target, mode: str) -> None:
    """Write all rows into a table of a database."""
    plain(frame, target, mode).option("dbtable", target.relation).save()


def is_local(spark: Any, path: str) -> bool:
    """Whether files that Spark writes are those of this process: no cluster, no server in between."""
    if SCHEME.match(path) or is_remote(spark):
        return False
    if not str(spark.conf.get("spark.master", "")).startswith("local"):
        return False
    return stores.default_store(spark).startswith(stores.LOCAL)


def replaces_partitions(spark: Any, target: Target) -> bool:
    """Whether overwriting replaces partitions one by one."""
    dynamic = "partitionOverwriteMode"
    mode = target.options.get(dynamic, spark.conf.get(f"spark.sql.sources.{dynamic}", "static"))
    return str(mode).lower() == "dynamic" and bool(target.partition_by)


def plain(frame: DataFrame, target: Target, mode: str) -> Any:
    """Spark's writer for a target."""
    writer = frame.write.format(target.format).mode(mode).options(**target.options)
    return writer.partitionBy(*target.partition_by) if target.partition_by else writer


def is_there(spark: Any, target: Target) -> bool:
    """Whether there are files of this machine at a target."""
    return target.path is not None and is_local(spark, target.path) and Path(target.path).exists()


def _folder(frame: DataFrame, target: Target, folder: Path) -> None:
    """Write into a hidden folder beside, and put it into its place at the end."""
    new, old = folder.with_name(f".{folder.name}.sash-{uuid.uuid4().hex[:8]}"), _old(folder)
    folder.parent.mkdir(parents=True, exist_ok=True)
    try:
        plain(frame, target, "overwrite").save(str(new))
        _removed(old)
        if folder.exists():
            os.replace(folder, old)
        os.replace(new, folder)
    finally:
        _mended(folder)
        _removed(new, old)


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


def save_table(frame: DataFrame, target: Target, in_place: bool) -> None:
    """A table of the catalogue; a new one takes the place of the old one when it is whole."""
    spark, name = frame.sparkSession, str(target.table)
    new = f"{name[:-1]}__sash_new`" if name.endswith("`") else f"{name}__sash_new"
    if spark.catalog.tableExists(new) and not spark.catalog.tableExists(name):
        spark.sql(f"ALTER TABLE {new} RENAME TO {name}")  # a run ended between the last two steps
    if target.mode != "overwrite" or in_place or not spark.catalog.tableExists(name):
        plain(frame, target, target.mode).saveAsTable(name)
        return
    spark.sql(f"DROP TABLE IF EXISTS {new}")
    try:
        plain(frame, target, "overwrite").saveAsTable(new)
    except BaseException:
        spark.sql(f"DROP TABLE IF EXISTS {new}")
        raise
    spark.sql(f"DROP TABLE {name}")
    spark.sql(f"ALTER TABLE {new} RENAME TO {name}")
