"""Which kernel, and why: a cost model over the operation, the frames and the data."""

from sash.kernels.algorithm import Task
from sash.planner.choosing import ON_SPARK, Choice, cheapest, choose
from sash.planner.declared import algorithms, names
from sash.planner.plan import Plan, Sorting, Step

__all__ = ["ON_SPARK", "Choice", "Plan", "Sorting", "Step", "Task", "algorithms", "cheapest", "choose", "names"]
