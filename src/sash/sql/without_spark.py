"""``sash.sql(…, engine="local")``: queries of tables in memory, without Spark.

Sash answers the window calls, as anywhere; DuckDB, which sqlglot writes the rest of the query for, does what surrounds
them. The dialect stays Spark's.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import pyarrow as pa

from sash.engine.evaluating import evaluate
from sash.engine.tables import as_arrow, column_names
from sash.errors import SashError
from sash.libraries import is_spark
from sash.sql import statements
from sash.sql.around import Scope
from sash.sql.blocks import SETS
from sash.sql.continuous import is_continuous
from sash.sql.one_query import check_query
from sash.sql.rewriting import Rewriting
from sash.sql.syntax import Span
from sash.sql.texts import after_same_words, checked, quoted, shown
from sash.sql.tokens import STRING, Source, Token, read
from sash.windows.over import Over

EXTRA = "pip install 'sash[local]'"
# what is spelt differently, as Spark has it
MACROS = ("raise_error(message) AS error(message)", "signum(x) AS sign(x)")
_NAMED = re.compile(r'"([^"]+)"|with name (\S+)')  # in the errors of DuckDB
# types of DuckDB, as Spark calls them
TYPES = {"INTEGER": "int", "VARCHAR": "string", "BLOB": "binary", "HUGEINT": "bigint"}


def sql(query: str, args: Any, spark: Any, engine: str, tables: Mapping[str, Any]) -> pa.Table:
    """The answer to a query of tables in memory, as an Arrow table."""
    if engine != "local":
        raise SashError(f'engine must be "spark" or "local", got {engine!r}')
    if spark is not None:
        raise SashError('engine="local" takes no session of Spark')
    if not isinstance(query, str):
        raise SashError(f"query must be text, got {query!r} of type {type(query).__name__}")
    check_query(checked(query))
    source, args = statements.named_parameters(read(query), args)
    if is_continuous(source):
        raise SashError('engine="local" takes no continuous queries; sash.stream does, in memory, too')
    session = InMemory(args or {}, {name: _in_memory(name, table) for name, table in tables.items()})
    lo, hi = statements.statement(source).query
    text = Rewriting(source, session).top(lo, hi, Scope())
    try:
        return session.table(text)
    except (session.duckdb.Error, _Unread) as error:
        raise SashError(str(session.failure(error, source, (lo, hi)))) from None


def _in_memory(name: str, table: Any) -> pa.Table:
    if is_spark(table):
        raise SashError(f'{name} is a DataFrame of Spark; engine="local" takes pyarrow, pandas and polars tables')
    try:
        return as_arrow(table, column_names(table))
    except SashError as error:
        raise SashError(f"{name}: {error}") from None


class _Unread(Exception):
    """A query that sqlglot cannot read, with what stands before the place where it stopped."""

    def __init__(self, error: Exception) -> None:
        whole = (getattr(error, "errors", None) or [{}])[0]
        sentence = shown(whole.get("description") or str(error).strip().splitlines()[0])
        super().__init__(f'engine="local" cannot read this query: {sentence}')
        self.before = str(whole.get("start_context") or "").rstrip()


@dataclass
class Rows:
    """The rows of a query, which are computed when they are asked for."""

    session: InMemory
    text: str  # in DuckDB's words
    fields: Sequence[tuple[str, Any]]  # names and types

    @property
    def columns(self) -> list[str]:
        """The names of the columns."""
        return [name for name, _ in self.fields]

    @property
    def dtypes(self) -> list[tuple[str, str]]:
        """Names and types, as Spark calls them."""
        return [(name, _type_name(str(dtype))) for name, dtype in self.fields]

    def toDF(self, *names: str) -> Rows:
        """The same rows, their columns under other names."""
        listed = ", ".join(map(_identifier, names))
        fields = [(name, dtype) for name, (_, dtype) in zip(names, self.fields, strict=True)]
        return Rows(self.session, f"SELECT * FROM ({self.text}) AS t({listed})", fields)

    def table(self) -> pa.Table:
        """The rows as an Arrow table; whole numbers of 128 bits, which sums are in DuckDB, as Spark has them."""
        numbers = [f"c{number}" for number in range(len(self.fields))]
        listed = [
            f"CAST({name} AS BIGINT) AS {name}" if str(dtype) == "HUGEINT" else name
            for name, (_, dtype) in zip(numbers, self.fields, strict=True)
        ]
        text = f"SELECT {', '.join(listed)} FROM ({self.text}) AS t({', '.join(numbers)})"
        table = self.session.connection.sql(text).to_arrow_table()
        return table.rename_columns(self.columns)


@dataclass
class InMemory:
    """DuckDB, in the place of Spark."""

    args: Mapping[str, Any]
    tables: Mapping[str, pa.Table]
    views: list[str] = field(default_factory=list)

    @cached_property
    def duckdb(self) -> Any:
        """The library."""
        try:
            import duckdb
        except ImportError:
            raise SashError(f'engine="local" needs DuckDB for what surrounds the windows: {EXTRA}') from None
        return duckdb

    @cached_property
    def connection(self) -> Any:
        """A database in memory that has these tables, and reads nothing else."""
        connection = self.duckdb.connect(
            config={"enable_external_access": "false", "python_enable_replacements": "false"}
        )
        for macro in MACROS:
            connection.execute(f"CREATE MACRO {macro}")
        for name, table in self.tables.items():
            connection.register(name, table)
        return connection

    def frame(self, text: str) -> Rows:
        """The rows of a query; DuckDB looks at it, but does not run it."""
        translated = self.translated(text)
        relation = self.connection.sql(translated)
        return Rows(self, translated, list(zip(relation.columns, relation.types, strict=True)))

    def table(self, text: str) -> pa.Table:
        """The answer to a query."""
        return self.frame(text).table()

    def columns(self, text: str) -> list[str] | None:
        """What nobody named is called as it is written."""
        return None

    def value(self, text: str) -> Any:
        """What an expression without columns is."""
        return self.frame(f"SELECT {text}").table().column(0)[0].as_py()

    def has_function(self, name: str) -> bool:
        """Only what Sash has is answered over windows."""
        return False

    def computed(self, frame: Rows, columns: Mapping[str, Over], by_spark: Sequence[str]) -> str:
        """What stands in a text for the rows with these columns."""
        if by_spark:
            raise SashError(f'{shown(by_spark[0])} is not answered with engine="local"')
        name = f"sash_{len(self.views)}"
        self.views.append(name)
        try:
            table = evaluate(frame.table(), columns)
        except SashError as error:
            error.args = (shown(str(error)), *error.args[1:])
            raise
        self.connection.register(name, table)
        return quoted(name)

    def other(self, frame: Rows) -> pa.Table:
        """The rows as the table of ``Window.of``."""
        return frame.table()

    def failure(self, error: Exception, source: Source, span: Span) -> Exception | None:
        """What DuckDB does not accept, shown where the user wrote the query; None of other errors."""
        start = source.tokens[span[0]].start
        if isinstance(error, _Unread):
            at = after_same_words(source.text, error.before, start)
            return source.pointed(str(error), len(source.text) - len(source.text[at:].lstrip()))
        if not isinstance(error, self.duckdb.Error):
            return None
        sentence = shown(str(error).strip().splitlines()[0])
        names = (
            re.search(rf"\b{re.escape(name)}\b", source.text[start:]) for name in map("".join, _NAMED.findall(sentence))
        )
        at = next((start + name.start() for name in names if name is not None), start)
        return source.pointed(f'{sentence} (with engine="local")', at)

    def translated(self, text: str) -> str:
        """A text of Spark in the words of DuckDB, its parameters filled in."""
        import sqlglot
        from sqlglot import exp
        from sqlglot.errors import ErrorLevel, SqlglotError

        try:
            _check_joins(text)
            tree = sqlglot.parse_one(_plainly_quoted(text), read="spark")
            for each in list(tree.find_all(exp.Placeholder)):
                each.replace(exp.convert(self.argument(str(each.this))))
            return tree.sql("duckdb", unsupported_level=ErrorLevel.RAISE)
        except (SqlglotError, RecursionError) as error:
            raise _Unread(error) from None

    def argument(self, name: str) -> Any:
        """The value of a parameter."""
        if name not in self.args:
            raise SashError(f"args has no value for :{name}")
        return self.args[name]


def _check_joins(text: str) -> None:
    """Refuse joins that would join what a comma names, too: sqlglot writes it as CROSS JOIN, which binds as they do."""
    source = read(text)
    for start in (place for place in range(len(source.tokens)) if source.word(place) == "FROM"):
        place, comma = start + 1, False
        while place < len(source.tokens) and source.word(place) not in (")", ";", "WHERE", "GROUP", "ORDER", *SETS):
            word, following = source.word(place), source.word(place + 1)
            comma = comma or word == ","
            outer = word in ("RIGHT", "FULL", "NATURAL") and following in ("OUTER", "JOIN")
            if comma and (outer or (word == "USING" and following == "(")):
                raise SashError(
                    'engine="local" takes no RIGHT, FULL or NATURAL JOIN, and no USING, behind tables with a comma '
                    "between them; write CROSS JOIN and an ON"
                )
            place = source.after(place)


def _type_name(dtype: str) -> str:
    """What Spark calls a type of DuckDB; there, an array begins with that word."""
    item = dtype.rpartition("[")[0] if dtype.endswith("]") else ""
    return f"array<{_type_name(item)}>" if item else TYPES.get(dtype, dtype.lower())


def _identifier(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _plainly_quoted(text: str) -> str:
    r"""A text whose strings are all in single quotes: as Spark reads them, whoever reads them next.

    >>> print(_plainly_quoted("select 'a''b' from t"))
    select 'a\'b' from t
    """
    source, out, at, place = read(text), "", 0, 0
    tokens = source.tokens
    while place < len(tokens):
        token, first = tokens[place], place
        place += 1
        if token.kind != STRING or source.word(first - 1) == "X":
            continue
        value = token.value
        while place < len(tokens) and _doubles(tokens[place - 1], tokens[place]):  # 'it''s'
            value += token.text[0] + tokens[place].value
            place += 1
        if "\\" in value and source.word(first - 1) in ("LIKE", "ILIKE"):
            raise SashError('engine="local" takes no escapes in the pattern of LIKE')
        escaped = value.replace("\\", "\\\\").replace("'", "\\'")
        out += f"{text[at : token.start]}'{escaped}'"
        at = tokens[place - 1].end
    return out + text[at:]


def _doubles(token: Token, following: Token) -> bool:
    """Whether the quote between two strings is a letter of one."""
    return following.kind == STRING and token.end == following.start and token.text[-1] == following.text[0]
