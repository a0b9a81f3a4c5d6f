"""The DataFrames of a pipeline: sources read, steps planned, nothing run yet."""

from __future__ import annotations

import importlib
import importlib.util
import re
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Any

import sash
from sash.errors import SashError
from sash.expressions import col
from sash.expressions.naming import quoted
from sash.pipelines import connectors
from sash.pipelines.loading import Loaded, PipelineError
from sash.pipelines.model import (
    Delta,
    FeaturesStep,
    Growing,
    OwnSessions,
    Part,
    Sessions,
    Source,
    SpansStep,
    SqlStep,
    StreamStep,
    Until,
    WindowsStep,
)
from sash.spark import reading, text_queries
from sash.sql import reads
from sash.sql.continuous import aggregate_of
from sash.sql.fragments import framed, function_of
from sash.windows import Window
from sash.windows.extents import cumulate, delta, punctuation, session

GONE = re.compile(r"there is no column '([^']*)'")


@dataclass
class Built:
    """The frames by the names of their sources and steps, and what is known of them."""

    frames: dict[str, Any] = field(default_factory=dict)
    boards: dict[str, Any] = field(default_factory=dict)
    plans: dict[str, Any] = field(default_factory=dict)
    counts: dict[str, reading.Count] = field(default_factory=dict)  # of rows that windows read, by source or step
    malformed: dict[str, Any] = field(default_factory=dict)  # messages that are no rows, by source
    needs: dict[str, set[str]] = field(default_factory=dict)  # which counts a frame fills


def build(loaded: Loaded, spark: Any, explains: bool = False, watched: bool = False) -> Built:
    """Read the sources and plan the steps; an error says at which line."""
    built = Built()
    import_all(loaded)
    for name, source in loaded.pipeline.sources.items():
        with at(loaded, "sources", name):
            streaming, connector = loaded.streaming and not source.static, connectors.of(source)
            connector.check_source(source.format, streaming)
            frame, malformed = connector.read(spark, origin(loaded, source), streaming, name)
            built.frames[name] = reading.wanted(frame, source.where)
            built.needs[name] = set()
            if malformed is not None:
                built.malformed[name] = malformed
    for number, step in enumerate(loaded.pipeline.steps):
        with at(loaded, "steps", number, *(["sql"] if isinstance(step, SqlStep) else [])):
            if isinstance(step, SqlStep):
                said = reads.names(step.sql)
                named = [need for name, need in built.needs.items() if name.lower() in said]
                built.needs[step.name] = set().union(*named)
                _queried(built, spark, step.name, step.sql, explains)
                continue
            frame = _counted(built, step.from_)
            built.needs[step.name] = built.needs[step.from_]
            if isinstance(step, WindowsStep):
                _queried(built, spark, step.name, windows_sql(step), explains)
                continue
            if isinstance(step, FeaturesStep):
                tables = {window.of: _counted(built, window.of) for window in step.windows}
                built.needs[step.name] = built.needs[step.name].union(*(built.needs[name] for name in tables))
                columns = features(loaded, number, step, tables)
                built.frames[step.name] = sash.withColumns(frame, columns)
                if explains:
                    built.plans[step.name] = sash.explain(frame, columns)
                continue
        _board(loaded, built, number, step, frame, watched)
        if explains:
            with at(loaded, "steps", number):
                built.plans[step.name] = built.boards[step.name].explain()
    return built


@contextmanager
def at(loaded: Loaded, *path: str | int) -> Iterator[None]:
    """Let what goes wrong say where in the file it was asked for."""
    try:
        yield
    except PipelineError:
        raise
    except SashError as error:
        # the column or the argument that it is about may have a line of its own
        parts = [("columns", error.column or ""), (str(error).split(" ", 1)[0],), *_naming(loaded, error, *path)]
        nearer = next((part for part in parts if (*path, *part) in loaded.lines), ())
        raise loaded.error(str(error), *path, *nearer) from None
    except Exception as error:
        sentence = text_queries.said(error)
        if sentence is None:
            raise
        raise loaded.error(sentence, *path) from None


def _naming(loaded: Loaded, error: SashError, *path: str | int) -> list[tuple[str | int, ...]]:
    """The keys of a step that name the column which an error says there is not."""
    if path[:1] == ("steps",) and len(path) == 2:
        step = loaded.pipeline.steps[int(path[1])]
        for place, window in enumerate(step.windows if isinstance(step, FeaturesStep) else ()):
            if error.column in window.columns:
                return [("windows", place, "columns", error.column)]
    gone = GONE.match(str(error))
    if gone is None or path[:1] != ("steps",) or len(path) != 2:
        return []
    step = loaded.pipeline.steps[int(path[1])]
    return [(key,) for key in ("time", "key", "span") if gone[1] in (getattr(step, key, None) or ())]


def import_all(loaded: Loaded) -> None:
    """Import what the file names, once."""
    for place, name in enumerate(loaded.pipeline.imports):
        if name not in loaded.imported:
            with at(loaded, "imports", place):
                imported(name, loaded.folder)
            loaded.imported.add(name)


