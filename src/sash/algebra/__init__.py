"""What is computed: aggregates, their properties, the catalogue of built-ins, and their laws."""

from sash.algebra.aggregate import Aggregate
from sash.algebra.call import Call
from sash.algebra.window_function import WindowFunction

__all__ = ["Aggregate", "Call", "WindowFunction"]
