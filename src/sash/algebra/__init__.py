"""What is computed: aggregates, their properties, the catalogue of built-ins, and their laws."""

from sash.algebra.aggregate import Aggregate
from sash.algebra.call import Call
from sash.algebra.laws import Report, try_laws

__all__ = ["Aggregate", "Call", "Report", "try_laws"]
