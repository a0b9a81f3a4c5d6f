"""Windows over rows that no hash keeps together: cut by their order into pieces, with what each needs of the others.

The keys are read once at once, to choose where to cut; any cuts give the right answer, good ones give it fast. Every
row then goes to the piece it belongs to, and a copy to each piece whose frames reach it; frames without end get
partials of the rows that their piece does not hold. From there on it is one lazy plan.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import pyarrow as pa
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql.pandas.types import from_arrow_type
from pyspark.sql.types import BinaryType, LongType, StructField, StructType

from sash.engine.ranges import Cuts, KeyOrder, Sample, cut, expected, reach, together
from sash.engine.summaries import is_summarised, may_split
from sash.options import asked_memory, budget
from sash.spark.by_value import shipped
from sash.spark.columns_read import ReadColumns
from sash.spark.cut_expressions import searched, searches
from sash.spark.passing import table_udf
from sash.spark.piecewise import MINE, OWN, PIECE, SUMMARIES, SUMMARY, piecewise, sampling, summarising
from sash.spark.task_names import window_task
from sash.windows.over import Over

ROWS_A_PIECE = 1 << 19  # a task of fewer rows takes longer to start than to compute
MOST_PIECES = 512  # more make the search for a row's piece a plan too large
BYTES_A_ROW = 400  # that a piece may need, its copies included
MOST_COPIES = 2  # of all rows, on the average: with more, fewer pieces are better
ROW_IN_TASK = (1 << 33) - 1  # the part of Spark's monotonically increasing ids that counts within a task


def distributable(over: Over) -> bool:
    """Whether pieces can answer an expression: its frames end, or what lies beyond can be summarised."""
    if not over.window.order:  # all rows are peers, those elsewhere, too
        ranks, excluded = not getattr(over.call.aggregate, "framed", True), over.window.exclusion in ("group", "ties")
        return not (ranks or excluded) and is_summarised(over) and may_split({"": over})
    far = reach(over)
    return is_summarised(over) or not any(side.everything or side.unknown for side in (far.before, far.after))


@dataclass(frozen=True)
class Ranged:
    """Window expressions of one partition and order, and where their rows are cut: anyhow, without an order."""

    columns: dict[str, Over]
    tie_breakers: tuple[Over, ...]  # by which ties are settled
    inputs: ReadColumns
    cuts: Cuts | None

    @cached_property
    def copied(self) -> tuple[bool, bool]:
        """Whether frames reach into the piece before, and into the one after, so that rows are copied from there."""
        far = together([reach(over) for over in self.columns.values()])
        before, after = (bool(side.rows or side.groups or side.ranges) for side in (far.before, far.after))
        return before, after

    def answered(self, frame: DataFrame, answers: pa.Schema) -> tuple[DataFrame, str]:
        """The frame with the answers as a struct in a new column, which is named."""
        routed, own, first, last = self._routed(frame)
        piece, summaries, name = (self.inputs.unused(frame, word) for word in ("piece", "summaries", "answers"))
        if any(self.copied):
            placed = routed.select("*", F.explode(F.sequence(first, last)).alias(piece))
        else:
            placed, piece = routed, own
        # by number where that is fair, and by its hash where pieces were made by one
        cuts = self.cuts
        placed = placed.repartition(F.col(piece)) if cuts is None else placed.repartitionById(cuts.pieces, F.col(piece))
        taken = {**self._taken(), PIECE: F.col(piece), OWN: F.col(own)}
        if summarised_names(self.columns):
            start = F.monotonically_increasing_id().bitwiseAND(F.lit(ROW_IN_TASK)) == 0
            placed = placed.select("*", F.when(start, self._summaries().scalar()).alias(summaries))
            taken[SUMMARIES] = F.col(summaries)
        schema = answers.append(pa.field(MINE, pa.bool_()))
        work = piecewise(self.columns, self.tie_breakers, list(taken), schema, self.cuts, asked_memory())
        run = table_udf(work, schema, window_task(self.columns))
        out = placed.select("*", run(*taken.values()).alias(name))
        # asked of the answers: a filter on the columns would make Spark search for the piece once more
        return (out.filter(F.col(name).getField(MINE)) if any(self.copied) else out), name

    def _taken(self) -> dict[str, Column]:
        return self.inputs.taken(self.tie_breakers)

    def _routed(self, frame: DataFrame) -> tuple[DataFrame, str, str, str]:
        """The frame with three columns: the piece a row belongs to, and the first and last that need it."""
        own, first, last = (self.inputs.unused(frame, word) for word in ("own", "first", "last"))
        if self.cuts is None:
            hashed = F.xxhash64(*self.inputs.simple(), F.lit(0))
            pieces = F.lit(shuffle_partitions(frame))
            return frame.select("*", F.pmod(hashed, pieces).cast("int").alias(own)), own, own, own
        keys = self.inputs.spark(key_names(self.columns))
        routes = dict(zip((own, first, last), searches(keys, self.cuts), strict=True))
        before, after = self.copied
        last, first = last if before else own, first if after else own
        return searched(frame, {name: routes[name] for name in {own, first, last}}), own, first, last

    def _summaries(self) -> DataFrame:
        """One row with the summaries of all pieces."""
        routed, own, first, last = self._routed(self.inputs.frame)
        taken = self._taken()
        places = list(dict.fromkeys((own, first, last)))  # one where no rows are copied: each goes to Python
        named = [column.alias(f"c{place}") for place, column in enumerate((*taken.values(), *map(F.col, places)))]
        which = (places.index(own), places.index(first), places.index(last))
        splits = may_split(self.columns)
        if not splits:
            pieces = shuffle_partitions(routed) if self.cuts is None else self.cuts.pieces
            routed = routed.repartitionById(pieces, F.col(own))
        schema = StructType([StructField(name, BinaryType()) for name in SUMMARY])
        work = summarising(self.columns, self.tie_breakers, list(taken), which, splits)
        summaries = routed.select(*named).mapInArrow(shipped(work, window_task(self.columns, "partials of")), schema)
        # one text: after each row Spark asks a list column for its size, which takes as long as it has rows
        packed = F.concat_ws(":", *map(F.base64, SUMMARY))
        return summaries.agg(F.concat_ws(",", F.collect_list(packed)))


def summarised_names(columns: dict[str, Over]) -> list[str]:
    """The columns that need partials of the rows that their piece does not hold."""
    return [name for name, over in columns.items() if is_summarised(over)]


def key_names(columns: dict[str, Over]) -> list[str]:
    """The columns that rows are sorted by, as the workers know them: partition keys, then orders."""
    window = next(iter(columns.values())).window
    return [each.path[0] for each in (*window.partition, *(order.column for order in window.order))]


def find_cuts(columns: dict[str, Over], inputs: ReadColumns, schema: pa.Schema) -> Cuts | None:
    """Where to cut the rows: reads their keys once; None where they have none."""
    window = next(iter(columns.values())).window
    if not window.order:
        return None
    order, names = KeyOrder.of(window), key_names(columns)
    keys = [column.alias(f"c{place}") for place, column in enumerate(inputs.spark(names))]
    fields = [StructField(f"c{place}", from_arrow_type(schema.field(name).type)) for place, name in enumerate(names)]
    counts = [StructField(name, LongType()) for name in ("task", "at", "rows")]
    far = together([reach(over) for over in columns.values()])
    reading = sampling(order, (far.before.rows, far.after.rows))
    reading.__name__ = window_task(columns, "where to cut for")
    sampled = inputs.frame.select(*keys).mapInArrow(reading, StructType(fields + counts)).toArrow()
    sample = Sample(sampled, order)
    pieces = pieces_for(inputs.frame, sample.total)
    while (cuts := cut(sample, pieces, far)).pieces > 1 and expected(sample, cuts).sum() > MOST_COPIES * sample.total:
        pieces = cuts.pieces // 2  # frames are longer than pieces
    return cuts


def pieces_for(frame: DataFrame, rows: int) -> int:
    """How many pieces: as many as the session shuffles into, more for very many rows, fewer for few."""
    most = max(shuffle_partitions(frame), rows // (ROWS_A_PIECE * 16))
    fitting = -(-rows * BYTES_A_ROW // budget())
    return max(1, min(MOST_PIECES, max(fitting, min(rows // ROWS_A_PIECE, most))))


def shuffle_partitions(frame: DataFrame) -> int:
    """Into how many partitions the session shuffles."""
    return int(frame.sparkSession.conf.get("spark.sql.shuffle.partitions") or 1)
