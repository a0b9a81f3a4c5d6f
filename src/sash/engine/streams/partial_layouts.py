"""Partial layouts, of what cells hold: numbers that kernels fold, or objects that are made of many rows at once."""

from __future__ import annotations

from functools import reduce
from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sash.algebra import Aggregate
from sash.engine.streams.restoring import array_of, refused, table_of
from sash.errors import SashError
from sash.kernels.compiling import Kernel, Specialised, specialise
from sash.kernels.inputs import Inputs
from sash.kernels.operations.merging import joining
from sash.kernels.sealing import unpadded
from sash.kernels.slices.cell_folding import cell_folding, run_folding
from sash.kernels.slices.partials import Partial


class PartialLayout:
    """A partial that cells hold: the aggregate for its types, and the kernels that make and merge it."""

    def __init__(self, aggregate: Aggregate, dtypes: tuple[np.dtype, ...]) -> None:
        self.inputs = Inputs(aggregate, dtypes)
        self._kernels: dict[str, Specialised] = {}
        folding = self.kernel(cell_folding)
        self.partial = Partial(folding.state, folding.shape)

    def kernel(self, kernel: Kernel) -> Specialised:
        """A kernel for this partial, looked up once."""
        if kernel.name not in self._kernels:
            self._kernels[kernel.name] = specialise(kernel, self.inputs.aggregate, self.inputs.dtypes)
        return self._kernels[kernel.name]

    def fold(self, values: tuple[np.ndarray, ...], cells: np.ndarray, states: np.ndarray, filled: np.ndarray) -> None:
        """Fold rows into the partials of their cells."""
        self.kernel(cell_folding).run(values, cells, states, filled)

    def fold_runs(self, values: tuple[np.ndarray, ...], edges: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The partials of runs of rows, and which of them have a row."""
        states, filled = np.zeros(len(edges) - 1, self.partial.state), np.zeros(len(edges) - 1, np.uint8)
        self.kernel(run_folding).run(values, edges, states, filled)
        return states, filled

    def join(self, states: np.ndarray, which: np.ndarray, edges: np.ndarray) -> np.ndarray:
        """The fold of each run of partials, given by their places; of an empty run, zeros."""
        out = np.zeros(len(edges) - 1, self.partial.state)
        self.kernel(joining).run(states, which, edges, out)
        return out

    def packed(self, states: np.ndarray, filled: np.ndarray) -> np.ndarray | pa.Table:
        """Partials as a snapshot keeps them."""
        return states

    def unpacked(self, parts: dict[str, Any], name: str, filled: np.ndarray) -> np.ndarray:
        """Partials that a snapshot kept."""
        return array_of(parts, name, self.partial.state, len(filled))

    def binary(self, states: np.ndarray, filled: np.ndarray) -> pa.Array:
        """Partials as bytes, NULL where there is none."""
        offsets = np.arange(len(states) + 1, dtype=np.int32) * states.dtype.itemsize
        buffers = [pa.array(filled != 0).buffers()[1], pa.py_buffer(offsets), pa.py_buffer(unpadded(states).tobytes())]
        return pa.Array.from_buffers(pa.binary(), len(states), buffers)

    def of_binary(self, array: pa.Array) -> np.ndarray:
        """Partials that were bytes."""
        size = self.partial.state.itemsize
        array = array.fill_null(bytes(size))
        if len(array) and not pc.all(pc.equal(pc.binary_length(array), size)).as_py():
            raise SashError(f"state must have partials of {size} bytes for {self.inputs.aggregate.name}, got others")
        if not len(array):
            return np.zeros(0, self.partial.state)
        start = int(np.frombuffer(array.buffers()[1], np.int32, 1, 4 * array.offset)[0])
        return np.frombuffer(array.buffers()[2], np.uint8, len(array) * size, start).view(self.partial.state)


class ObjectLayout(PartialLayout):
    """A partial that is an object, such as a sketch: made of many rows at once, and kept as bytes."""

    def __init__(self, aggregate: Aggregate, dtypes: tuple[np.dtype, ...]) -> None:
        self.inputs = Inputs(aggregate, dtypes)
        self._kernels = {}
        self.partial = Partial(np.dtype(object), None)

    def fold(self, values: tuple[np.ndarray, ...], cells: np.ndarray, states: np.ndarray, filled: np.ndarray) -> None:
        """Make the partial of all rows of each cell, and join it to what the cell has."""
        aggregate = self.inputs.aggregate
        assert aggregate.bulk is not None
        order = np.argsort(cells, kind="stable")
        starts = np.flatnonzero(np.diff(cells[order], prepend=-1))
        for start, stop in pairwise([*starts.tolist(), len(order)]):
            cell, rows = cells[order[start]], order[start:stop]
            partial = aggregate.bulk(*(column[rows] for column in values))
            states[cell] = aggregate.combine(states[cell], partial) if filled[cell] else partial
            filled[cell] = 1

    def fold_runs(self, values: tuple[np.ndarray, ...], edges: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The partials of runs of rows, and which of them have a row."""
        states, filled = np.zeros(len(edges) - 1, object), np.zeros(len(edges) - 1, np.uint8)
        self.fold(values, np.repeat(np.arange(len(edges) - 1), np.diff(edges)), states, filled)
        return states, filled

    def join(self, states: np.ndarray, which: np.ndarray, edges: np.ndarray) -> np.ndarray:
        """The fold of each run of partials, given by their places; of an empty run, 0."""
        out = np.zeros(len(edges) - 1, object)
        for k, (start, stop) in enumerate(pairwise(edges.tolist())):
            if start < stop:
                out[k] = reduce(self.inputs.aggregate.combine, states[which[start:stop]])
        return out

    def packed(self, states: np.ndarray, filled: np.ndarray) -> np.ndarray | pa.Table:
        """Partials as a snapshot keeps them."""
        return pa.table({"state": self.binary(states, filled)})

    def unpacked(self, parts: dict[str, Any], name: str, filled: np.ndarray) -> np.ndarray:
        """Partials that a snapshot kept."""
        column = table_of(parts, name, pa.schema([("state", pa.binary())]), len(filled))["state"]
        if not np.array_equal(column.is_valid().to_numpy(), filled != 0):
            raise refused(name, "a partial for each cell that has one, and for no other", "others")
        return np.concatenate([np.zeros(0, object), *map(self.of_binary, column.chunks)])

    def binary(self, states: np.ndarray, filled: np.ndarray) -> pa.Array:
        """Partials as bytes, NULL where there is none."""
        pack = self.inputs.aggregate.pack
        assert pack is not None
        return pa.array(
            [pack(state) if some else None for state, some in zip(states, filled, strict=True)], pa.binary()
        )

    def of_binary(self, array: pa.Array) -> np.ndarray:
        """Partials that were bytes."""
        unpack = self.inputs.aggregate.unpack
        assert unpack is not None
        out = np.zeros(len(array), object)
        for k, body in enumerate(array.to_pylist()):
            if body is not None:
                try:
                    out[k] = unpack(body)
                except Exception as error:
                    name = self.inputs.aggregate.name
                    raise SashError(
                        f"state must have partials that {name} can read, got one it cannot: {error}"
                    ) from None
        return out
