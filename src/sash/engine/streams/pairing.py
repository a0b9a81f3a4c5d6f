"""Starts and ends that come in rows of their own, joined by an id to the spans that they make."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sash.engine.encoding import biased
from sash.engine.streams.scheme import Scheme
from sash.engine.streams.times import ticks_of
from sash.engine.tables import one_array
from sash.expressions.evaluation import evaluate
from sash.kernels.sorting import argsort

NOTHING = np.zeros(0, np.int64)


class Pairing:
    """Rows that wait for their other half; the k-th start of an id goes with its k-th end."""

    def __init__(self, scheme: Scheme) -> None:
        self.scheme = scheme
        self.waiting = scheme.schema.empty_table()

    def take(self, table: pa.Table, upto: int | None) -> tuple[pa.Table, pa.Table, pa.Array]:
        """Whole spans that rows make with those that waited; rows that cannot be joined, and why.

        A start waits until ``longest`` after it is before ``upto``, and is then a span without an end; an end as long
        for its start, and is then set aside.
        """
        spans, longest = self.scheme.settings.spans, self.scheme.longest
        assert spans is not None
        assert spans.pair is not None
        assert longest is not None
        rows = pa.concat_tables([self.waiting, table]).combine_chunks()
        start, begun = ticks_of(evaluate(spans.start, rows), self.scheme.time_type)
        end, ended = ticks_of(evaluate(spans.end, rows), self.scheme.time_type)
        begun, ended = (np.ones(len(start), np.bool_) if each is None else each for each in (begun, ended))
        ids = one_array(evaluate(spans.pair, rows))
        named = ids.is_valid().to_numpy(zero_copy_only=False)
        codes = ids.dictionary_encode().indices.fill_null(0).to_numpy().astype(np.int64)
        whole, neither = begun & ended, ~begun & ~ended
        starts, ends = np.flatnonzero(begun & ~ended & named), np.flatnonzero(ended & ~begun & named)
        first, second = _matched(codes[starts], start[starts], codes[ends], end[ends])
        mine, theirs = starts[first], ends[second]
        alone = np.setdiff1d(starts, mine, assume_unique=True)
        lonely = np.setdiff1d(ends, theirs, assume_unique=True)
        if upto is not None:
            over = start[alone] + longest < upto
            lost = end[lonely] + longest < upto
        else:
            over, lost = np.zeros(len(alone), np.bool_), np.zeros(len(lonely), np.bool_)
        left = np.sort(np.concatenate([alone[~over], lonely[~lost]]))
        self.waiting = rows.take(pa.array(left))
        joined = [pc.coalesce(column.take(pa.array(theirs)), column.take(pa.array(mine))) for column in rows.columns]
        made = pa.Table.from_arrays(joined, schema=rows.schema)
        good = rows.take(pa.array(np.concatenate([np.flatnonzero(whole), alone[over]])))
        nameless = np.flatnonzero(~named & ~whole & ~neither)
        bad = [
            (nameless, f"{spans.pair} is NULL"),
            (np.flatnonzero(neither), f"{spans.start} and {spans.end} are NULL"),
            (lonely[lost], f"no {spans.start} came for its {spans.pair}"),
        ]
        reasons = [words for places, words in bad for _ in places]
        aside = rows.take(pa.array(np.concatenate([places for places, _ in bad])))
        return pa.concat_tables([good, made]), aside, pa.array(reasons, pa.string())


def _matched(
    codes: np.ndarray, starts: np.ndarray, others: np.ndarray, ends: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """The places of starts and of ends that go together: those of one id, in the order of time."""
    if not len(codes) or not len(others):
        return NOTHING, NOTHING
    one, two = (argsort([code.view(np.uint64), biased(at)]).astype(np.int64)
                for code, at in ((codes, starts), (others, ends)))  # fmt: skip
    starting, ending = _numbered(codes[one]), _numbered(others[two])
    _, mine, theirs = np.intersect1d(starting, ending, assume_unique=True, return_indices=True)
    return one[mine], two[theirs]


def _numbered(codes: np.ndarray) -> np.ndarray:
    """Sorted codes, told apart by how many of the same came before."""
    heads = np.append(True, codes[1:] != codes[:-1])
    first = np.flatnonzero(heads)
    place = np.arange(len(codes)) - np.repeat(first, np.diff(np.append(first, len(codes))))
    return codes << 32 | place
