"""Turns an algorithm and an aggregate into a native kernel: one place, cached in memory and on disk.

A kernel file holds a function of an aggregate that returns the algorithm; ``@kernel`` puts it in the
registry, from which the planner, ``using=``, the tests and the benchmarks take it.
"""

from sash.kernels.compiling.instructions import (
    acquire,
    claim,
    doze,
    leading_zeros,
    popcount,
    prefetch,
    release,
    trailing_zeros,
)
from sash.kernels.compiling.registry import KERNELS, Kernel, kernel
from sash.kernels.compiling.routine import Routine, routine
from sash.kernels.compiling.specialise import Specialised, pinned, specialise
from sash.kernels.compiling.types import Answers, Flags, Floats, Frames, Marks, States, Values

__all__ = [
    "KERNELS",
    "Answers",
    "Flags",
    "Floats",
    "Frames",
    "Kernel",
    "Marks",
    "Routine",
    "Specialised",
    "States",
    "Values",
    "acquire",
    "claim",
    "doze",
    "kernel",
    "leading_zeros",
    "pinned",
    "popcount",
    "prefetch",
    "release",
    "routine",
    "specialise",
    "trailing_zeros",
]