def imported(name: str, folder: Path) -> None:
    """Import a module, or a file beside the pipeline, and register the aggregates at its top level."""
    beside = str(folder.resolve())
    sys.path.insert(0, beside)
    try:
        file = folder / (name if name.endswith(".py") else f"{name.replace('.', '/')}.py")
        module = _from_file(file) if name.endswith(".py") or file.exists() else importlib.import_module(name)
    except Exception as error:
        raise SashError(f"{name} cannot be imported: {type(error).__name__}: {error}") from None
    finally:
        sys.path.remove(beside)
    for each in vars(module).values():
        if isinstance(each, sash.Aggregate):
            sash.register(each)


def _from_file(file: Path) -> ModuleType:
    """A module that nothing else can import: what is in it travels to Spark's workers by value."""
    spec = importlib.util.spec_from_file_location(f"sash_imported_{file.stem}", file)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def origin(loaded: Loaded, source: Source) -> reading.Origin:
    """A source with its path made whole."""
    path = None if source.path is None else resolved(loaded, source.path)
    format = source.format if source.table else connectors.format_of(source)
    return reading.Origin(format, path, source.table, source.columns, source.options)


def resolved(loaded: Loaded, path: str) -> str:
    """A path from the folder of the pipeline's file on, unless it says from where."""
    path = re.sub(r"^file:(//)?(?=/)", "", path)
    return path if reading.SCHEME.match(path) else str((loaded.folder / path).resolve())


def _counted(built: Built, name: str) -> Any:
    """A frame whose rows are counted as windows read them; of a stream Spark counts itself."""
    if built.frames[name].isStreaming:
        return built.frames[name]
    if name not in built.counts:
        built.counts[name] = reading.Count()
        built.frames[name] = built.counts[name].of(built.frames[name])
        built.needs[name] = {*built.needs[name], name}
    return built.frames[name]


def _queried(built: Built, spark: Any, name: str, text: str, explains: bool) -> None:
    tables = dict(built.frames)
    built.frames[name] = sash.sql(text, spark=spark, **tables)
    _ = built.frames[name].columns
    if explains:
        built.plans[name] = sash.explain(text, spark=spark, **tables)


def windows_sql(step: WindowsStep) -> str:
    """The query that a step of windows is.

    >>> step = WindowsStep(name="a", kind="windows", from_="t", order_by=["at"], columns={"m": "median(x)"})
    >>> print(windows_sql(step))
    select *, median(x) over w as m from t window w as (order by at)
    """
    by = f"partition by {', '.join(step.partition_by)} " if step.partition_by else ""
    order = f"order by {', '.join(step.order_by)} " if step.order_by else ""
    columns = ", ".join(f"{call} over w as {quoted(name)}" for name, call in step.columns.items())
    window = f"{by}{order}{step.frame or ''}".strip()
    return f"select *, {columns} from {quoted(step.from_)} window w as ({window})"


def features(loaded: Loaded, number: int, step: FeaturesStep, tables: Mapping[str, Any]) -> dict[str, Any]:
    """The columns of a step of features, over tables that are there by their names."""
    columns = {}
    for place, each in enumerate(step.windows):
        with at(loaded, "steps", number, "windows", place):
            window = Window.of(tables[each.of], on=each.on or None, at=each.at)
            window = window.orderBy(*each.order_by) if each.order_by else window
        if each.frame is not None:
            with at(loaded, "steps", number, "windows", place, "frame"):
                window = framed(window, each.frame)
        with at(loaded, "steps", number, "windows", place, "closed"):
            window = window.closed(each.closed)
        for name, text in each.columns.items():
            with at(loaded, "steps", number, "windows", place, "columns", name):
                columns[name] = function_of(text).over(window)
    return columns


def _board(loaded: Loaded, built: Built, number: int, step: StreamStep | SpansStep, frame: Any, watched: bool) -> None:
    """The board of a step's queries, and its answers."""
    board = board_of(loaded, number, step, frame)
    with at(loaded, "steps", number):
        board = board._seen() if watched else board
        built.frames[step.name] = board.results(emit=step.emit, starts=step.starts, fill=step.fill)
        built.boards[step.name] = board


def board_of(loaded: Loaded, number: int, step: StreamStep | SpansStep, source: Any) -> Any:
    """The board of a step's queries over rows, or over a schema alone."""
    said: dict[str, Any] = {"key": list(step.key) or None, "watermark": step.watermark, "offset": step.offset}
    said |= {"ahead": step.ahead, "on_error": step.on_error}
    if isinstance(step, SpansStep):
        said |= {"span": step.span, "postpone": step.postpone, "longest": step.longest}
    else:
        said |= {"time": step.time, "lateness": step.lateness, "zone": step.zone}
    with at(loaded, "steps", number):
        board = sash.stream(source, slicer=step.slicer, **said)
    for place, query in enumerate(step.queries):
        calls = {}
        for name, text in query.columns.items():
            with at(loaded, "steps", number, "queries", place, "columns", name):
                calls[name] = aggregate_of(text)
        with at(loaded, "steps", number, "queries", place):
            board = board.query(calls, range=extent(query.range), slide=extent(query.slide), using=query.using)
    return board


def extent(said: str | int | Part | None) -> Any:
    """A range or a slide as ``sash.stream`` takes it."""
    match said:
        case Delta():
            return delta(said.of, said.delta)
        case Until():
            return punctuation(said.until)
        case Sessions():
            return session(said.session)
        case OwnSessions():
            return session(col(said.session_by))
        case Growing():
            return cumulate(said.cumulate, step=said.step)
    return said
