"""A Spark session for the command line: quiet, on this machine unless SPARK_REMOTE or a master says otherwise."""

from __future__ import annotations

import atexit
import os
import re
import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from sash.errors import SashError


def started(tables: list[str]) -> tuple[Any, Path]:
    """A session that knows these files by their names, and the file of what Spark prints."""
    named = [_named(each) for each in tables]
    from sash.spark import local, text_queries

    log = Path(tempfile.mkdtemp(prefix="sash-")) / "spark.log"
    atexit.register(shutil.rmtree, log.parent, ignore_errors=True)
    try:
        with printing_to(log):
            spark = local.quiet_session()
    except SashError:
        raise
    except Exception as error:
        raise SashError(f"Spark could not start: {why(error, log)}") from None
    for name, path in named:
        text_queries.file(spark, path).createOrReplaceTempView(name)
    return spark, log


def for_pipeline(said: Any) -> Any:
    """The session that a pipeline asks for: on this machine, unless it or the environment names another place."""
    from sash.spark import local

    return local.quiet_session(said.master, said.remote, said.packages, said.conf)


@contextmanager
def printing_to(file: Path) -> Iterator[None]:
    """Let a Java that is started here print to a file; what this process prints goes on as before."""
    sys.stderr.flush()
    stderr = os.dup(2)
    log = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    os.dup2(log, 2)
    try:
        yield
    finally:
        os.dup2(stderr, 2)
        os.close(stderr)
        os.close(log)


def _named(table: str) -> tuple[str, str]:
    name, equals, path = table.partition("=")
    if not equals or not name.isidentifier() or not path:
        raise SashError(f"--table takes a name and a file, such as trades=trades.parquet, got {table!r}")
    return name, path


def why(error: Exception, log: Path) -> str:
    """Why Spark did not start: what it printed of an exception, or what the error says."""
    printed = log.read_text(errors="replace") if log.exists() else ""
    lines = [line.strip() for line in printed.splitlines() if re.search(r"(Exception|Error)\b.*: ", line)]
    return lines[-1] if lines else str(error).strip().splitlines()[0]
