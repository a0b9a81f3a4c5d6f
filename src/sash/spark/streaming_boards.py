"""Continuous queries on a streaming DataFrame of Spark: rows are folded where they are, and shards answer windows.

    rows -> mapInArrow: partials, packed by shard -> transformWithStateInPandas: shards -> mapInArrow: answers

Between the two, a row of Spark is a whole table of ours as bytes, so that no row of data passes through Python alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from importlib.metadata import PackageNotFoundError, version
from itertools import count
from threading import Event
from typing import Any

import pyarrow as pa
from pyspark import TaskContext
from pyspark.errors import AnalysisException
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql.pandas.types import from_arrow_schema
from pyspark.sql.types import DateType, TimestampNTZType

from sash import options
from sash.engine.memory_need import within_memory
from sash.engine.streams.logged import folds_cells
from sash.engine.streams.queries import Query, Settings, Spans
from sash.engine.streams.scheme import Scheme
from sash.engine.streams.shard import ShardPlan
from sash.engine.streams.sources import Run, with_late
from sash.engine.streams.span_cells import AUTO
from sash.errors import SashError
from sash.expressions.binding import bind
from sash.expressions.columns import Column as Expressed
from sash.expressions.columns import Foreign
from sash.spark import failures
from sash.spark.batch_boards import Read, SparkSource
from sash.spark.columns_read import spark_column
from sash.spark.garbage import set_apart
from sash.spark.local import PROVIDER, ROCKSDB
from sash.spark.passing import as_schema, columns_of, narrowed, numbered, refuse_unknown, shown
from sash.spark.processor import Shards
from sash.spark.shards import GIVEN, SEEN, Sent, labels, opened
from sash.spark.task_names import board_task
from sash.spark.unpacking import SAMPLED, unpacking
from sash.watching.samples import Wanted
from sash.watching.sight import Sight
from sash.watching.spark_progress import COUNTS, SAMPLE, BatchReader
from sash.windows.extents import microseconds
from sash.windows.intervals import Interval

WATERMARK = "__sash_watermark"
PAUSE = 0.5  # seconds between two looks at a query
DELAY = "spark.watermarkDelayMs"  # what Spark writes on a column that has a watermark
UNMARKED = "sash.unmarked"  # what we write on one that follows none, with the reason
BODIES = "label int, task int, kind int, body binary"
PROTOBUF = (6, 33)
PARTITIONS = "spark.sql.shuffle.partitions"


class StreamingSource(SparkSource):
    """A streaming DataFrame: answers leave as the watermark passes, for as long as the query runs."""

    def scheme(self, settings: Settings, queries: tuple[Query, ...], before: Scheme | None = None) -> Scheme:
        """The queries, checked against the columns there are, and against what a stream can do."""
        if settings.time is None:
            raise SashError("time must be given for a streaming DataFrame, whose windows end as time passes; got None")
        _check_spans(settings.spans)
        delay = self.delay_of(settings)
        if settings.idle is not None:
            raise SashError(
                f"idle is for streams in process, got {settings.idle}: an operator of Spark has one time mode, and one "
                "whose timers follow the clock is not told the watermark; have the source send a row now and then"
            )
        if settings.ahead is not None and self._watermark() is not None:
            raise SashError(
                f"ahead needs the watermark to be given as watermark=, got {settings.ahead} for a DataFrame whose own "
                "watermark Spark moves before Sash sees a row"
            )
        return super().scheme(replace(settings, watermark=delay, grows=True), queries, before)

    def delay_of(self, settings: Settings) -> Interval:
        """The delay of the watermark: the one asked for, or that of the DataFrame."""
        for field in self.frame.schema.fields:
            if why := (field.metadata or {}).get(UNMARKED):
                raise SashError(
                    f"{field.name} of another board's results cannot be asked of in the same query: {why}; write the "
                    "answers first, and read them back with a schema that you write out"
                )
        marked = self._watermark()
        if marked is not None and not self._marked(settings.time):
            raise SashError(f"time must be the column that has the watermark of the DataFrame, got {settings.time}; "
                            "Spark takes one watermark for a stream")  # fmt: skip
        if settings.watermark is None and marked is None:
            raise SashError(
                "watermark must be given for a streaming DataFrame, such as watermark='10 seconds', or be set on it "
                "with withWatermark; got None"
            )
        delay = settings.watermark
        if delay is None or marked is None:
            return delay or marked or Interval()
        if microseconds("watermark", delay) != microseconds("watermark", marked):
            raise SashError(f"watermark must be the one that the DataFrame has, {marked}, got {delay}; "
                            "Spark takes one for a stream")  # fmt: skip
        return delay

    def _watermark(self) -> Interval | None:
        delays = [field.metadata[DELAY] for field in self.frame.schema.fields if DELAY in (field.metadata or {})]
        return Interval(0, 0, 1000 * max(delays)) if delays else None

    def _marked(self, time: Any) -> bool:
        """Whether a column has a watermark."""
        column = time.column if isinstance(time, Foreign) else spark_column(bind(time, self.frame.columns))
        return DELAY in (self.frame.select(column).schema[0].metadata or {})

    def explained(self, scheme: Scheme) -> list[str]:
        """Where rows are folded, and what is kept where."""
        moved = "partials of slices" if folds_cells(scheme) else "rows"
        by = "sash.options.shards" if options.shards else PARTITIONS
        return [f"on Spark: {moved} are moved to {self.shard_count()} shards of keys ({by}), "
                "which keep them in RocksDB and answer windows as the watermark passes"]  # fmt: skip

    def late(self, board: Any) -> DataFrame:
        """A stateful operator has one output."""
        raise SashError(
            "late() is for input that ends; on a stream, results(late=True) has the rows that came late beside the "
            "answers, and foreachBatch can route them"
        )

    def results(self, board: Any, emit: str, starts: bool, late: bool, fill: Any = False) -> DataFrame:
        """The answers, as a streaming DataFrame."""
        need_protobuf()
        failures.foresee(self.frame.sparkSession)
        operator = board._opened(emit, starts, fill)
        answers = operator.answer_schema
        refuse_unknown(answers)
        read = self._read(board._settings, board._queries)
        whole = late or operator.scheme.whole_rows
        names = list(operator.scheme.schema.names) if whole else columns_of(operator.scheme)
        scheme = operator.scheme if whole else narrowed(operator.scheme, names)
        shards = self.shard_count()
        emitted = with_late(answers.empty_table(), shown(operator.late())).schema if late else answers
        plan = ShardPlan(scheme, operator.slicer, emit, starts, shards, tuple(read.computed.items()), fill)
        self.need_rocksdb()

        delay = scheme.delay
        assert delay is not None
        sent = Sent(plan, delay, late, options.asked_memory()).packed()
        packed = numbered(self.watermarked(read, delay), names).mapInArrow(
            _folds(sent, board_task(board, "slices of")), BODIES
        )
        stateful = packed.groupBy("label").transformWithStateInPandas(
            Shards(sent), GIVEN, "Update" if emit == "updates" else "Append", "EventTime"
        )
        first, sums = scheme.queries[0].name, [F.sum(name).alias(name) for name in SEEN]
        bodies = _observed(stateful, COUNTS, first, sums).where("body is not null").select("body")
        if not board._sampled:
            answered = bodies.mapInArrow(unpacking(emitted, board_task(board)), from_arrow_schema(emitted))
        else:
            more = emitted.append(pa.field(SAMPLED, pa.string()))
            wanted = Wanted(tuple(scheme.key_names), tuple(query.name for query in scheme.queries))
            answered = bodies.mapInArrow(unpacking(more, board_task(board), wanted), from_arrow_schema(more))
            samples = [F.collect_list(SAMPLED).alias("samples")]  # few of each shard, picked where they are made
            answered = _observed(answered, SAMPLE, first, samples).drop(SAMPLED)
        return answered.withMetadata("window_end", _followed(scheme, emit, fill))

    def watched(self, board: Any, sight: Sight, query: Any) -> Run:
        """Run the query for a page, or follow one that runs."""
        if query is not None and not hasattr(query, "recentProgress"):
            raise SashError(f"query must be a streaming query of Spark, what start() gives, got {type(query).__name__}")
        reader, own = BatchReader(sight), query is None
        if own:
            answers = board._seen().results(late=True)
            query = answers.writeStream.format("noop").outputMode("append").start()

        def run(stopping: Event) -> None:
            try:
                while not stopping.is_set():
                    reader.look(query)
                    if not query.isActive:
                        return reader.look(query)
                    stopping.wait(PAUSE)
            finally:
                if own and query.isActive:
                    query.stop()

        return run

    def shard_count(self) -> int:
        """Over how many shards keys are spread."""
        return options.shards or int(self.frame.sparkSession.conf.get(PARTITIONS) or 200)

    def need_rocksdb(self) -> None:
        """Refuse a session that keeps state elsewhere than in RocksDB, where Spark has no state of this kind."""
        provider = self.frame.sparkSession.conf.get(PROVIDER) or ""
        if "RocksDB" not in provider:
            raise SashError(
                f"streaming queries keep their state in RocksDB, got a session with {provider.rpartition('.')[2]}: "
                f'write spark.conf.set("{PROVIDER}", "{ROCKSDB}")'
            )

    def watermarked(self, read: Read, delay: int) -> DataFrame:
        """The frame with a watermark so far behind the time, unless it has one."""
        if self._watermark() is not None:
            return read.frame
        assert isinstance(read.settings.time, Expressed)
        time = spark_column(bind(read.settings.time, read.frame.columns))
        moment = _moment(time, read.frame.select(time).schema[0].dataType)
        if read.settings.ahead is not None:
            bound = F.unix_micros(F.current_timestamp()) + microseconds("ahead", read.settings.ahead)
            moment = F.when(F.unix_micros(moment) <= bound, moment)  # others move no watermark
        return read.frame.withColumn(WATERMARK, moment).withWatermark(WATERMARK, f"{-(-delay // 1000)} milliseconds")


def by_shards(frame: DataFrame, body: bytes, emitted: pa.Schema, first: str, task: Callable[[str], str]) -> DataFrame:
    """What shards give for rows whose columns are numbered, with what an observer sees under the name of a column."""
    packed = frame.mapInArrow(_folds(body, task("rows of")), BODIES)
    stateful = packed.groupBy("label").transformWithStateInPandas(Shards(body), GIVEN, "Append", "EventTime")
    sums = [F.sum(name).alias(name) for name in SEEN]
    bodies = _observed(stateful, COUNTS, first, sums).where("body is not null").select("body")
    return bodies.mapInArrow(unpacking(emitted, task("")), from_arrow_schema(emitted))


def need_protobuf() -> None:
    """Refuse to start without the messages in which workers ask for state: Spark would say that a worker died."""
    try:
        installed = version("protobuf")
    except PackageNotFoundError:
        installed = "none"
    if installed == "none" or tuple(int(part) for part in installed.split(".")[:2]) < PROTOBUF:
        least = ".".join(map(str, PROTOBUF))
        raise SashError(
            f"streaming DataFrames need protobuf {least} or newer, got {installed}: pip install 'sash[spark]'"
        )


def _moment(time: Column, dtype: Any) -> Column:
    """A time as what Spark takes watermarks of, whatever the session's time zone."""
    if isinstance(dtype, DateType):
        return F.timestamp_seconds(F.unix_date(time).cast("long") * 86400)
    if isinstance(dtype, TimestampNTZType):
        epoch = F.lit("1970-01-01 00:00:00").cast("timestamp_ntz")
        return F.timestamp_micros(F.timestamp_diff("microsecond", epoch, time))
    return time


