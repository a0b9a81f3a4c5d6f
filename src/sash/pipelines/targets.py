"""Where the sinks of a pipeline write: checked before anything runs, so that nothing is lost that is still needed."""

from __future__ import annotations

from collections import Counter
from typing import Any

from sash.errors import SashError
from sash.pipelines import connectors, flows, same_place
from sash.pipelines.building import Built, at, resolved
from sash.pipelines.loading import Loaded
from sash.pipelines.model import SqlStep
from sash.spark import messages, passing, reading, stores, writing
from sash.sql.reads import reads


def check_places(loaded: Loaded, spark: Any) -> None:
    """Refuse to write what is read, by the names of places alone: before a store that may be away is asked."""
    files, tables = _read(loaded, spark)
    checkpoints = loaded.pipeline.stream.checkpoint
    written = {resolved(loaded, checkpoints)} if checkpoints else set()
    named = {
        *files,
        *(str(each) for sink in loaded.pipeline.sinks for each in (sink.path, sink.options.get("path")) if each),
    }
    elsewhere = any(reading.SCHEME.match(path) for path in (*named, *written))  # else all are in one store
    store = stores.default_store(spark) if elsewhere else stores.LOCAL
    for number, sink in enumerate(loaded.pipeline.sinks):
        with at(loaded, "sinks", number):
            target = _target(loaded, number)
            paths = {resolved(loaded, str(each)) for each in (sink.path, sink.options.get("path")) if each}
            if any(same_place.overlap(path, files, store) for path in paths) or _tables(spark, target) & tables:
                raise SashError(f"{target.shown} is read by this pipeline; it cannot be written, too")
            if any(same_place.overlap(path, written, store) for path in paths):
                raise SashError(f"{target.shown} holds, or is inside, what another sink or the checkpoint writes")
            written |= paths


def checked(loaded: Loaded, spark: Any, built: Built) -> list[writing.Target]:
    """The targets of the sinks; what could not be written, or would take away what another sink does, is refused."""
    targets = []
    filled: dict[tuple[str, ...], str] = {}  # tables, and how
    for number in range(len(loaded.pipeline.sinks)):
        with at(loaded, "sinks", number):
            target = _target(loaded, number)
            for table in _tables(spark, target):
                if "overwrite" in (filled.get(table), target.mode) and table in filled:
                    raise SashError(f"{target.shown} is what another sink writes, which one of them would replace")
                filled[table] = target.mode
            _check_columns(_columns(loaded, built, number), target)
            if loaded.streaming:
                _check_stream(loaded, built, number, target)
            connectors.of(target).check(spark, target, loaded.streaming)
            _check_mode(loaded, spark, number, target)
            targets.append(target)
    if loaded.streaming:
        flows.check(loaded, spark, targets)
    return targets


def _target(loaded: Loaded, number: int) -> writing.Target:
    sink = loaded.pipeline.sinks[number]
    path = None if sink.path is None else resolved(loaded, sink.path)
    if loaded.streaming and sink.mode not in (None, "append", "overwrite"):
        raise SashError(f"a stream appends, got mode {sink.mode}")
    mode = "append" if loaded.streaming else sink.mode or "overwrite"
    name = loaded.sink_name(number)
    options = {**connectors.of(sink).defaults, **sink.options}
    parts = tuple(sink.partition_by)
    return writing.Target(name, connectors.format_of(sink), path, sink.table, mode, parts, options, sink.key)


def _read(loaded: Loaded, spark: Any) -> tuple[set[str], set[tuple[str, ...]]]:
    """The paths and the tables that a pipeline reads, in its sources and by name in its queries."""
    sources = loaded.pipeline.sources.values()
    named = (each for source in sources for each in (source.path, source.options.get("path")) if each)
    files = {resolved(loaded, str(each)) for each in named} | {str(loaded.file.resolve())}
    tables = set()
    for source in sources:
        table = source.table or source.options.get("dbtable")
        if table:
            tables.add(connectors.of(source).whole_name(spark, str(table), source.options))
    known = {*loaded.pipeline.sources, *(step.name for step in loaded.pipeline.steps)}
    for step in loaded.pipeline.steps:
        if isinstance(step, SqlStep):
            names_read, paths = reads(step.sql)
            files |= paths  # from the folder of the process on, as Spark takes them
            names = {each for each in names_read if each.strip("`").lower() not in {name.lower() for name in known}}
            tables |= {connectors.TABLES.whole_name(spark, each, {}) for each in names}
    return files, tables


def _tables(spark: Any, target: writing.Target) -> set[tuple[str, ...]]:
    connector = connectors.of(target)
    name = connector.relation(target)
    return {connector.whole_name(spark, name, target.options)} if name else set()


def _check_mode(loaded: Loaded, spark: Any, number: int, target: writing.Target) -> None:
    """Refuse to replace what is not this machine's, or what the same file fills as a stream, unless it is said."""
    if loaded.streaming or loaded.pipeline.sinks[number].mode is not None or connectors.of(target).only_adds:
        return
    if number in loaded.streamed:
        why = "is where this pipeline writes as a stream, too"
    elif target.path is None or not writing.is_local(spark, target.path):
        why = "is no folder of this machine"
    else:
        return
    raise SashError(
        f'{target.name} would replace {target.shown}, which {why}: say that it may, with mode = "overwrite", or '
        'have rows added, with mode = "append"'
    )


def _columns(loaded: Loaded, built: Built, number: int) -> list[str]:
    """The columns that a sink writes; of late rows, as ``flows`` and ``batches`` put them together."""
    sink, taken = loaded.pipeline.sinks[number], loaded.taken(loaded.pipeline.sinks[number])
    if not sink.late:
        return list(built.frames[taken].columns)
    rows = passing.shown(built.boards[taken].open().late()).column_names
    added = messages.KEPT if flows.messages_of(loaded, built, taken) else ()
    return ["reason", *(name for name in rows if name != "reason"), *added]


def _check_columns(columns: list[str], target: writing.Target) -> None:
    doubled = [name for name, count in Counter(name.lower() for name in columns).items() if count > 1]
    if doubled and connectors.of(target).keeps:
        raise SashError(f"two columns to write are called {doubled[0]}; give one another name")
    for name in (*target.partition_by, *([target.key] if target.key else [])):
        if name not in columns:
            raise SashError(f"there is no column {name} to write; there are {', '.join(columns)}")


def _check_stream(loaded: Loaded, built: Built, number: int, target: writing.Target) -> None:
    sink = loaded.pipeline.sinks[number]
    if not built.frames[loaded.taken(sink)].isStreaming:
        raise SashError("what a sink takes must be a stream, got a table that is static")
    if loaded.pipeline.stream.checkpoint is None and connectors.of(target).keeps:
        raise SashError('a stream needs a checkpoint to go on where it was: [stream] checkpoint = "checkpoints/…"')
    early = not sink.late and flows.updates(loaded, loaded.taken(sink))
    connectors.of(target).check_stream(target, loaded.pipeline.stream.trigger, early)
