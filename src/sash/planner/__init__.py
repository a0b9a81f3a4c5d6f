"""Which kernel, and why: a cost model over the question, the frames and the data."""

from sash.planner.algorithms import Task
from sash.planner.choosing import Choice, choose
from sash.planner.plan import Plan, Sorting, Step

__all__ = ["Choice", "Plan", "Sorting", "Step", "Task", "choose"]
