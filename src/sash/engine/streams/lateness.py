"""Rows that come too late, or have no place: which, why, and for which queries."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from sash.engine.streams.assigners.by_time import Behind, Missed
from sash.engine.streams.scheme import Scheme
from sash.engine.streams.span_cells import Moments
from sash.kernels.slices.assigning import Span

REASON = "reason"
FAR = 2**63 - 1


class Late(NamedTuple):
    """Rows to be set aside, with their reasons, and the rows that stay; late for some windows only, a row is both."""

    rows: np.ndarray
    reasons: pa.Array
    stay: np.ndarray

    @staticmethod
    def name(schema: pa.Schema) -> str:
        """The name of the column of reasons: one that the stream does not have."""
        name = REASON
        while name in schema.names:
            name = f"late_{name}"
        return name

    @staticmethod
    def schema(schema: pa.Schema) -> pa.Schema:
        """The columns of rows set aside."""
        return schema.append(pa.field(Late.name(schema), pa.string()))


def late_rows(
    scheme: Scheme,
    time: np.ndarray,
    known: np.ndarray | None,
    times: Span,
    watermark: int | None,
    starts: Mapping[int, int],
    assigners: Sequence[Any],
    gapless: np.ndarray | None = None,
) -> Late | None:
    """Which rows of a batch are late or have no time; None where none is. ``starts`` is as for ``missed_by``.

    Rows that are ``gapless`` are in no session, where there are no other windows.
    """
    within = _within(scheme, time, times)
    stays = known if within is None else within if known is None else known & within
    gapless = gapless if gapless is None or stays is None else gapless & stays
    stays = stays if gapless is None else ~gapless if stays is None else stays & ~gapless
    behind = None if watermark is None or times.least >= watermark else time < watermark
    if stays is not None and behind is not None:
        behind &= stays
    if stays is None and (behind is None or not behind.any()):
        return None
    rows, reasons = [np.zeros(0, np.int64)], []
    for mask, why in ((known, "is NULL"), (within, "is out of reach")):
        if mask is not None:
            rows.append(np.flatnonzero(~mask))
            reasons += [f"{scheme.settings.time} {why}"] * len(rows[-1])
    if gapless is not None:
        rows.append(np.flatnonzero(gapless))
        reasons += ["its gap is NULL, not above zero, or of months"] * len(rows[-1])
    stays = np.ones(len(time), np.bool_) if stays is None else stays.copy()
    if behind is not None and behind.any():
        where = np.flatnonzero(behind)
        assert watermark is not None
        words, gone = missed_by(scheme, assigners, time[where], watermark, starts, rows=where)
        some = words != ""
        rows.append(where[some])
        reasons += words[some].tolist()
        stays[where[gone]] = False
    return Late(np.concatenate(rows), pa.array(reasons, pa.string()), np.flatnonzero(stays))


def late_spans(
    scheme: Scheme, moments: Moments, upto: int | None, starts: Mapping[int, int], assigners: Sequence[Any]
) -> Late | None:
    """The same of events that last: ``upto`` is where windows have ended that are not answered again."""
    first, last, wrong = moments.first, moments.last, moments.wrong
    least, most = -FAR + scheme.margin, FAR - scheme.margin
    bound = max(least, -FAR if upto is None else upto - 1)
    if wrong is None and first.min(initial=FAR) > bound and last.max(initial=-FAR) < most:
        return None
    reasons = np.full(len(first), "", object) if wrong is None else wrong.copy()
    far = ((first <= least) | (last >= most)) & (reasons == "")
    reasons[far] = "out of reach"
    stays = reasons == ""
    if upto is not None:
        where = np.flatnonzero(stays & (first < upto))
        if len(where):
            words, gone = missed_by(scheme, assigners, first[where], upto, starts, last[where])
            reasons[where] = words
            stays[where[gone]] = False
    rows = np.flatnonzero(reasons != "")
    if not len(rows) and stays.all():
        return None
    return Late(rows, pa.array(reasons[rows].tolist(), pa.string()), np.flatnonzero(stays))


def _within(scheme: Scheme, time: np.ndarray, times: Span) -> np.ndarray | None:
    """Which rows have windows whose starts and ends are times that can be said; None for all."""
    least, most = -FAR + scheme.margin, FAR - scheme.margin
    if least < times.least and times.most < most:
        return None
    return (time > least) & (time < most)


def missed_by(
    scheme: Scheme,
    assigners: Sequence[Any],
    time: np.ndarray,
    watermark: int,
    starts: Mapping[int, int],
    last: np.ndarray | None = None,
    rows: np.ndarray | None = None,
) -> tuple[np.ndarray, np.ndarray]:
    """What rows behind the watermark missed, in words, and which missed all; "" where a row misses nothing.

    ``starts`` says where the first window of an extent may begin, where that is not at the beginning of time.
    Events that last have a ``last`` moment, too, and are told which windows they missed.
    """
    if not scheme.by_time:
        return np.full(len(time), "late: the watermark had passed it", object), np.ones(len(time), np.bool_)
    of_specs: list[Missed] = [
        each.missed(Behind(time, last, watermark, starts.get(spec), rows)) for spec, each in enumerate(assigners)
    ]
    table, gone = (
        np.stack([each.missed for each in of_specs], 1),
        ~np.logical_or.reduce([each.open for each in of_specs]),
    )
    combinations, which = np.unique(table, axis=0, return_inverse=True)
    words = np.array([_words(scheme, combination) for combination in combinations], object)
    missed = words[which.reshape(-1)]
    every = gone & table.any(axis=1)
    missed[every] = "late: its windows had ended"
    return (missed if last is None else _with_ends(scheme, missed, table, of_specs)), gone


def _with_ends(scheme: Scheme, missed: np.ndarray, table: np.ndarray, of_specs: Sequence[Missed]) -> np.ndarray:
    """What was missed, with the first and the last end of the windows that were."""
    some = table.any(axis=1)
    least = np.min([np.where(table[:, k], each.first, FAR) for k, each in enumerate(of_specs)], axis=0)[some]
    most = np.max([np.where(table[:, k], each.last, -FAR) for k, each in enumerate(of_specs)], axis=0)[some]
    pairs, which = np.unique(np.stack([least, most], 1), axis=0, return_inverse=True)
    shown = pa.array(pairs.reshape(-1)).view(scheme.time_type).cast(pa.string()).to_pylist()
    tails = np.array([f" (ends {low} to {high})" if low != high else f" (end {low})"
                      for low, high in zip(shown[::2], shown[1::2], strict=True)], object)  # fmt: skip
    missed[some] = missed[some] + tails[which.reshape(-1)]
    return missed


def _words(scheme: Scheme, specs: np.ndarray) -> str:
    names = [planned.query.name for planned in scheme.planned if specs[planned.spec]]
    return f"late for {', '.join(names)}: windows had ended" if names else ""
