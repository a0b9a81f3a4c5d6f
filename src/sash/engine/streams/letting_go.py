"""Letting go of what no window needs any more: cells, rows, the numbers of keys, and the cuts between cells."""

from __future__ import annotations

import numpy as np

from sash.engine.streams.state import StreamState
from sash.windows.slicers import Edges


def let_go(state: StreamState, edges: Edges, coarse: Edges | None) -> None:
    """Let go of all that is of windows that have been answered.

    Slices begin at ``edges``; where they are finer than windows to come need them, these need those of ``coarse``.
    """
    scheme, cells, buffer, positions = state.scheme, state.cells, state.buffer, state.positions
    if state.revisions is not None:
        state.revisions.lapse(state.by_time.bygone)
    if scheme.by_time and state.watermark is None:
        return
    if len(buffer) and (buffer.runs is None or buffer.let_go(positions.cuts()[1])):
        buffer.compact()
        buffer.keep(positions.needed(buffer))
    if cells.forest is not None:
        keys, cuts = positions.cuts()
        cells.let_go(keys, cuts)
    elif len(cells):
        cells.compact()
        cells.keep(positions.needed(cells))
        if coarse is not None and len(cells):
            _coarsen(state, edges, coarse)
        positions.coarsen(cells)
    if scheme.by_time and state.emit != "changes" and state.filling is None:
        state.forget_keys()


def _coarsen(state: StreamState, edges: Edges, coarse: Edges) -> None:
    """Make one cell of all between two starts of windows, as far as no window ends between them any more."""
    cells = state.cells
    ended = edges.floor(state.positions.reached_by(cells.key))
    starts = coarse.floor(cells.at)
    cells.coarsen(np.where((cells.at < ended) & (starts <= cells.at), starts, cells.at))
