"""Which library an object is of, told by its class, so that no library is imported for that."""

from __future__ import annotations

from typing import Any


def library_of(thing: Any) -> str:
    """The library of an object's class, such as ``"pyspark"``.

    >>> from decimal import Decimal
    >>> library_of(Decimal(1))
    'decimal'
    """
    return type(thing).__module__.partition(".")[0]


def is_pyspark(thing: Any, name: str) -> bool:
    """Whether this is PySpark's class of that name, classic or Connect."""
    return any(base.__name__ == name and base.__module__.split(".")[0] == "pyspark" for base in type(thing).__mro__)


def is_spark(frame: Any) -> bool:
    """Whether this is a DataFrame of PySpark, classic or Connect, or of its pandas API."""
    return is_pyspark(frame, "DataFrame")


def is_pandas_on_spark(frame: Any) -> bool:
    """Whether this is a DataFrame of PySpark's pandas API."""
    return type(frame).__module__.startswith("pyspark.pandas.")


def is_remote(thing: Any) -> bool:
    """Whether this is of Spark Connect, whose server cannot reach this process."""
    return type(thing).__module__.startswith("pyspark.sql.connect")


def is_lazy(frame: Any) -> bool:
    """Whether this is a LazyFrame of polars."""
    return library_of(frame) == "polars" and type(frame).__name__ == "LazyFrame"
