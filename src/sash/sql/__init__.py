"""Whole queries: Spark SQL with the window functions that Spark does not have.

A query is read as far as its window calls go, and no further: these become columns that Sash computes, and everything
else stays the text it was, for Spark.
"""

from __future__ import annotations

import sys
from types import ModuleType
from typing import Any


class _Sql(ModuleType):
    """A module that can be called: ``sash.sql`` is where queries are at home, and what runs one."""

    def __call__(
        self, query: str, /, args: Any = None, *, spark: Any = None, engine: str = "spark", **tables: Any
    ) -> Any:
        """Run a query of Spark SQL, its window functions by Sash; a Spark DataFrame comes back.

        Args:
            query: one statement.
            args: values for its parameters, as in ``spark.sql``: by name for ``:name``, in a list for ``?``.
            spark: the session; that of a table, the active one or a new one, unless given.
            engine: "spark", or "local": tables in memory are asked without Spark, and an Arrow table comes back.
            tables: Spark DataFrames, pyarrow Tables, pandas or polars frames, by the names the query has for them.

        """
        if engine != "spark":
            from sash.sql import without_spark

            return without_spark.sql(query, args, spark, engine, tables)
        from sash.sql.entry import sql

        return sql(query, args, spark=spark, **tables)


sys.modules[__name__].__class__ = _Sql
