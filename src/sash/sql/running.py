"""``sash.sql``: a query is read, its window calls are computed, and Spark is given the rest."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar

from sash.algebra import Over
from sash.errors import SashError
from sash.spark import frames, queries
from sash.spark.skew import LOOK_FROM, expected_bytes
from sash.sql import statements, texts
from sash.sql.continuous import continuous, is_continuous
from sash.sql.given import Given
from sash.sql.plan import QueryPlan
from sash.sql.rewriting import Rewriting
from sash.sql.syntax import Span
from sash.sql.tokens import Source, pointed, read


@dataclass
class SparkSide:
    """Spark, as far as rewriting a query needs it."""

    spark: Any  # a session
    args: Any
    views: dict[str, Any]
    explains: bool = False
    never_left: ClassVar[bool] = False  # to Spark: for bench/sql.py
    plans: list[Any] = field(default_factory=list)
    by_spark: list[str] = field(default_factory=list)
    _known: dict[str, Any] = field(default_factory=dict)

    def frame(self, text: str) -> Any:
        """The DataFrame of a query; its columns are looked at, so that what is wrong is found now, on Connect too."""
        if text not in self._known:
            found = texts.sent(self.spark, text, self.args, self.views)
            _ = found.columns
            self._known[text] = found
        return self._known[text]

    def value(self, text: str) -> Any:
        """What an expression without columns is."""
        return self.frame(f"SELECT {text}").collect()[0][0]

    def is_small(self, text: str) -> bool:
        """Whether Spark expects so few rows of a query that one task can hold them."""
        return not self.never_left and expected_bytes(self.frame(text)) < LOOK_FROM

    def computed(self, frame: Any, columns: dict[str, Over], by_spark: list[str]) -> str:
        """What stands in a text for a frame with these columns."""
        self.by_spark += by_spark
        if self.explains and columns:
            self.plans.append(frames.explain(frame, columns))
        name = f"sash_{len(self.views)}"
        self.views[name] = frames.with_columns(frame, columns) if columns else frame
        return texts.marked(name)

    def failure(self, error: Exception, source: Source, span: Span) -> Exception | None:
        """What Spark does not accept, shown where the user wrote it."""
        return shown(error, source, span)


def shown(error: Exception, source: Source, span: Span) -> Exception | None:
    """What Spark does not accept, with the line that it is about; None of other errors."""
    reason = queries.refusal(error)
    if reason is None:
        return None
    at = source.tokens[span[0]].start
    places = [source.text.find(piece, at) for piece in reason.pieces]
    at = next((place for place in places if place >= 0), at)
    return queries.refused(str(pointed(texts.shown(reason.sentence), source.text, at)))


def sql(query: str, args: Any = None, *, spark: Any = None, **tables: Any) -> Any:
    """Run a query; see ``sash.sql``."""
    source, session, given = _opened(query, args, spark, tables)
    if source is None:
        return session.spark.sql(query, args)
    statement = statements.statement(source)
    if is_continuous(source):
        raise SashError(f"this continuous query waits for sash.stream: {continuous(source, *statement.query)}")
    text = _rewritten(source, session, statement, given)
    if statement.view is not None and _uses(text):
        return statements.make_view(session.spark, statement.view, session.frame(text))
    try:
        return texts.sent(session.spark, statement.before(text), session.args, session.views)
    except Exception as error:
        refused = shown(error, source, statement.query) if session.views else None
        if refused is None:
            raise
        raise refused from None


def explain(query: str, args: Any = None, *, spark: Any = None, **tables: Any) -> QueryPlan:
    """Say who answers each window call of a query, and how."""
    source, session, given = _opened(query, args, spark, tables)
    if source is None:
        return QueryPlan((), ())
    session.explains = True
    _rewritten(source, session, statements.statement(source), given)
    return QueryPlan(tuple(session.plans), tuple(session.by_spark))


def _opened(query: str, args: Any, spark: Any, tables: dict[str, Any]) -> tuple[Source | None, SparkSide, Given]:
    """A query with the frames that it names; no source where it has nothing for Sash, and goes to Spark as it is."""
    if not isinstance(query, str):
        raise SashError(f"query must be text, got {query!r} of type {type(query).__name__}")
    session = queries.session(spark, tables.values())
    given = Given(session)
    if not tables and not statements.concerns(query):
        return None, SparkSide(session, args, {}), given
    source = read(texts.checked(query))
    source, args = statements.named_parameters(source, args)
    source = given.named(source, {name: queries.as_frame(session, name, frame) for name, frame in tables.items()})
    return source, SparkSide(session, args, given.views), given


def _rewritten(source: Source, session: SparkSide, statement: statements.Statement, given: Given) -> str:
    lo, hi = statement.query
    return Rewriting(source, session).top(lo, hi, given.scope)


def _uses(text: str) -> bool:
    return "\0" in text
