"""``sash.sql``: a query is read, its window calls are computed, and Spark is given the rest."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from sash.errors import SashError, outside
from sash.spark import dataframes, text_queries
from sash.spark.described import told_of_pipelines
from sash.sql import boards, statements, texts, without_spark
from sash.sql.continuous import continuous, is_continuous
from sash.sql.given import Given
from sash.sql.query_plan import QueryPlan
from sash.sql.rewriting import Rewriting
from sash.sql.syntax import Span
from sash.sql.tokens import Source, read
from sash.windows.over import Over

CASE, QUOTES = "spark.sql.caseSensitive", "spark.sql.ansi.doubleQuotedIdentifiers"


@dataclass
class SparkSide:
    """Spark, as far as rewriting a query needs it."""

    spark: Any  # a session
    args: Any
    views: dict[str, Any]
    explains: bool = False
    plans: list[Any] = field(default_factory=list)
    by_spark: list[str] = field(default_factory=list)
    _known: dict[str, Any] = field(default_factory=dict)

    def frame(self, text: str) -> Any:
        """The DataFrame of a query; its columns are looked at, so that what is wrong is found now, on Connect too."""
        if text not in self._known:
            frame = texts.sent(self.spark, text, self.args, self.views)
            _ = frame.columns
            self._known[text] = frame
        return self._known[text]

    def columns(self, text: str) -> list[str] | None:
        """The names of the columns of a query; None where Spark does not accept it."""
        try:
            return list(self.frame(text).columns)
        except Exception as error:
            if text_queries.refusal(error) is None:
                raise
            return None

    def value(self, text: str) -> Any:
        """What an expression without columns is."""
        return self.frame(f"SELECT {text}").collect()[0][0]

    def has_function(self, name: str) -> bool:
        """Whether Spark has a function of this name."""
        return self.spark.catalog.functionExists(name)

    def computed(self, frame: Any, columns: dict[str, Over], by_spark: list[str]) -> str:
        """What stands in a text for a frame with these columns."""
        self.by_spark += by_spark
        name = f"sash_{len(self.views)}"
        with _as_written():
            if self.explains and columns:
                self.plans.append(dataframes.explain(frame, columns))
            self.views[name] = dataframes.with_columns(frame, columns) if columns else frame
        return texts.marked(name)

    def other(self, frame: Any) -> Any:
        """A frame as the table of ``Window.of``."""
        return frame

    def failure(self, error: Exception, source: Source, span: Span) -> Exception | None:
        """What Spark does not accept, shown where the user wrote it."""
        return shown(error, source, span)


@contextmanager
def _as_written() -> Iterator[None]:
    """Let errors and warnings name columns as the user does."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            yield
        except SashError as error:
            error.args = (texts.shown(str(error)), *error.args[1:])
            raise
    for each in caught:
        warnings.warn(texts.shown(str(each.message)), each.category, stacklevel=outside())


def shown(error: Exception, source: Source, span: Span) -> Exception | None:
    """What Spark does not accept, with the line that it is about; None of other errors."""
    reason = text_queries.refusal(error)
    if reason is None:
        return None
    at = source.tokens[span[0]].start
    places = [source.text.find(piece, at) for piece in reason.pieces]
    at = next((place for place in places if place >= 0), _nearest(error, source, at))
    return text_queries.refused(str(source.pointed(texts.shown(reason.sentence), at)))


def _nearest(error: Exception, source: Source, start: int) -> int:
    """The place in the query of a syntax error in what Spark was sent: after the same words."""
    text, match = getattr(error, "sent", ""), re.search(r"\(line (\d+), pos (\d+)\)", str(error))
    if not text or match is None:
        return start
    lines = text.splitlines(keepends=True)
    pos = sum(map(len, lines[: int(match[1]) - 1])) + int(match[2])
    return texts.after_same_words(source.text, text[:pos], start)