def _folds(sent: bytes, name: str) -> Any:
    """What a task does with its rows: a body for each shard, or more."""

    def fold(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        plan, _, late, _ = shared = opened(sent)
        limits = shared.limits
        context = TaskContext.get()
        task = 0 if context is None else context.partitionId()
        tables = (as_schema(batch, plan.scheme.schema) for batch in batches)
        numbers = labels(plan.shards)
        with within_memory(limits.memory, "the rows or partials that a task folds"):
            for body in plan.shipping(late, limits).bodies(tables):
                row = {
                    "label": pa.array([numbers[body.shard]], pa.int32()),
                    "task": pa.array([task], pa.int32()),
                    "kind": pa.array([body.content], pa.int32()),
                    "body": pa.array([body.table], pa.binary()),
                }
                yield pa.RecordBatch.from_pydict(row)
        set_apart()

    fold.__name__ = name
    return fold


def _followed(scheme: Scheme, emit: str, fill: Any) -> dict[str, Any]:
    """What operators after this are told of ``window_end``: that it follows the watermark, or why it does not."""
    if scheme.end_type != scheme.time_type:
        return {}
    if emit == "updates":
        return {UNMARKED: "early answers are given again when they change"}
    if scheme.settings.lateness is not None:
        return {UNMARKED: "with lateness=, answers are given again as late rows come"}
    if fill:
        return {UNMARKED: "windows without events are known behind the watermark, when the next event comes"}
    if scheme.spans:
        return {UNMARKED: "windows of events that last are answered behind the watermark"}
    if scheme.time_type.tz is None:
        return {UNMARKED: "Spark's watermarks are of timestamps with a zone; cast the time before the first"}
    return {DELAY: 0}


def _check_spans(spans: Spans | None) -> None:
    """Refuse what is not known of events that last on a stream."""
    if spans is None:
        return
    if spans.postpone is None:
        raise SashError(
            "postpone must be given for spans of a streaming DataFrame, such as postpone='2 hours': how long windows "
            "wait for events that began in them and last on; got None"
        )
    if spans.postpone == AUTO:
        raise SashError(
            "postpone must be an interval on a streaming DataFrame, where no task sees all spans, got 'auto'"
        )


def _observed(frame: DataFrame, begin: str, query: str, metrics: list[Column]) -> DataFrame:
    """A frame of which an observer sees these, by the name of the first query, with a number where that is taken."""
    for place in count(1):
        name = f"{begin}{query}" if place == 1 else f"{begin}{query} {place}"
        try:
            observed = frame.observe(name, *metrics)
            _ = observed.schema  # Connect finds out late
            return observed
        except AnalysisException as error:
            if "DUPLICATED_METRICS_NAME" not in str(error):
                raise
    raise AssertionError
