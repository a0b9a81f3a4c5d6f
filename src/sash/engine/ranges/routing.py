"""Routing: to which pieces rows go, by comparing their keys with the edges of all pieces at once.

Keys and edges are coded together, word by word: a row that equals the k-th edge has the code 2 k + 1, one between
two edges the even number between theirs. What a row's pieces are is then looked up by its code.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from sash.engine.ranges.cuts import Cuts
from sash.engine.ranges.sampling import Sample
from sash.engine.ranges.sort_keys import edge_words, plain_keys, words
from sash.kernels.threads import shares, together


def route(keys: pa.Table, cuts: Cuts) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The own piece of each row, and the first and the last piece that need it, for rows in any order."""
    keys = _of_types(plain_keys(keys, cuts.order), cuts.low.keys.schema)
    rows, inner = keys.num_rows, cuts.pieces - 1
    if not inner:
        return tuple(np.zeros(rows, np.int32) for _ in range(3))  # type: ignore[return-value]
    edges = [cuts.low.keys.slice(1), cuts.begin.keys.slice(1), cuts.stop.keys.slice(0, inner)]
    counts = np.concatenate([cuts.low.counts[1:], cuts.begin.counts[1:], cuts.stop.counts[:inner]])
    above = np.repeat([False, False, True], inner)
    of_rows, of_edges = np.zeros(0, np.int64), np.zeros(0, np.int64)
    for place, word in enumerate(words([keys, *edges], cuts.order)):
        ends = edge_words(word._replace(numbers=word.numbers[rows:]), counts, above)
        if place:
            of_rows, of_edges = _refined(of_rows, of_edges, word.numbers, ends)
        else:
            of_rows, of_edges, _ = _coded(word.numbers[:rows], ends)
    low, begin, stop = of_edges.reshape(3, inner)
    codes = np.arange(int(of_edges.max()) + 2)
    own, last = (np.searchsorted(edge, codes, "right").astype(np.int32) for edge in (low, begin))
    first = np.searchsorted(stop, codes, "left" if cuts.inclusive else "right").astype(np.int32)
    return own[of_rows], first[of_rows], last[of_rows]


def expected(sample: Sample, cuts: Cuts) -> np.ndarray:
    """About how many rows each piece gets, those of its neighbours that it needs among them."""
    _, first, last = route(sample.keys, cuts)
    rows = np.diff(sample.before).astype(np.float64)
    change = np.bincount(first, rows, cuts.pieces + 1) - np.bincount(last + 1, rows, cuts.pieces + 1)
    return np.cumsum(change)[: cuts.pieces].astype(np.int64)


def _of_types(keys: pa.Table, schema: pa.Schema) -> pa.Table:
    columns = zip(keys.columns, schema.types, strict=True)
    return pa.Table.from_arrays([c if c.type == dtype else c.cast(dtype) for c, dtype in columns], schema.names)


def _refined(
    of_rows: np.ndarray, of_edges: np.ndarray, numbers: np.ndarray, ends: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Codes by one word more, which matters to rows that equal an edge in the words before."""
    equal = np.flatnonzero(of_rows & 1)
    more_rows, more_edges, size = _coded(numbers[equal], ends)
    wider = of_edges * size + more_edges
    codes = np.arange(int(of_edges.max()) + 2)
    refined = 2 * np.searchsorted(np.unique(wider), codes * size)[of_rows]
    refined[equal], wider, _ = _coded(of_rows[equal] * size + more_rows, wider)
    return refined, wider


def _coded(rows: np.ndarray, edges: np.ndarray) -> tuple[np.ndarray, np.ndarray, int]:
    """Codes of rows and of edges among the different edges, and how many codes there are."""
    values, place = np.unique(edges, return_inverse=True)
    codes = np.empty(len(rows), np.int64)

    def find(start: int, stop: int) -> None:
        some, out = rows[start:stop], codes[start:stop]
        out[:] = np.searchsorted(values, some)
        equal = values[np.minimum(out, len(values) - 1)] == some
        out *= 2
        out += equal

    together([lambda part=part: find(*part) for part in shares(len(rows))])  # type: ignore[misc]
    return codes, 2 * place + 1, 2 * len(values) + 1
