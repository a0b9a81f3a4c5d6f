"""What is known of a query before it goes on: whether it began, with which sinks, and what is where these write."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from sash.errors import SashError
from sash.spark import text_queries
from sash.spark.writing import ANOTHER, BATCH, METADATA, Target, is_local

MEMBERS = "sash_sinks"  # in a checkpoint, a folder with the names of the sinks


def begun(spark: Any, checkpoint: str) -> bool:
    """Whether a query has begun with a checkpoint."""
    if is_local(spark, checkpoint):
        return Path(checkpoint, "metadata").exists()
    return _files(spark, f"{checkpoint}/metadata")


def check_members(spark: Any, checkpoint: str, names: Sequence[str]) -> None:
    """Refuse sinks that the query did not begin with: they would lack what came before."""
    if not begun(spark, checkpoint):
        return
    before = sorted(row["name"] for row in spark.read.json(_members(checkpoint)).collect())
    if before != sorted(names):
        raise SashError(
            f"the sinks of a query stay those that it began with, {', '.join(before)}, got {', '.join(sorted(names))}: "
            "one that comes later would lack what was written before. Begin anew, with another [stream] checkpoint and "
            'other places to write to; a sink that is no longer wanted may have format = "noop"'
        )


def keep_members(spark: Any, checkpoint: str, names: Sequence[str]) -> None:
    """Write down the sinks of a query before it begins."""
    if not begun(spark, checkpoint):
        rows = spark.createDataFrame([(name,) for name in names], "name string")
        rows.coalesce(1).write.mode("overwrite").json(_members(checkpoint))


def check_alone(spark: Any, target: Target, checkpoint: str | None) -> None:
    """Refuse a folder of a batch, or of a stream that is not the one of the checkpoint."""
    if not is_local(spark, str(target.path)):
        return
    folder = Path(str(target.path))
    if not (folder / METADATA).exists():
        if folder.is_dir() and any(folder.iterdir()):
            raise SashError(f"{target.shown} has files of a batch, to which a stream would add its own; {ANOTHER}")
    elif checkpoint is not None and not Path(checkpoint, "metadata").exists():
        raise SashError(
            f"{target.shown} is written by a stream with another checkpoint than {checkpoint}: what that has done "
            "would be taken for done; go on with that one, or write to another path"
        )


def check_parts(spark: Any, target: Target, checkpoint: str | None) -> None:
    """Refuse a folder for batches one by one that holds what another run, or another stream, has written."""
    if checkpoint is None:
        return
    path = str(target.path).rstrip("/")
    local = is_local(spark, path)
    if Path(path, METADATA).exists() if local else _files(spark, f"{path}/{METADATA}", some=False):
        raise SashError(
            f"{target.shown} is written by a stream with a query for this sink alone ({METADATA}): Spark would not see "
            f"what is added to it. Begin anew, with another [stream] checkpoint, and {ANOTHER}"
        )
    if begun(spark, checkpoint):
        return
    if any(Path(path).glob("*")) if local else _files(spark, path):
        raise SashError(
            f"{target.shown} has files, and the stream of {checkpoint}, which has yet to begin, did not write them; "
            f"{ANOTHER}"
        )


def check_timeline(spark: Any, target: Target, checkpoint: str | None) -> None:
    """Refuse files of batches that the checkpoint does not know: it is older, and would bring their rows again.

    Spark notes a batch in the checkpoint before it runs, so that files are never ahead of it by themselves.
    """
    if checkpoint is None:
        return
    path = str(target.path).rstrip("/")
    known = max(_numbers(spark, f"{checkpoint}/offsets"), default=-1)
    apart = [number for number in _numbers(spark, path, f"{BATCH}=", known) if number > known]
    if not apart and not _is_noted(spark, f"{path}/{METADATA}", known):
        return
    remove = "" if not apart else (
        f"remove {BATCH}={min(apart)} and all later ones, here and where the other sinks of the query write, if the "
        "sources still have what these were made from; or "
    )  # fmt: skip
    raise SashError(
        f"{target.shown} has later batches of a stream than the checkpoint {checkpoint} knows of "
        f"({f'{known} is its last' if known >= 0 else 'none'}): an older copy of it was restored, or it is another "
        "one. What comes now would stand beside the rows of those batches, or be taken for done: go on with the newest "
        f"checkpoint; or {remove}begin anew, with another [stream] checkpoint and other places to "
        "write to"
    )


def _numbers(spark: Any, folder: str, before: str = "", beyond: int = -1) -> list[int]:
    """The numbers that what is in a folder is named by, at least those beyond one."""
    if is_local(spark, folder):
        paths = [f"{folder}/{each.name}" for each in Path(folder).glob("*")]
    else:
        paths = _found(spark, f"{folder}/{before}{above(beyond)}")
    form = re.compile(rf"/{re.escape(folder.rpartition('/')[2])}/{before}(\d+)(?:\.compact)?(?:/|$)")
    return [int(match[1]) for path in paths if (match := form.search(path))]


def _is_noted(spark: Any, notes: str, beyond: int) -> bool:
    """Whether Spark's own notes of what is in a folder have a batch beyond a number; it does not list hidden files."""
    if is_local(spark, notes):
        return any(number > beyond for number in _numbers(spark, notes))
    return _files(spark, f"{notes}/{above(beyond)}", some=False)


def above(number: int) -> str:
    """A pattern (glob) of names that begin with a number above one, so that a store lists no others.

    >>> above(-1), above(38)
    ('[0-9]*', '{[4-9][0-9]*,39*,[1-9][0-9][0-9]*}')
    """
    if number < 0:
        return "[0-9]*"
    text = str(number)
    patterns = []
    for place, digit in enumerate(text):
        if digit < "9":
            least = f"[{int(digit) + 1}-9]" if digit < "8" else "9"
            patterns.append(f"{text[:place]}{least}{'[0-9]' * (len(text) - place - 1)}*")
    return "{" + ",".join([*patterns, "[1-9]" + "[0-9]" * len(text) + "*"]) + "}"


def _members(checkpoint: str) -> str:
    return f"{checkpoint}/{MEMBERS}"


def _found(spark: Any, pattern: str) -> list[str]:
    """The files at, or below, what a pattern finds that only Spark can reach."""
    try:
        files = spark.read.format("binaryFile").option("recursiveFileLookup", "true").load(pattern)
        return list(files.inputFiles())
    except Exception as error:
        if text_queries.refusal(error) is None or "PATH_NOT_FOUND" not in str(error):
            raise
        return []


def _files(spark: Any, path: str, some: bool = True) -> bool:
    """Whether there are files at a path that only Spark can reach; or whether it is there, whatever it holds."""
    try:
        files = spark.read.format("binaryFile").option("recursiveFileLookup", "true").load(path).select("path")
        return not some or bool(files.limit(1).collect())
    except Exception as error:
        if text_queries.refusal(error) is None or "PATH_NOT_FOUND" not in str(error):
            raise
        return False
