"""Cells as a table: how partials travel from where rows are to where windows are answered."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from sash.engine.streams.cells import Cells
from sash.engine.streams.keys import Keys

KEY, AT, STATE = "key", "at", "state"
MOST = 1 << 30  # bytes of one array


def cells_table(cells: Cells, keys: Keys, names: Sequence[str]) -> pa.Table:
    """A row for each cell: the columns of its key, where its slice begins, and each partial as bytes, or NULL."""
    cells = cells.packed()
    columns = {f"{KEY} {k}": array for k, array in enumerate(keys.values(cells.key))}
    columns[AT] = pa.array(cells.at)
    for k, (states, filled) in enumerate(zip(cells.states, cells.filled, strict=True)):
        rows, layout = max(MOST // max(states.dtype.itemsize, 256), 1), cells.layouts[k]
        parts = [
            layout.binary(states[at : at + rows], filled[at : at + rows]) for at in range(0, max(len(filled), 1), rows)
        ]
        columns[f"{STATE} {names[k]}"] = pa.chunked_array(parts, pa.binary())
    return pa.table(columns)


def take_cells(cells: Cells, keys: Keys, names: Sequence[str], table: pa.Table) -> None:
    """Add the cells of a table, and merge those that are the same; a partial that it has not is of no row."""
    if not table.num_rows:
        return
    codes = keys.numbers([table[name].combine_chunks() for name in table.column_names if name.startswith(KEY)])
    codes = np.zeros(table.num_rows, np.int64) if codes is None else codes
    states, filled = [], []
    for k, layout in enumerate(cells.layouts):
        name = f"{STATE} {names[k]}"
        if name not in table.column_names:
            states.append(np.zeros(table.num_rows, layout.partial.state))
            filled.append(np.zeros(table.num_rows, np.uint8))
            continue
        column = table[name]
        states.append(np.concatenate([layout.of_binary(chunk) for chunk in column.chunks]))
        filled.append(column.is_valid().to_numpy().view(np.uint8))
    cells.append(codes, table[AT].to_numpy(), states, filled)
