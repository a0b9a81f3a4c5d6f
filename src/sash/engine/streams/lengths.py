"""How long spans have been of late: a histogram that forgets, for a time to wait that few are longer than."""

from __future__ import annotations

from typing import Any

import numpy as np

from sash.engine.streams.restoring import array_of, refused, whole_of

QUANTILE = 0.999
FINE = 8  # buckets of each power of two
RECENT = 1 << 14  # spans; where more than twice as many are counted, they count half


class Lengths:
    """Lengths of spans in buckets whose bounds grow by an eighth of a power of two."""

    def __init__(self) -> None:
        self.counts = np.zeros(64 * FINE + 1)
        self.longer = 0  # spans that were longer than the time to wait when they came

    def see(self, lengths: np.ndarray) -> None:
        """Take lengths of spans that came."""
        if not len(lengths):
            return
        if self.counts.any():
            self.longer += int((lengths > self.postpone).sum())
        place = np.ceil(np.log2(np.maximum(lengths, 1)) * FINE).astype(np.int64)
        self.counts += np.bincount(place, minlength=len(self.counts))
        if self.counts.sum() > 2 * RECENT:
            self.counts /= 2

    def restore(self, parts: dict[str, Any]) -> None:
        """Go on with what was kept."""
        counts = array_of(parts, "lengths", np.float64, len(self.counts))
        if not (np.isfinite(counts) & (counts >= 0)).all():
            raise refused("lengths", "how often spans were so long", "others")
        self.counts, self.longer = counts, whole_of(parts, "longer", 0)

    @property
    def postpone(self) -> int:
        """A time that all but a thousandth of the spans are not longer than."""
        total = self.counts.sum()
        if not total:
            return 0
        place = int(np.searchsorted(np.cumsum(self.counts), QUANTILE * total))
        return int(2 ** (place / FINE)) + 1
