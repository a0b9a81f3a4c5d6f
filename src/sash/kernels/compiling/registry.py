"""The kernels by name. Adding an algorithm is adding one file."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, overload

KERNELS: dict[str, Kernel] = {}

Maker = Any  # a function of an aggregate that returns the algorithm, annotated with names of ``types``
Size = Callable[[int], int]  # how many entries an array has, for a capacity in rows


@dataclass(frozen=True)
class Kernel:
    """One compiled entry of an algorithm: how to make it for an aggregate, and what it keeps.

    ``sizes`` names the arrays that hold the algorithm's state between calls; ``ranges`` whether starts may
    go back and forth. ``grow`` moves the state of a kernel that is not a ring to a larger capacity; ``drive``
    runs a kernel that must be called more than once a batch; ``sound`` says whether restored arrays, and whether
    windows are of one size, are such as the kernel may index with, beyond what all kernels have alike.
    """

    name: str
    make: Maker
    card: str
    sizes: Mapping[str, Size] = field(default_factory=dict)
    ranges: bool = False
    grow: Kernel | None = None
    drive: Callable[..., Any] | None = None
    sound: Callable[[Mapping[str, Any], bool], bool] | None = None


@overload
def kernel(make: Maker) -> Kernel: ...
@overload
def kernel(**declared: Any) -> Callable[[Maker], Kernel]: ...
def kernel(make: Maker | None = None, **declared: Any) -> Kernel | Callable[[Maker], Kernel]:
    """Register ``make(aggregate) -> algorithm`` under its own name.

    Used bare, or with what the algorithm keeps: ``@kernel(sizes={...})``.
    """
    if make is None:
        return lambda function: _register(function, **declared)
    return _register(make)


def _register(make: Maker, **declared: Any) -> Kernel:
    kernel = Kernel(make.__name__, make, (make.__globals__.get("__doc__") or "").strip(), **declared)
    if kernel.name in KERNELS and KERNELS[kernel.name].make.__module__ != make.__module__:
        raise ValueError(f"two kernels are called {kernel.name}")
    KERNELS[kernel.name] = kernel
    return kernel


def parameters(algorithm: Callable[..., Any]) -> dict[str, str]:
    """The parameters of an algorithm and what each holds, a name of ``types``."""
    code = algorithm.__code__
    return {name: algorithm.__annotations__[name] for name in code.co_varnames[: code.co_argcount]}
