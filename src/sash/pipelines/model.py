"""What a pipeline file says: the model that checks it, and that editors' JSON schema is made from."""

from __future__ import annotations

from datetime import date, datetime, time
from typing import Annotated, Any, Literal, Self

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Discriminator,
    Field,
    StrictInt,
    StrictStr,
    Tag,
    model_validator,
)

from sash.pipelines import connectors

Name = Annotated[str, Field(pattern=r"^[A-Za-z_][A-Za-z0-9_]*$", description="a word: letters, digits and _")]
Option = str | int | float | bool
Names = Annotated[list[str], BeforeValidator(lambda given: [given] if isinstance(given, str) else given)]
Texts = Annotated[dict[str, str], Field(min_length=1)]


class Part(BaseModel):
    """A table of the file; keys that it does not know are refused."""

    model_config = ConfigDict(extra="forbid", frozen=True, populate_by_name=True)


class Spark(Part):
    """Where it runs."""

    master: str | None = Field(None, description="such as local[2], spark://host:7077, yarn or k8s://…")
    remote: str | None = Field(None, description="a Spark Connect server: sc://host:15002")
    packages: Names = Field([], description="Maven coordinates of connectors that Spark fetches")
    conf: dict[str, Option] = Field({}, description="settings of Spark, by their full names in quotes")

    @model_validator(mode="after")
    def _one_place(self) -> Self:
        if self.master and self.remote:
            raise ValueError("master and remote are two places; give one of them")
        return self


class Stream(Part):
    """How it runs as a stream."""

    checkpoint: str | None = Field(None, description="the folder that lets a stream go on where it was")
    trigger: str = Field("available now", description='"available now", or how often: "10 seconds"')


class Place(Part):
    """Where rows come from, or go to."""

    format: str | None = None
    path: str | None = Field(None, description="a file or a folder; relative to the pipeline's file")
    table: str | None = Field(None, description="a table of Spark's catalogue, or of the database for jdbc")
    options: dict[str, Option] = Field({}, description="what the format takes, as in Spark's reader and writer")

    @model_validator(mode="after")
    def _somewhere(self) -> Self:
        if self.path and self.table:
            raise ValueError("path and table are two places; give one of them")
        connector = connectors.named(self.format, self.options)
        lacking = connector.lacks(str(self.format), self.path, self.options) if connector else None
        if lacking is not None:
            raise ValueError(lacking)
        if not (self.path or self.table or self.format):
            raise ValueError("give a path, a table or a format")
        return self


class Source(Place):
    """Where rows come from."""

    format: str | None = Field(None, description=f"{', '.join(connectors.names(sources=True))}, …")
    columns: str | None = Field(
        None, alias="schema", description="columns and types as in Spark SQL; of Kafka: those of JSON in its values"
    )
    static: bool = Field(False, description="whether it is read once, as a table, also when the pipeline is a stream")
    where: str | None = Field(None, description="a condition in SQL, for rows that are wanted")


class SqlStep(Part):
    """A query of Spark SQL with the window functions of Sash."""

    name: Name
    kind: Literal["sql"] = "sql"
    sql: str


class WindowsStep(Part):
    """Columns that are added, each computed over every row's frame."""

    name: Name
    kind: Literal["windows"]
    from_: Name = Field(alias="from")
    partition_by: Names = Field([], description="columns or expressions whose values have windows of their own")
    order_by: Names = Field([], description='keys of the order, such as "at" or "delay desc nulls last"')
    frame: str | None = Field(None, description="as in SQL: range between '7 days' preceding and current row")
    columns: Texts = Field(description='functions by the names of their columns: median = "median(delay)"')


def _pairs(said: Any) -> Any:
    """The columns of both sides, where they have the same names, too."""
    said = [said] if isinstance(said, str) else said
    if isinstance(said, list) and not all(isinstance(name, str) for name in said):
        raise ValueError('on must be a column\'s name, several in a list, or pairs such as { left = "right" }')
    return {name: name for name in said} if isinstance(said, list) else said


def _both(said: Any) -> Any:
    """The column of both sides, where one name is said."""
    return (said, said) if isinstance(said, str) else said


class FeatureWindow(Part):
    """Columns computed over the rows of another table around each row."""

    of: Name = Field(description="the step or the source whose rows are in the frames")
    on: Annotated[dict[str, str], BeforeValidator(_pairs)] = Field(
        {}, description='what is equal on both sides: "user", ["user", "shop"] or { sym = "symbol" }'
    )
    at: Annotated[tuple[str, str] | None, BeforeValidator(_both)] = Field(
        None, description='a time or a number that frames are counted by: "ts", or ["ts", "quoted_at"]'
    )
    order_by: Names = Field([], description="which rows come first among those of one at")
    frame: str | None = Field(None, description="as in SQL: range between '7 days' preceding and current row")
    closed: Literal["both", "left", "right", "neither"] = Field(
        "both", description='which bounds of a range are in it; "left" leaves out the row\'s own moment'
    )
    columns: Texts = Field(description='functions by the names of their columns: spent = "sum(amount)"')


