"""Windows that are listed by the rows that end them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from sash.engine.streams.assigners.base import NONE, Positions, SortedStore
from sash.kernels.sorting import argsort


class ListedPositions(Positions):
    """Windows are known once a row has ended them, and no more once they are answered."""

    def __init__(self, assigners: Sequence[Any]) -> None:
        super().__init__(assigners)
        self.listed: list[list[tuple[np.ndarray, np.ndarray]]] = [[] for _ in assigners]  # keys and ends
        self.said: list[tuple[np.ndarray, np.ndarray, np.ndarray]] = []  # keys, ends, and what is shown of these

    def ended(self, spec: int, store: SortedStore, upto: int) -> tuple[np.ndarray, np.ndarray]:
        """Keys and ends of the windows that have ended since the last were answered."""
        key = store.key
        if not self.listed[spec] or not len(key):
            return NONE, NONE
        keys, ends = (np.concatenate(parts) for parts in zip(*self.listed[spec], strict=True))
        here = (keys >= key[0]) & (keys <= key[-1])
        keys, ends = keys[here], ends[here]
        order = argsort([keys.view(np.uint64), ends.view(np.uint64)])
        return keys[order], ends[order]

    def counts(self, spec: int, store: SortedStore, upto: int, out: np.ndarray) -> None:
        """Add how many windows of each key have ended."""
        there = store.key[np.append(True, store.key[1:] != store.key[:-1])]
        for keys, _ in self.listed[spec]:
            out += np.bincount(np.searchsorted(there, keys), minlength=len(out))[: len(out)]

    def shown(self, keys: np.ndarray, ends: np.ndarray) -> np.ndarray:
        """What a user sees as the ends of windows: of all that have ended of these keys."""
        if not self.said or not len(keys):
            return NONE
        all_keys, all_ends, shown = (np.concatenate(parts) for parts in zip(*self.said, strict=True))
        here = (all_keys >= keys[0]) & (all_keys <= keys[-1])
        return shown[here][argsort([all_keys[here].view(np.uint64), all_ends[here].view(np.uint64)])]

    def passes(self, upto: int) -> None:
        """All windows that have ended were answered."""
        self.listed, self.said = [[] for _ in self.listed], []
