"""Rows that leave a stream, sorted among those that their frames reach; only the first ask anything."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa

from sash.engine.frame_bounds import FrameBounds
from sash.engine.summaries.evaluating_pieces import local
from sash.engine.summaries.piece_rows import PieceRows
from sash.windows.bounds import ARBITRARY
from sash.windows.window import WindowSpec

__all__ = ["RowsAround", "local"]


class RowsAround(PieceRows):
    """Rows before those that leave, these, and rows after them; ``mixed`` where rows before may be later in order."""

    first: int  # of the rows that leave, as they came
    count: int
    extra: int  # few rows, the first, which others stand for, too
    mixed: bool

    @classmethod
    def of(
        cls,
        few: pa.Table,
        before: list[pa.Table],
        ready: pa.Table,
        after: list[pa.Table],
        window: WindowSpec,
        mixed: bool,
    ) -> RowsAround:
        """The rows of some tables, which have the same columns."""
        parts = [few, *before, ready, *after]
        ahead = few.num_rows + sum(table.num_rows for table in before)
        behind = sum(table.num_rows for table in after)
        own = np.repeat(np.array([-1, 0, 1], np.int32), [ahead, ready.num_rows, behind])
        rows = cls(pa.concat_tables(parts), np.zeros(len(own), np.int32), own, few.num_rows, window)
        rows.first, rows.count, rows.extra, rows.mixed = ahead, ready.num_rows, few.num_rows, mixed
        return rows

    def _framed(self, frame: Any) -> FrameBounds:
        framed = super()._framed(frame)
        if not self.mixed:
            return framed
        return FrameBounds(replace(framed.bounds, shape=ARBITRARY), framed.groups)
