"""What is computed: aggregates, their properties, the catalogue of built-ins, and their laws."""

from sash.algebra.aggregate import Aggregate
from sash.algebra.call import Call, Over
from sash.algebra.window_function import WINDOW_FUNCTIONS, WindowFunction, window_function

__all__ = ["WINDOW_FUNCTIONS", "Aggregate", "Call", "Over", "WindowFunction", "window_function"]
