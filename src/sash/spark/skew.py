"""Keys with very many rows: found before the shuffle, so that one task does not get them all."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from functools import cached_property

import pyarrow as pa
from pyspark.errors import AnalysisException
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from sash import options
from sash.spark.columns_read import ReadColumns
from sash.spark.described import DescribedFrame
from sash.spark.exchanges import Exchange

HOT_SHARE = 0.25  # of all rows: a key with more is cut into pieces
HOT_ROWS = 1 << 20  # fewer are no burden for one task
LOOK_FROM = 1 << 30  # bytes that Spark expects the input to have, from which on it is worth a look
SAMPLED = 0.01

STEPS = {"B": 0, "KiB": 1, "MiB": 2, "GiB": 3, "TiB": 4, "PiB": 5, "EiB": 6}
SIZE = re.compile(r"Statistics\(sizeInBytes=([\d.E+]+) (\w+)")


@dataclass(frozen=True)
class Skew:
    """Looks for keys with very many rows in what a query reads."""

    inputs: ReadColumns
    schema: pa.Schema

    def is_skewed(self, exchange: Exchange) -> bool:
        """Whether one value of the keys has so many rows that the others' tasks would wait for its one.

        Reads a sample of the keys, where the options ask for it or the input is large.
        """
        if isinstance(self.inputs.frame, DescribedFrame):
            return False
        nested = any(pa.types.is_nested(self.schema.field(name).type) for name in exchange.keys)  # which have no order
        if nested or not options.skew or not options.jobs or (options.skew == "auto" and self.bytes < LOOK_FROM):
            return False
        named = [key.alias(f"k{place}") for place, key in enumerate(self.inputs.spark(exchange.keys))]
        sample = self.inputs.frame.select(*named).sample(fraction=SAMPLED, seed=0)
        counts = sample.groupBy(*(f"k{place}" for place in range(len(named)))).count()
        most = counts.agg(F.max("count").alias("most"), F.sum("count").alias("rows")).first()
        if most is None or not most["rows"]:
            return False
        return bool(most["most"] >= max(HOT_SHARE * most["rows"], HOT_ROWS * SAMPLED))

    @cached_property
    def bytes(self) -> float:
        """How large Spark expects the input to be; where it may not be asked, more than few rows, but not too many."""
        if isinstance(self.inputs.frame, DescribedFrame):
            return LOOK_FROM - 1
        return expected_bytes(self.inputs.frame)


def expected_bytes(frame: DataFrame) -> float:
    """How large Spark expects the frame to be; infinite where it does not say."""
    try:
        said = frame.sparkSession.sql("explain cost select * from {frame}", frame=frame).first()
    except AnalysisException:  # a frame that no query can name
        said = None
    match = SIZE.search(said[0]) if said else None
    return float(match[1]) * 1024 ** STEPS.get(match[2], 6) if match else math.inf
