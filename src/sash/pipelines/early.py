"""What a pipeline's file alone tells is wrong: intervals, names, calls, and types where schemas are written out.

Nothing of it needs Spark, which takes seconds to start. All that is wrong is said at once.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

import pyarrow as pa

import sash
from sash.errors import SashError
from sash.expressions.arrow.casting import TYPES
from sash.pipelines.building import at, board_of, extent, features, import_all, windows_sql
from sash.pipelines.loading import Loaded, PipelineError
from sash.pipelines.model import FeaturesStep, SpansStep, SqlStep, StreamStep, WindowsStep
from sash.sql.continuous import aggregate_of, continuous, is_continuous
from sash.sql.syntax import call_at, windowed
from sash.sql.tokens import Source, read
from sash.windows.extents import extent_of, interval_of
from sash.windows.intervals import Interval

WORD = re.compile(r"\w+")
DECIMAL = re.compile(r"(?:decimal|dec|numeric)(?:\((\d+)(?:,(\d+))?\))?")
SYNONYMS = {"byte": "tinyint", "short": "smallint", "integer": "int", "long": "bigint", "real": "float"}
ZONED = {"timestamp": pa.timestamp("us", "UTC"), "timestamp_ltz": pa.timestamp("us", "UTC")}


def check_early(loaded: Loaded) -> None:
    """Refuse what is wrong with the file, whatever Spark would say."""
    wrong: list[str] = []
    schemas: dict[str, pa.Schema | None] = {}
    with _noted(wrong):
        import_all(loaded)
    if wrong:  # names of its aggregates would not be known
        raise PipelineError(wrong[0])
    for name, source in loaded.pipeline.sources.items():
        schemas[name] = None if source.columns is None else schema_of(source.columns)
    for number, step in enumerate(loaded.pipeline.steps):
        schemas[step.name] = None
        if isinstance(step, SqlStep):
            with _noted(wrong), at(loaded, "steps", number, "sql"):
                _check_sql(step.sql)
        elif isinstance(step, WindowsStep):
            _check_windows(loaded, number, step, schemas[step.from_], wrong)
        elif isinstance(step, FeaturesStep):
            with _noted(wrong):
                schemas[step.name] = _check_features(loaded, number, step, schemas)
        elif (schema := schemas[step.from_]) is None:
            _check_queries(loaded, number, step, wrong)
        else:
            with _noted(wrong):
                board = board_of(loaded, number, step, schema)
                schemas[step.name] = board.open(step.emit, step.starts).answer_schema
    for number, sink in enumerate(loaded.pipeline.sinks):
        written = schemas.get(loaded.taken(sink))
        for key in ("partition_by", "key") if written is not None and not sink.late else ():
            names = sink.partition_by if key == "partition_by" else [sink.key] if sink.key else []
            with _noted(wrong), at(loaded, "sinks", number, key):
                _check_names(names, written)
    if wrong:
        raise PipelineError("\n".join(dict.fromkeys(wrong)))


@contextmanager
def _noted(wrong: list[str]) -> Iterator[None]:
    try:
        yield
    except SashError as error:
        wrong.append(str(error))


def schema_of(text: str) -> pa.Schema | None:
    """The columns that a text as Spark's names, or None where it has types that are not known here.

    >>> schema_of("ts timestamp, plug string, load decimal(10, 2)").names
    ['ts', 'plug', 'load']
    >>> schema_of("places array<string>")
    """
    fields = []
    for part in re.split(r",(?![^(<]*[)>])", text):
        match = re.fullmatch(r"\s*(\w+|`[^`]+`)\s*:?\s*([\w(),\s]+?)(?:\s+not\s+null)?\s*", part, re.IGNORECASE)
        dtype = None if match is None else _type(match[2])
        if match is None or dtype is None:
            return None
        fields.append(pa.field(match[1].strip("`"), dtype))
    return pa.schema(fields)


def _type(name: str) -> pa.DataType | None:
    name = re.sub(r"\s", "", name.lower())
    if decimal := DECIMAL.fullmatch(name):
        precision, scale = int(decimal[1] or 10), int(decimal[2] or 0)
        return pa.decimal128(precision, scale) if 0 < precision <= 38 and scale <= precision else None
    name = SYNONYMS.get(name, name)
    return ZONED.get(name) or TYPES.get(name)


def _check_sql(text: str) -> None:
    source = read(text)
    if is_continuous(source):
        continuous(source, 0, len(source.tokens))


def _check_windows(loaded: Loaded, number: int, step: WindowsStep, schema: pa.Schema | None, wrong: list[str]) -> None:
    """The frame and the calls of a step of windows, and the plain names in it."""
    before = len(wrong)
    if step.frame is not None:
        with _noted(wrong), at(loaded, "steps", number, "frame"):
            _check_frame(step.frame)
    for name, text in step.columns.items():
        with _noted(wrong), at(loaded, "steps", number, "columns", name):
            source = read(f"{text} over w")
            call_at(source, 0, len(source.tokens))
    if len(wrong) == before:
        with _noted(wrong), at(loaded, "steps", number):
            read(windows_sql(step))
    for key in ("partition_by", "order_by"):
        with _noted(wrong), at(loaded, "steps", number, key):
            _check_names([each for each in map(_name, getattr(step, key)) if each is not None], schema)


def _check_features(
    loaded: Loaded, number: int, step: FeaturesStep, schemas: Mapping[str, pa.Schema | None]
) -> pa.Schema | None:
    """Frames, calls, names and types of a step of features; gives its columns, where those of all tables are known."""
    known = {name: schema.empty_table() for name, schema in schemas.items() if schema is not None}
    names = [step.from_, *(window.of for window in step.windows)]
    nothing = pa.table({})
    columns = features(loaded, number, step, {name: known.get(name, nothing) for name in names})
    for place, window in enumerate(step.windows):
        for key, pairs in (("on", window.on.items()), ("at", [window.at] if window.at else [])):
            with at(loaded, "steps", number, "windows", place, key):
                _check_names([left for left, _ in pairs], schemas[step.from_])
                _check_names([right for _, right in pairs], schemas[window.of])
    if not all(name in known for name in names):
        return None
    with at(loaded, "steps", number):
        return sash.withColumns(known[step.from_], columns).schema


def _check_frame(text: str) -> None:
    source = read(text)
    frame = windowed(source, 0, len(source.tokens)).frame
    if frame is None:
        raise source.error("a frame begins with ROWS, RANGE or GROUPS", 0)
    for edge in (frame.start, frame.end):
        if edge.span is not None:
            _check_offset(source, *edge.span)


def _check_offset(source: Source, lo: int, hi: int) -> None:
    """An offset that is an interval must be one."""
    begin = lo + (source.word(lo) == "INTERVAL")
    if hi - begin != 1 or not source.tokens[begin].text.startswith("'"):
        return
    try:
        Interval.parse(source.tokens[begin].value, "the offset of a frame")
    except SashError as error:
        raise source.error(str(error), begin) from None


def _name(text: str) -> str | None:
    """The column that a key of an order or a partition plainly names."""
    words = text.split()
    return words[0] if words and WORD.fullmatch(words[0]) and (len(words) == 1 or words[1].lower() in (
        "asc", "desc", "nulls")) else None  # fmt: skip


def _check_names(names: list[str], schema: pa.Schema | None) -> None:
    known = {each.lower() for each in schema.names} if schema is not None else set()
    for name in names:
        if schema is not None and name.lower() not in known:
            raise SashError(f"there is no column {name!r}; there are {', '.join(schema.names)}")


def _check_queries(loaded: Loaded, number: int, step: StreamStep | SpansStep, wrong: list[str]) -> None:
    """Intervals and calls, where the columns are not known."""
    for key in ("watermark", "offset", "postpone", "longest", "lateness", "ahead"):
        value = getattr(step, key, None)
        if value is not None and not (key == "postpone" and value == "auto"):
            with _noted(wrong), at(loaded, "steps", number, key):
                interval_of(key, value)
    for place, query in enumerate(step.queries):
        for name, text in query.columns.items():
            with _noted(wrong), at(loaded, "steps", number, "queries", place, "columns", name):
                aggregate_of(text)
        with _noted(wrong), at(loaded, "steps", number, "queries", place):
            extent_of(extent(query.range), extent(query.slide))