class FeaturesStep(Part):
    """Columns that are added to a table from the rows of others."""

    name: Name
    kind: Literal["features"]
    from_: Name = Field(alias="from", description="the rows that have the columns: none is dropped, none doubled")
    windows: list[FeatureWindow] = Field(min_length=1)

    @model_validator(mode="after")
    def _each_once(self) -> Self:
        names = [name.lower() for window in self.windows for name in window.columns]
        again = next((name for name in names if names.count(name) > 1), None)
        if again is not None:
            raise ValueError(f"the column {again} is there twice; give one of them another name")
        return self


class Delta(Part):
    """Windows by how far a column has moved."""

    delta: float
    of: str


class Until(Part):
    """Windows that end where a condition holds."""

    until: str


class Sessions(Part):
    """Windows of rows that are less than a gap apart."""

    session: StrictStr


class OwnSessions(Part):
    """The same, where each row has a gap of its own."""

    session_by: StrictStr


class Growing(Part):
    """Windows that grow by steps until they are of a size."""

    cumulate: StrictStr
    step: StrictStr


Size = StrictStr | StrictInt
RANGES = (Delta, Until, Sessions, OwnSessions, Growing)


class Query(Part):
    """Aggregates over the windows of a stream."""

    range: Size | Delta | Until | Sessions | OwnSessions | Growing = Field(
        description='"15 minutes", 100 rows, {delta = 5, of = "km"}, {until = "…"}, {session = "30 minutes"}, '
        '{session_by = "gap"}, {cumulate = "1 day", step = "1 hour"}'
    )
    slide: Size | Delta | None = None
    using: str | None = Field(None, description="the algorithm, for the curious")
    columns: Texts = Field(description='aggregates by the names of their columns: peak = "max(load)"')


class Queries(Part):
    """What continuous queries have in common."""

    name: Name
    from_: Name = Field(alias="from")
    key: Names = []
    watermark: str | None = Field(None, description="how far behind the latest event others may be")
    offset: str | None = None
    ahead: str | None = Field(None, description="how far behind the clock the future begins; rows of it are set aside")
    slicer: Literal["panes", "pairs", "cutty"] | None = None
    on_error: Literal["fail", "aside"] = Field("fail", description="what is done with rows with which functions fail")
    emit: Literal["final", "changes", "updates"] = "final"
    starts: bool = Field(False, description="whether answers have the starts of their windows, too")
    fill: Literal[False, True, "previous"] = Field(False, description="whether windows without events have a row, too")
    queries: list[Query] = Field(min_length=1)


class StreamStep(Queries):
    """Continuous queries over events of one moment."""

    kind: Literal["stream"]
    time: str | None = Field(None, description="the column of event times")
    lateness: str | None = Field(None, description="how long windows stay after their answer, for late rows")
    zone: str | None = Field(None, description='whose clocks say when days begin: "Europe/Berlin"')


class SpansStep(Queries):
    """Continuous queries over events that last."""

    kind: Literal["spans"]
    span: tuple[str, str] = Field(description='the columns of starts and ends: ["start", "end"]')
    postpone: str | None = Field(None, description='how long windows wait for events that last on; "auto"')
    longest: str | None = Field(None, description="how long an event may last")


def _kind(step: Any) -> str | None:
    said = step.get("kind") if isinstance(step, dict) else getattr(step, "kind", None)
    return "sql" if said is None and isinstance(step, dict) and "sql" in step else said


Step = Annotated[
    Annotated[SqlStep, Tag("sql")]
    | Annotated[WindowsStep, Tag("windows")]
    | Annotated[FeaturesStep, Tag("features")]
    | Annotated[StreamStep, Tag("stream")]
    | Annotated[SpansStep, Tag("spans")],
    Discriminator(
        _kind,
        custom_error_type="kind",
        custom_error_message='a step has sql, or a kind: "windows", "features", "stream" or "spans"',
    ),
]


class Sink(Place):
    """Where rows go."""

    format: str | None = Field(None, description=f"{', '.join(connectors.names(sources=False))}, …")
    name: Name | None = Field(None, description="for the checkpoint and the summary; the step's, unless given")
    from_: Name | None = Field(None, alias="from", description="a step or a source; the last step, unless given")
    mode: Literal["overwrite", "append", "error", "ignore"] | None = Field(
        None, description="of a batch; overwrite, unless given, for folders of this machine. A stream appends"
    )
    partition_by: Names = []
    key: str | None = Field(None, description="of Kafka: the column that becomes the key of messages")
    late: bool = Field(False, description="whether it takes the rows that came too late, in the place of answers")


class Pipeline(Part):
    """Sources, steps and sinks."""

    imports: Names = Field([], description="files or modules of Python with aggregates of your own")
    variables: dict[Name, Option | date | datetime | time] = Field(
        {}, description="values for ${name}; --set name=value overrides them"
    )
    mode: Literal["batch", "stream"] = Field("batch", description="how it runs unless --batch or --stream says so")
    spark: Spark = Spark()
    stream: Stream = Stream()
    sources: dict[Name, Source] = Field(min_length=1)
    steps: list[Step] = []
    sinks: list[Sink] = Field(min_length=1)


def schema() -> dict[str, Any]:
    """The JSON schema of a pipeline file."""
    model = Pipeline.model_json_schema(by_alias=True)
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": "A pipeline of Sash", **model}
