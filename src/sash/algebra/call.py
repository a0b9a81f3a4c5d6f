"""An aggregate applied to columns: what ``sf.max("load")`` gives and a query takes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sash.algebra.aggregate import Aggregate


@dataclass(frozen=True)
class Call:
    """An aggregate and the columns it is computed of.

    >>> from sash import functions as sf
    >>> sf.max("load")
    max(load)
    >>> sf.max_by("trader", "price").aggregate
    <aggregate max_by>
    """

    aggregate: Aggregate
    columns: tuple[Any, ...] = ()

    def __repr__(self) -> str:
        return f"{self.aggregate.name}({', '.join(map(str, self.columns))})"
