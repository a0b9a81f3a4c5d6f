"""What ``withColumns`` would do on Spark: the shuffles, and the algorithms that a sample of the rows leads to."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from pyspark.sql import DataFrame

from sash.algebra import Over
from sash.engine.evaluating import explain as explained
from sash.planner import Plan
from sash.spark.batch import opened
from sash.spark.exchanges import RANGED, Exchange, exchanges
from sash.spark.ranged import carried_names
from sash.spark.worker import types_of

SAMPLE = 50_000  # rows that the algorithms are chosen for


def explain(frame: DataFrame, columns: Mapping[str, Over]) -> Plan:
    """The plan; reads the first rows of the frame."""
    inputs, asked = opened(frame, columns)
    types_of(asked, inputs.schema())
    taken = inputs.taken(asked.values())
    named = [column.alias(f"c{place}") for place, column in enumerate(taken.values())]
    rows = frame.limit(SAMPLE).select(*named).toArrow().rename_columns(list(taken))
    moves = [f"{each}: {_said(each)}" for each in exchanges(asked, lambda _: False)]
    words = "on Spark, one thread a task; algorithms are chosen in each task, here for the first"
    return replace(explained(rows, asked), moves=tuple(moves), place=words, threads=1)


def _said(exchange: Exchange) -> str:
    names = ", ".join(exchange.columns)
    carried = carried_names(exchange.columns) if exchange.how == RANGED else []
    return f"{names} (rows of other pieces as partials: {', '.join(carried)})" if carried else names
