"""A pipeline file, read: its variables replaced, everything that can be known without Spark checked."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from sash.errors import SashError
from sash.pipelines import connectors, places
from sash.pipelines.model import RANGES, FeaturesStep, Pipeline, Sink, SqlStep
from sash.pipelines.variables import Variables
from sash.sql.one_query import check_query

WORDS = {
    "missing": "is missing",
    "extra_forbidden": "is not known here",
    "string_type": "must be text",
    "string_pattern_mismatch": "must be a word: letters, digits and _, and no digit first",
    "bool_type": "must be true or false",
    "bool_parsing": "must be true or false",
    "too_short": "must not be empty",
}
UNTOLD = ("missing", "extra_forbidden", "too_short", "value_error", "kind")  # errors that have no value, or say it
SIZES = 'must be an interval such as "15 minutes", a number of rows, { delta = 5, of = "km" }, { until = "…" }, '
SIZES += '{ session = "30 minutes" }, { session_by = "gap" } or { cumulate = "1 day", step = "1 hour" }'
POINTED = re.compile(r"\nline (\d+):\n")  # how errors of queries show their place
KINDS = ("sql", "windows", "features", "stream", "spans")


class PipelineError(SashError):
    """Something is wrong with a pipeline, at a line of its file."""


@dataclass(frozen=True)
class Text:
    """A file, the values of its variables, and where in it everything stands."""

    file: Path
    lines: dict[places.Path, int]
    variables: Variables

    def error(self, sentence: str, *path: str | int) -> PipelineError:
        """What is wrong at a place of the file; in a text of several lines, at the one that the sentence points to."""
        line = places.line_of(self.lines, path)
        if tuple(path) in self.lines and (pointed := POINTED.search(sentence)):
            line = self.lines.get((*path, places.BEGIN), self.lines[tuple(path)]) + int(pointed[1]) - 1
            sentence = sentence.replace(pointed[0], "\n", 1)
        return PipelineError(self.variables.masked(f"{self.file.name}{f', line {line}' if line else ''}: {sentence}"))


@dataclass(frozen=True)
class Loaded(Text):
    """A pipeline, and the file it is from."""

    pipeline: Pipeline
    streaming: bool  # whether it runs as a stream
    streamed: frozenset[int] = frozenset()  # sinks of a batch with the place that they have as a stream
    imported: set[str] = field(default_factory=set, compare=False)  # of the modules that it names, those that were

    @property
    def folder(self) -> Path:
        """Where relative paths begin."""
        return self.file.parent

    def sink_name(self, number: int) -> str:
        """The name of a sink: its own, or that of the step it takes from."""
        sink = self.pipeline.sinks[number]
        return sink.name or self.taken(sink) + ("_late" if sink.late else "")

    def taken(self, sink: Sink) -> str:
        """The step, or the source, that a sink takes from."""
        names = [step.name for step in self.pipeline.steps] or list(self.pipeline.sources)
        return sink.from_ or names[-1]


def load(file: str | Path, values: Mapping[str, Any] | None = None, stream: bool | None = None) -> Loaded:
    """A pipeline from its file.

    Args:
        file: the path of a TOML file.
        values: variables that override those of the file.
        stream: whether it runs as a stream; as the file says, unless given.

    """
    file = Path(file)
    try:
        text = file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is no UTF-8"
        raise PipelineError(f"{file} cannot be read: {reason}") from None
    try:
        return _checked(file, _read(file, text), places.places(text), values or {}, stream)
    except RecursionError:
        raise PipelineError(f"{file.name}: tables or arrays are nested too deeply") from None


def _read(file: Path, text: str) -> dict[str, Any]:
    try:
        return tomllib.loads(text)
    except ValueError as error:  # of tomllib, or of a number that Python does not read
        said = re.sub(r" \(at line (\d+), column (\d+)\)| \(at end of document\)", "", str(error))
        at = re.search(r"\(at line (\d+)", str(error))
        where = f", line {at[1]}" if at else ", at its end" if "at end of document" in str(error) else ""
        raise PipelineError(f"{file.name}{where}: {said[:1].lower()}{said[1:]}") from None


def _checked(
    file: Path, document: dict[str, Any], lines: dict[places.Path, int], values: Mapping[str, Any], stream: bool | None
) -> Loaded:
    if "${" in str(document.get("mode", "")):
        raise Text(file, lines, Variables({})).error("mode must be batch or stream, got a variable", "mode")
    streaming = document.get("mode") == "stream" if stream is None else stream
    mode = {"mode": "stream" if streaming else "batch"}
    variables = Variables({**values, **mode})
    text = Text(file, lines, variables)
    declared = _filled(text, document.get("variables", {}), ("variables",))
    variables.add(declared if isinstance(declared, dict) else {})
    filled = {key: value if key == "variables" else _filled(text, value, (key,)) for key, value in document.items()}
    try:
        pipeline = Pipeline.model_validate(filled)
    except ValidationError as error:
        raise _told(text, error) from None
    streamed = frozenset() if streaming else _streamed(pipeline, document, filled, values)
    loaded = Loaded(file, lines, variables, pipeline, streaming, streamed)
    _check_names(loaded)
    _check_queries(loaded)
    unused = [name for name in values if name not in pipeline.variables and name not in variables.used]
    if unused:
        raise loaded.error(f"nothing uses ${{{unused[0]}}}, which --set names")
    return loaded


def _filled(text: Text, value: Any, path: places.Path) -> Any:
    """A value with its variables replaced."""
    if isinstance(value, dict):
        return {key: _filled(text, each, (*path, key)) for key, each in value.items()}
    if isinstance(value, list):
        return [_filled(text, each, (*path, place)) for place, each in enumerate(value)]
    if not isinstance(value, str):
        return value
    try:
        return text.variables.filled(value)
    except SashError as error:
        raise text.error(str(error), *path) from None


def _streamed(
    pipeline: Pipeline, document: dict[str, Any], filled: dict[str, Any], values: Mapping[str, Any]
) -> frozenset[int]:
    """The sinks whose places do not depend on ${mode}, of a pipeline that may run as a stream."""
    if pipeline.stream.checkpoint is None and pipeline.mode != "stream":
        return frozenset()
    variables = Variables({**values, "mode": "stream"})
    text = Text(Path(), {}, variables)
    variables.add(_filled(text, document.get("variables", {}), ()))
    streams = [_place(_filled(text, each, ())) for each in document["sinks"]]
    batches = [_place(each) for each in filled["sinks"]]
    return frozenset(number for number, each in enumerate(streams) if each == batches[number])


def _place(sink: dict[str, Any]) -> list[Any]:
    return [sink.get(name) for name in ("path", "table", "options")]


def _told(text: Text, error: ValidationError) -> PipelineError:
    """All that the model does not like, a line each."""
    sentences: dict[str, None] = {}
    for each in error.errors(include_url=False):
        path = _path(each["loc"])
        words = WORDS.get(each["type"])
        if path[-1:] in (("range",), ("slide",)) and each["type"] != "missing":
            words = SIZES
        elif each["type"] == "missing" and isinstance(path[-1], int):
            words = "needs more values"
        if words is None:
            words = each["msg"].removeprefix("Value error, ")
            words = words if each["type"] in ("value_error", "kind") else words[:1].lower() + words[1:]
        if each["type"] not in UNTOLD and isinstance(each["input"], str | int | float):
            words += f", got {_shown(each['input'])}"
        name = ".".join(str(key) for key in path if not isinstance(key, int))
        shown = f"{name} {words}" if each["type"] not in ("value_error", "kind") else words
        sentences[str(text.error(shown, *path))] = None
    return PipelineError("\n".join(sentences))


def _shown(value: Any) -> str:
    """A value as a file has it."""
    return str(value).lower() if isinstance(value, bool) else repr(value)


def _path(path: tuple[str | int, ...]) -> tuple[str | int, ...]:
    """A place of the file, without what the model knows it by."""
    return tuple(key for place, key in enumerate(path) if not _is_tag(path, place))


def _is_tag(path: tuple[str | int, ...], place: int) -> bool:
    """Whether a piece of a place is not of the file: the kind of a step, or of a range."""
    after_step = place == 2 and path[0] == "steps" and path[2] in KINDS
    return after_step or (
        place > 4
        and path[place] in ("str", "int", *(each.__name__ for each in RANGES))
        and path[place - 1] in ("range", "slide")
    )


def _check_names(loaded: Loaded) -> None:
    """Every name is its own, and is known before it is used."""
    pipeline = loaded.pipeline
    known = set(pipeline.sources)
    taken_names = {name.lower() for name in known}
    for name, source in pipeline.sources.items():
        connector = connectors.named(source.format, source.options)
        if connector is not None and not connector.is_source:
            raise loaded.error(f"{source.format} is a sink, not a source", "sources", name, "format")
    for number, step in enumerate(pipeline.steps):
        if step.name.lower() in taken_names:
            raise loaded.error(f"the name {step.name} is taken", "steps", number, "name")
        if not isinstance(step, SqlStep) and step.from_ not in known:
            raise _unknown(loaded, step.from_, known, "steps", number, "from")
        for place, window in enumerate(step.windows if isinstance(step, FeaturesStep) else ()):
            if window.of not in known:
                raise _unknown(loaded, window.of, known, "steps", number, "windows", place, "of")
        known.add(step.name)
        taken_names.add(step.name.lower())
    boards = {step.name for step in pipeline.steps if step.kind in ("stream", "spans")}
    names: set[str] = set()
    for number, sink in enumerate(pipeline.sinks):
        taken = loaded.taken(sink)
        if taken not in known:
            raise _unknown(loaded, taken, known, "sinks", number, "from")
        if sink.late and taken not in boards:
            raise loaded.error(f"late is for steps of streams and spans, {taken} is none", "sinks", number, "late")
        connector = connectors.named(sink.format, sink.options)
        if connector is not None and not connector.is_sink:
            raise loaded.error(f"{sink.format} is a source, not a sink", "sinks", number, "format")
        if loaded.sink_name(number).lower() in names:
            sentence = f"two sinks are called {loaded.sink_name(number)}; give one a name of its own"
            raise loaded.error(sentence, "sinks", number, "name")
        names.add(loaded.sink_name(number).lower())


def _check_queries(loaded: Loaded) -> None:
    """Refuse statements that are no queries: Spark would run them as soon as the step is planned."""
    for number, step in enumerate(loaded.pipeline.steps):
        if isinstance(step, SqlStep):
            try:
                check_query(step.sql)
            except SashError as error:
                raise loaded.error(str(error), "steps", number, "sql") from None


def _unknown(loaded: Loaded, name: str, known: set[str], *path: str | int) -> PipelineError:
    return loaded.error(f"there is no {name} here; there are {', '.join(sorted(known))}", *path)
