"""The plan of a query: that of each select with window calls, and what is left to Spark."""

from __future__ import annotations

from dataclasses import dataclass

from sash.planner import Plan
from sash.planner.in_words import InWords
from sash.planner.stream_plan import StreamPlan
from sash.sql.texts import shown


@dataclass(frozen=True, repr=False)
class QueryPlan(InWords):
    """A plan of a whole query: ``str`` says it in words, ``chosen`` maps each column to its algorithm."""

    selects: tuple[Plan | StreamPlan, ...]
    by_spark: tuple[str, ...]

    @property
    def chosen(self) -> dict[str, str]:
        """The algorithm that answers each window call; those of Spark are its own."""
        chosen = {shown(column): name for plan in self.selects for column, name in plan.chosen.items()}
        return chosen | dict.fromkeys(self.by_spark, "spark")

    def __str__(self) -> str:
        lines = [shown(str(plan)) for plan in self.selects]
        lines += [f"by Spark itself: {call}" for call in self.by_spark]
        return "\n\n".join(lines) or "no window calls for Sash: Spark answers the query as it is"
