"""Keys with very many rows: found before the shuffle, so that one task does not get them all."""

from __future__ import annotations

import math
import re

from pyspark.errors import AnalysisException
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from sash import options

HOT_SHARE = 0.25  # of all rows: a key with more is cut into pieces
HOT_ROWS = 1 << 20  # fewer are no burden for one task
LOOK_FROM = 1 << 30  # bytes that Spark expects the input to have, from which on it is worth a look
SAMPLED = 0.01

STEPS = {"B": 0, "KiB": 1, "MiB": 2, "GiB": 3, "TiB": 4, "PiB": 5, "EiB": 6}
SIZE = re.compile(r"Statistics\(sizeInBytes=([\d.E+]+) (\w+)")


def is_skewed(frame: DataFrame, keys: list[Column]) -> bool:
    """Whether one value of the keys has so many rows that the others' tasks would wait for its one.

    Reads a sample of the keys, where the options ask for it or the input is large.
    """
    if not options.skew or (options.skew == "auto" and expected_bytes(frame) < LOOK_FROM):
        return False
    named = [key.alias(f"k{place}") for place, key in enumerate(keys)]
    counts = (
        frame.select(*named)
        .sample(fraction=SAMPLED, seed=0)
        .groupBy(*(f"k{place}" for place in range(len(keys))))
        .count()
    )
    found = counts.agg(F.max("count").alias("most"), F.sum("count").alias("rows")).first()
    if found is None or not found["rows"]:
        return False
    return bool(found["most"] >= max(HOT_SHARE * found["rows"], HOT_ROWS * SAMPLED))


def expected_bytes(frame: DataFrame) -> float:
    """How large Spark expects the frame to be; infinite where it does not say."""
    try:
        said = frame.sparkSession.sql("explain cost select * from {frame}", frame=frame).first()
    except AnalysisException:  # a frame that no query can name
        said = None
    found = SIZE.search(said[0]) if said else None
    return float(found[1]) * 1024 ** STEPS.get(found[2], 6) if found else math.inf
