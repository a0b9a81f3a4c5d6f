"""Choices: ``sash.when(…, …).when(…, …).otherwise(…)``, which is SQL's CASE."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sash.errors import SashError
from sash.expressions.columns import Column, Foreign, Literal, Operation, operand
from sash.expressions.parsing import as_predicate


@dataclass(frozen=True, eq=False, repr=False, slots=True)
class Case(Operation):
    """A choice that can still be continued; where no condition holds it is NULL."""

    def when(self, condition: Any, value: Any) -> Case:
        """The value where a condition holds, and none of those before."""
        return Case("case", (*self.operands[:-1], _checked(condition), operand(value), Literal(None)))

    def otherwise(self, value: Any) -> Column:
        """The value where no condition holds."""
        return Operation("case", (*self.operands[:-1], operand(value)))


def when(condition: Any, value: Any) -> Case:
    """The value where a condition holds; NULL, or what ``otherwise`` says, where it does not.

    A condition is an expression, or SQL as in ``filter``.

    >>> from sash import col
    >>> when(col("qty") > 100, "large").when("qty > 10", "medium").otherwise("small")
    CASE WHEN qty > 100 THEN 'large' WHEN qty > 10 THEN 'medium' ELSE 'small' END
    """
    return Case("case", (_checked(condition), operand(value), Literal(None)))


def _checked(condition: Any) -> Column:
    predicate = as_predicate(condition)
    if isinstance(predicate, Foreign):
        raise SashError(f"when takes a condition of sash.col, got a PySpark column: {predicate}")
    return predicate
