"""The few functions that differ with the shape of a state, written out for that shape.

Numba reads fields of a record, and builds tuples, only where their names and lengths stand in the
source, so the source is made here. Indices are cast to unsigned: an index that might be negative would
be tested at every access.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np

Shape = Any  # None for a scalar, a tuple of shapes for a tuple


def lifting(inputs: int, rows: bool, lift: Callable[..., Any]) -> Callable[..., Any]:
    """``lift_row(values, i, row)``: the partial of the i-th row of a batch."""
    arguments = ["row"] * rows + [f"values[{k}][at(i)]" for k in range(inputs)]
    return define("lift_row(values, i, row)", f"return lift({', '.join(arguments)})", lift=lift)


def looking(floats: list[int]) -> Callable[..., Any]:
    """``has_nan(values, i)``: whether the i-th row of a batch has a NaN in one of these columns."""
    tests = [f"values[{k}][at(i)] != values[{k}][at(i)]" for k in floats]
    return define("has_nan(values, i)", f"return {' or '.join(tests) or 'False'}")


def loading(shape: Shape) -> Callable[..., Any]:
    """``load(states, i)``: the i-th partial, as a scalar or a nested tuple."""
    if shape is None:
        return define("load(states, i)", "return states[at(i)]")
    return define("load(states, i)", "record = states[at(i)]", f"return {pattern(shape, 'record.f{}')}")


def storing(shape: Shape) -> Callable[..., Any]:
    """``store(states, i, state)``: put a partial in its place."""
    if shape is None:
        return define("store(states, i, state)", "states[at(i)] = state")
    moves = [f"record.f{k} = state{path}" for k, path in enumerate(_paths(shape))]
    return define("store(states, i, state)", "record = states[at(i)]", *moves)


def comparing(shape: Shape) -> Callable[..., Any]:
    """``same(a, b)``: whether two partials are equal, NaN being equal to itself."""
    paths = [""] if shape is None else list(_paths(shape))
    tests = [f"(a{p} == b{p} or (a{p} != a{p} and b{p} != b{p}))" for p in paths]
    return define("same(a, b)", f"return {' and '.join(tests)}")


def answering(shape: Shape, optional: bool, lower: Callable[..., Any], surely: Any) -> Callable[..., Any]:
    """``answer(out, i, state)``: lower a partial into the i-th answer; None is NULL.

    ``surely`` tells Numba that an optional value is not None.
    """
    put = _put(shape, "value{}")
    if optional:
        blank = ["out[1][at(i)] = False", *_put(shape, "0")]
        put = ["if maybe is None:", *_indent(blank), "else:", *_indent(["value = surely(maybe)", *put])]
    head = "maybe = lower(state)" if optional else "value = lower(state)"
    return define("answer(out, i, state)", head, *put, lower=lower, surely=surely)


def leaving(shape: Shape) -> Callable[..., Any]:
    """``absent(out, i)``: the i-th answer is NULL, and zeros stand in its place."""
    return define("absent(out, i)", "out[1][at(i)] = False", *_put(shape, "0"))


def _put(shape: Shape, value: str) -> list[str]:
    """Lines that write the i-th answer, each scalar of it as told by its subscript."""
    if shape is None:
        return [f"out[0][at(i)] = {value.format('')}"]
    moves = (f"record.f{k} = {value.format(path)}" for k, path in enumerate(_paths(shape)))
    return ["record = out[0][at(i)]", *moves]


def _indent(lines: list[str]) -> list[str]:
    return ["    " + line for line in lines]


def _paths(shape: Shape) -> list[str]:
    """The subscripts of each scalar in a nested tuple, from left to right."""
    if shape is None:
        return [""]
    return [f"[{k}]{rest}" for k, inner in enumerate(shape) for rest in _paths(inner)]


def pattern(shape: Shape, name: str, first: int = 0) -> str:
    """The source of a nested tuple of this shape, its scalars numbered from left to right."""
    numbers = itertools.count(first)

    def write(inner: Shape) -> str:
        if inner is None:
            return name.format(next(numbers))
        return "(" + "".join(write(part) + ", " for part in inner) + ")"

    return write(shape)


def define(head: str, *body: str, **names: Any) -> Callable[..., Any]:
    """A function of this head and body, which reads these names."""
    source = f"def {head}:\n" + "".join(f"    {line}\n" for line in body)
    scope: dict[str, Any] = {"at": np.uint64, **names}
    exec(source, scope)
    return scope[head.partition("(")[0]]
