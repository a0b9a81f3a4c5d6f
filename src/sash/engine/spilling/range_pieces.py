"""A partition too large for memory in range pieces: each in a file, with the rows around it that its frames reach."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import pyarrow as pa

from sash.engine.ranges import Cuts, KeyOrder, Reach, Sample, cut, expected, route, sample
from sash.engine.spilling.row_files import Directory, Rows, arrivals, numbered, unnumbered
from sash.engine.spilling.splitting import grouped, share
from sash.errors import SashError

SAMPLED = 4096  # keys of each group of rows
TRIES = 6  # each with twice as many pieces


@dataclass(frozen=True)
class Ranges:
    """Where rows may be cut apart: by which columns, in which order, and how far every frame reaches at most."""

    columns: tuple[str, ...]  # the partition keys, then the order keys
    order: KeyOrder
    reach: Reach

    def __post_init__(self) -> None:
        if any(side.everything or side.unknown for side in (self.reach.before, self.reach.after)):
            raise SashError("a partition can be cut into pieces only where all frames are bounded on both sides")

    def cuts(self, rows: Rows, budget: int, most: int) -> Cuts | None:
        """Cuts into pieces of at most that many rows, the rows around them included; None if there are none."""
        samples = [
            sample(table.select(self.columns), self.order, SAMPLED, task)
            for task, table in enumerate(grouped(rows.tables(), share(budget) // 2))
        ]
        sampled_keys = Sample(pa.concat_tables(samples), self.order)
        count, tried = 1 + -(-rows.rows // max(most, 1)), 0
        for _ in range(TRIES):
            cuts = cut(sampled_keys, count, self.reach)
            if int(expected(sampled_keys, cuts).max(initial=0)) <= most:
                return cuts
            if cuts.pieces == tried:  # there are no more keys to cut at
                return None
            count, tried = 2 * count, cuts.pieces
        return None


def cut_apart(rows: Rows, ranges: Ranges, cuts: Cuts, budget: int, disk: Directory) -> list[Rows]:
    """Files of the pieces; a column before the last says which rows are a piece's own."""
    pieces = [disk.file() for _ in range(cuts.pieces)]
    for table in grouped(rows.tables(), share(budget) // 2):
        own, first, last = route(table.select(ranges.columns), cuts)
        copies = last - first + 1
        row = np.repeat(np.arange(len(own)), copies)
        before = np.cumsum(copies, dtype=np.int64) - copies
        piece = np.repeat(first - before, copies) + np.arange(len(row))
        order = np.argsort(piece, kind="stable")
        row, piece = row[order], piece[order]
        edges = np.searchsorted(piece, np.arange(cuts.pieces + 1)).tolist()
        for place, (start, end) in enumerate(pairwise(edges)):
            if end > start:
                taken = row[start:end]
                copied = table.take(pa.array(taken))
                marked = unnumbered(copied).append_column("__sash_own", pa.array(own[taken] == place))
                pieces[place].write(numbered(marked, arrivals(copied)))
    return [piece for piece in pieces if piece.rows]
