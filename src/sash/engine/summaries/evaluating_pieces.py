"""Window expressions on the rows of pieces, with summaries of the rows elsewhere."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa

from sash.engine.elsewhere import Elsewhere, Runs
from sash.engine.encoding import combined, equality_key
from sash.engine.evaluating import answers
from sash.engine.summaries.contents import ROWS, content_of, opened, summary_name
from sash.engine.summaries.piece_rows import LOCAL, PIECE, PieceRows
from sash.engine.summaries.piece_summaries import Summaries
from sash.engine.summaries.summarising import plain_key
from sash.engine.ties import break_ties
from sash.expressions.columns import col
from sash.expressions.parsing import as_predicate
from sash.windows.over import Over

NOTHING = np.zeros(0, np.int64)


def evaluate_pieces(
    table: pa.Table,
    columns: Mapping[str, Over],
    piece: Any,
    own: Any,
    summaries: Summaries,
    *,
    arrival: bool = True,
    tie_breakers: Iterable[Over] = (),
) -> dict[str, pa.Array]:
    """An answer for each expression and row of pieces, as over all rows of all pieces.

    ``piece`` is the one that each row is there for, ``own`` the one it belongs to: where these differ, the answer
    says nothing. Expressions that need no summary are answered from the rows that are there.
    """
    checked, window = opened(columns)
    piece, own = np.asarray(piece, np.int32), np.asarray(own, np.int32)
    contents = {name: content_of(over) for name, over in checked.items()}
    pieces = np.unique(piece)
    around = [summaries.around(int(each)) for each in pieces]
    extra = 0
    if ROWS in contents.values():
        few, into, of = _joining(pieces, around, summaries)
        if extra := len(few):
            table = pa.concat_tables([summaries.rows.take(pa.array(few)), table])
            piece, own = np.concatenate([into, piece]), np.concatenate([of, own])
    rows = PieceRows(table, piece, own, extra, window)
    if not arrival:
        break_ties(rows, checked, tie_breakers)
    surroundings = _Surroundings.of(rows, pieces, around, summaries, window.partition)
    expressions, elsewhere = {}, {}
    for name, over in checked.items():
        content = contents[name]
        if content is None or content == ROWS:
            expressions[name] = over
        else:
            expressions[name] = local(over) if extra else over
            elsewhere[name] = surroundings.elsewhere(summaries.of(summary_name(content, name)), rows.wanted)
    return {name: answer[extra:] for name, answer in answers(rows, expressions, elsewhere).items()}


def _joining(pieces: np.ndarray, around: Any, summaries: Summaries) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The few rows that join those of the pieces, into which each goes, and a piece before or after that, its own."""
    sides = [(summaries.rows_of(parts), piece, way) for piece, both in zip(pieces, around, strict=True)
             for parts, way in zip(both, (-1, 1), strict=True)]  # fmt: skip
    lengths = [len(rows) for rows, _, _ in sides]
    into = np.repeat(np.array([piece for _, piece, _ in sides], np.int32), lengths)
    ways = np.repeat(np.array([way for _, _, way in sides], np.int32), lengths)
    return np.concatenate([NOTHING, *(rows for rows, _, _ in sides)]), into, into + ways


def local(over: Over) -> Over:
    """The expression without the rows that joined those of their piece."""
    condition = over.call.condition
    only = col(LOCAL) if condition is None else as_predicate(condition) & col(LOCAL)
    return replace(over, call=replace(over.call, condition=only))


@dataclass(frozen=True)
class _Surroundings:
    """The parts around each piece; and for each segment the number of its piece, if these are of its partition."""

    runs: tuple[Runs, Runs]
    before: np.ndarray  # -1 for none
    after: np.ndarray

    @staticmethod
    def of(rows: PieceRows, pieces: np.ndarray, around: Any, summaries: Summaries, partition: Any) -> _Surroundings:
        heads = pa.array(rows.segments[:-1])
        number = np.searchsorted(pieces, rows.column(col(PIECE)).take(heads).to_numpy())
        known = summaries.keys if summaries.length else []
        here = [plain_key(rows.column(each).take(heads)) for each in partition]
        keys = [equality_key(pa.concat_arrays(both)) for both in zip(known, here, strict=False)]
        codes = combined(keys) if keys else np.zeros(summaries.length + len(heads), np.uint64)
        runs: tuple[Runs, Runs] = [before for before, _ in around], [after for _, after in around]
        sides = []
        for of_side, nearest in zip(runs, (-1, 0), strict=True):
            some = np.array([len(run) > 0 for run in of_side], np.bool_)
            of = np.array([codes[run[nearest]] if len(run) else 0 for run in of_side], np.uint64)
            goes_on = some[number] & (of[number] == codes[summaries.length :]) if len(number) else np.zeros(0, np.bool_)
            sides.append(np.where(goes_on, number, -1))
        return _Surroundings(runs, *sides)

    def elsewhere(self, summaries: pa.Array, wanted: np.ndarray) -> Elsewhere:
        """What an expression is told of the rows elsewhere."""
        return Elsewhere(summaries, self.runs, self.before, self.after, wanted)
