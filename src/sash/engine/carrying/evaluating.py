"""Window expressions on the rows of pieces, with what is carried of the rows elsewhere."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa

from sash.algebra import Over
from sash.engine.answering.asking import Question
from sash.engine.answering.folds import counted, folding, read
from sash.engine.carrying.carried import Carried
from sash.engine.carrying.forms import COUNT, ROWS, STATE, form_of
from sash.engine.carrying.opening import opened
from sash.engine.carrying.piece_rows import LOCAL, PIECE, PieceRows
from sash.engine.carrying.ranks import Counted
from sash.engine.carrying.summarising import plain_key
from sash.engine.encoding import combined, equality_key
from sash.engine.evaluating import answered
from sash.engine.placing import Answer, placed
from sash.engine.ties import settle
from sash.errors import column_named
from sash.expressions.columns import col
from sash.expressions.parsing import as_predicate
from sash.kernels.inputs import Inputs
from sash.kernels.operations.merging import joined, merged, state_of, unlowered
from sash.planner import choose

NOTHING = np.zeros(0, np.int64)


def evaluate_carried(
    table: pa.Table,
    columns: Mapping[str, Over],
    piece: Any,
    own: Any,
    carried: Carried,
    *,
    arrival: bool = True,
    among: Iterable[Over] = (),
) -> dict[str, pa.Array]:
    """An answer for each expression and row of pieces, as over all rows of all pieces.

    ``piece`` is the one that each row is there for, ``own`` the one it belongs to: where these differ, the answer
    says nothing. Expressions that do not carry are answered from the rows that are there.
    """
    checked, window = opened(columns)
    piece, own = np.asarray(piece, np.int32), np.asarray(own, np.int32)
    forms = {name: form_of(over) for name, over in checked.items()}
    pieces = np.unique(piece)
    around = [carried.around(int(each)) for each in pieces]
    extra = 0
    if ROWS in forms.values():
        few, into, of = _joining(pieces, around, carried)
        if extra := len(few):
            table = pa.concat_tables([carried.rows.take(pa.array(few)), table])
            piece, own = np.concatenate([into, piece]), np.concatenate([of, own])
    rows = PieceRows(table, piece, own, extra, window)
    if not arrival:
        settle(rows, checked, among)
    edges = _Edges.of(rows, pieces, around, carried, window.partition)
    found = {}
    for name, over in checked.items():
        with column_named(name):
            if forms[name] in (STATE, COUNT):
                question = Question(rows, _local(over) if extra else over)
                answer = (_folded if forms[name] == STATE else _ranked)(
                    question, f"{forms[name]} {name}", carried, edges
                )
                found[name] = placed(rows, answer)[extra:]
            else:
                found[name] = answered(rows, over)[extra:]
    rows.forget()
    return found


def _joining(pieces: np.ndarray, around: Any, carried: Carried) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The few rows that join those of the pieces, into which each goes, and a piece before or after that, its own."""
    sides = [(carried.rows_of(parts), piece, way) for piece, both in zip(pieces, around, strict=True)
             for parts, way in zip(both, (-1, 1), strict=True)]  # fmt: skip
    lengths = [len(rows) for rows, _, _ in sides]
    into = np.repeat(np.array([piece for _, piece, _ in sides], np.int32), lengths)
    ways = np.repeat(np.array([way for _, _, way in sides], np.int32), lengths)
    return np.concatenate([NOTHING, *(rows for rows, _, _ in sides)]), into, into + ways


def _local(over: Over) -> Over:
    """The expression without the rows that joined those of their piece."""
    condition = over.call.condition
    only = col(LOCAL) if condition is None else as_predicate(condition) & col(LOCAL)
    return replace(over, call=replace(over.call, condition=only))


@dataclass(frozen=True)
class _Edges:
    """For each segment, the number of the piece whose rows elsewhere go before it, and after it; -1 for none."""

    around: list[tuple[np.ndarray, np.ndarray]]
    ahead: np.ndarray
    behind: np.ndarray

    @staticmethod
    def of(rows: PieceRows, pieces: np.ndarray, around: Any, carried: Carried, partition: Any) -> _Edges:
        heads = pa.array(rows.segments[:-1])
        number = np.searchsorted(pieces, rows.column(col(PIECE)).take(heads).to_numpy())
        known = carried.keys if carried.length else []
        here = [plain_key(rows.column(each).take(heads)) for each in partition]
        keys = [equality_key(pa.concat_arrays(both)) for both in zip(known, here, strict=False)]
        codes = combined(keys) if keys else np.zeros(carried.length + len(heads), np.uint64)
        sides = []
        for side, end in ((0, -1), (1, 0)):
            some = np.array([len(both[side]) > 0 for both in around], np.bool_)
            of = np.array([codes[both[side][end]] if len(both[side]) else 0 for both in around], np.uint64)
            goes_on = some[number] & (of[number] == codes[carried.length :]) if len(number) else np.zeros(0, np.bool_)
            sides.append(np.where(goes_on, number, -1))
        return _Edges(around, *sides)


def _folded(question: Question, name: str, carried: Carried, edges: _Edges) -> Answer:
    """The aggregate of each frame: partials of the rows that are here, between those of rows elsewhere."""
    rows, frame = question.rows, question.over.window.frame
    assert isinstance(rows, PieceRows)
    kept, given = counted(question)
    bounds = kept.bounds(frame)
    (choice,) = choose((folding(question, kept, given, bounds),), question.over.using)
    local = choice.run(unlowered(given.aggregate), given.columns, kept.length, bounds, kept.segments)
    inputs = Inputs(given.aggregate, tuple(column.dtype for column in given.columns))
    states, held = carried.states(name, state_of(inputs))
    runs: list[np.ndarray] = []
    sides = []
    for side, numbers, reaches in (
        (0, edges.ahead, frame.start.is_unbounded),
        (1, edges.behind, frame.end.is_unbounded),
    ):
        place = np.full(len(edges.around) + 1, -1)  # the last is for none
        for number, both in enumerate(edges.around):
            run = both[side][held[both[side]]]
            if reaches and len(run):
                place[number] = len(runs)
                runs.append(run)
        sides.append(place[numbers])
    partials = joined(inputs, states, runs)
    return read(question, given, kept, merged(inputs, local, rows.wanted, partials, rows.segments, *sides))


def _ranked(question: Question, name: str, carried: Carried, edges: _Edges) -> Answer:
    """Ranks, with how many rows come before those that are here, and after them."""
    counts, _ = carried.states(name, np.dtype((np.int64, 2)))
    sides = []
    for side, numbers in ((0, edges.ahead), (1, edges.behind)):
        totals = np.zeros((len(edges.around) + 1, 2), np.int64)
        for number, both in enumerate(edges.around):
            totals[number] = counts[both[side]].sum(axis=0)
        sides.append(totals[numbers])
    return Counted(question).answers(*sides)
