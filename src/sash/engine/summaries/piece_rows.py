"""The rows of pieces, sorted; only those that belong to their piece ask anything."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa

from sash.engine.frame_bounds import FrameBounds
from sash.engine.sorted_partitions import SortedPartitions
from sash.expressions.columns import col
from sash.windows.bounds import ARBITRARY, MONOTONIC, Bounds
from sash.windows.window import WindowSpec

PIECE, LOCAL = "__sash_piece", "__sash_local"


class PieceRows(SortedPartitions):
    """The rows of pieces by piece, partition and order; ``extra`` of them, the first, are a few from elsewhere.

    The frame of a row that is there for others is empty: it may lack rows, and what lacks rows may not fit its type.
    """

    def __init__(self, table: pa.Table, piece: np.ndarray, own: np.ndarray, extra: int, window: WindowSpec) -> None:
        local = np.arange(len(piece)) >= extra
        more = [pa.array(piece), pa.array(local)]
        table = pa.Table.from_arrays([*table.columns, *more], [*table.column_names, PIECE, LOCAL])
        super().__init__(table, (col(PIECE), *window.partition), window.order)
        self._side = np.sign(own - piece, dtype=np.int8, casting="unsafe")
        self._ordered = bool(window.order)

    @property
    def wanted(self) -> np.ndarray:
        """Whether the row at each position belongs to its piece."""
        return self.placed(self._side) == 0

    def _framed(self, frame: Any) -> FrameBounds:
        framed = super()._framed(frame)
        side = self.placed(self._side)
        if not side.any() or not self._ordered:  # without an order rows lie in any, and all have one frame
            return framed
        bounds, before, after = framed.bounds, side < 0, side > 0  # rows before those of the piece, and after
        lo, hi = np.where(after, bounds.hi, bounds.lo), np.where(before, bounds.lo, bounds.hi)
        shape = MONOTONIC if bounds.moves_forward else ARBITRARY
        if not bounds.holes:
            return FrameBounds(Bounds(lo, hi, bounds.length, shape), framed.groups)
        a, b = (np.where(before, lo, np.where(after, hi, each)) for each in (bounds.a, bounds.b))
        own = np.where(side == 0, bounds.own, -1).astype(bounds.own.dtype) if len(bounds.own) else bounds.own
        return FrameBounds(Bounds(lo, hi, bounds.length, shape, a=a, b=b, own=own), framed.groups)
