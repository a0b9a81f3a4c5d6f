"""What is computed: aggregates, their properties, the catalogue of built-ins, and their laws."""

from sash.algebra.aggregate import Aggregate
from sash.algebra.call import Call

__all__ = ["Aggregate", "Call"]