def sql(query: str, args: Any = None, *, spark: Any = None, engine: str = "spark", **tables: Any) -> Any:
    """Run a query of Spark SQL, its window functions by Sash; a Spark DataFrame comes back.

    Args:
        query: one statement.
        args: values for its parameters, as in ``spark.sql``: by name for ``:name``, in a list for ``?``.
        spark: the session; that of a table, the active one or a new one, unless given.
        engine: "spark", or "local": tables in memory are asked without Spark, and an Arrow table comes back.
        tables: Spark DataFrames, pyarrow Tables, pandas or polars frames, by the names the query has for them.

    """
    if engine != "spark":
        return without_spark.sql(query, args, spark, engine, tables)
    with told_of_pipelines("sash.sql has to: use sash.withColumns with schema= there"):
        try:
            return _answered(query, args, spark, tables)
        except SashError:
            if tables or not isinstance(query, str) or statements.concerns(query):
                raise
            return text_queries.session(spark, ()).sql(query, args)  # it is all Spark's


def _answered(query: str, args: Any, spark: Any, tables: dict[str, Any]) -> Any:
    source, session, tables_given = _opened(query, args, spark, tables)
    if source is None:
        return session.spark.sql(query, args)
    statement = statements.statement(source)
    if is_continuous(source):
        return boards.board(continuous(source, *statement.query), session.spark, tables_given).results()
    if statement.view is not None and not statement.view.temporary and not tables:
        answer = _by_spark(session, query, args)
        if answer is not None:
            return answer
    text = _rewritten(source, session, statement, tables_given)
    if _uses(text):
        statements.check_keeps(source)
        if statement.view is not None:
            return statements.make_view(session.spark, statement.view, session.frame(text))
    try:
        return texts.sent(session.spark, statement.before(text), session.args, session.views)
    except Exception as error:
        refused = shown(error, source, statement.query)
        if refused is None:
            raise
        raise refused from None


def explain(query: str, args: Any = None, *, spark: Any = None, **tables: Any) -> QueryPlan:
    """Say who answers each window call of a query, and how."""
    source, session, given = _opened(query, args, spark, tables)
    if source is None:
        return QueryPlan((), ())
    session.explains = True
    if is_continuous(source):
        lo, hi = statements.statement(source).query
        return QueryPlan((boards.board(continuous(source, lo, hi), session.spark, given).board.explain(),), ())
    _rewritten(source, session, statements.statement(source), given)
    return QueryPlan(tuple(session.plans), tuple(session.by_spark))


def _opened(query: str, args: Any, spark: Any, tables: dict[str, Any]) -> tuple[Source | None, SparkSide, Given]:
    """A query with the frames that it names; no source where it has nothing for Sash, and goes to Spark as it is."""
    if not isinstance(query, str):
        raise SashError(f"query must be text, got {query!r} of type {type(query).__name__}")
    session = text_queries.session(spark, tables.values())
    given = Given(session)
    if not tables and not statements.concerns(query) and not statements.looks_around(query):
        return None, SparkSide(session, args, {}), given
    exact, names_in_quotes = (text_queries.is_set(session, name) for name in (CASE, QUOTES))
    source = read(texts.checked(query), exact, names_in_quotes)
    source, args = statements.named_parameters(source, args)
    source = given.named(source, {name: text_queries.as_frame(session, name, frame) for name, frame in tables.items()})
    return source, SparkSide(session, args, given.views), given


def _rewritten(source: Source, session: SparkSide, statement: statements.Statement, given: Given) -> str:
    return Rewriting(source, session).top(*statement.query, given.scope)


def _by_spark(session: SparkSide, query: str, args: Any) -> Any:
    """A lasting view of what Spark can say itself is its own; None where it cannot."""
    try:
        return session.spark.sql(query.strip().rstrip(";"), args)
    except Exception as error:
        if text_queries.refusal(error) is None:
            raise
        return None


def _uses(text: str) -> bool:
    return "\0" in text
