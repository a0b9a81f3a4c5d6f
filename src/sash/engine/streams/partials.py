"""Cells as a table: how partials travel from where rows are to where windows are answered."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from sash.engine.streams.cells import Cells
from sash.engine.streams.keys import Keys

KEY, AT, STATE = "key", "at", "state"
MOST = 1 << 30  # bytes of one array


def cells_table(cells: Cells, keys: Keys) -> pa.Table:
    """A row for each cell: the columns of its key, where its slice begins, and each partial as bytes, or NULL."""
    columns = {f"{KEY} {k}": array for k, array in enumerate(keys.values(cells.key))}
    columns[AT] = pa.array(cells.at)
    for k, (states, held) in enumerate(zip(cells.states, cells.held, strict=True)):
        rows = max(MOST // states.dtype.itemsize, 1)
        parts = [_binary(states[at : at + rows], held[at : at + rows]) for at in range(0, max(len(held), 1), rows)]
        columns[f"{STATE} {k}"] = pa.chunked_array(parts, pa.binary())
    return pa.table(columns)


def _binary(states: np.ndarray, held: np.ndarray) -> pa.Array:
    offsets = np.arange(len(states) + 1, dtype=np.int32) * states.dtype.itemsize
    buffers = [pa.array(held != 0).buffers()[1], pa.py_buffer(offsets), pa.py_buffer(states.tobytes())]
    return pa.Array.from_buffers(pa.binary(), len(states), buffers)


def take_cells(cells: Cells, keys: Keys, table: pa.Table) -> None:
    """Add the cells of a table, and merge those that are the same."""
    if not table.num_rows:
        return
    codes = keys.numbers([table[name].combine_chunks() for name in table.column_names if name.startswith(KEY)])
    codes = np.zeros(table.num_rows, np.int64) if codes is None else codes
    states, held = [], []
    for k, kind in enumerate(cells.kinds):
        column, size = table[f"{STATE} {k}"], kind.partial.state.itemsize
        states.append(np.concatenate([_states(chunk, kind.partial.state, size) for chunk in column.chunks]))
        held.append(column.is_valid().to_numpy().view(np.uint8))
    cells.append(codes, table[AT].to_numpy(), states, held)
    cells.merge()


def _states(array: pa.Array, dtype: np.dtype, size: int) -> np.ndarray:
    array = array.fill_null(bytes(size))
    return np.frombuffer(array.buffers()[2], np.uint8, len(array) * size, array.offset * size).view(dtype)
