"""What a page shows of answers: those of a few keys, and why rows were set aside; bounded, however many there are."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

KEYS = 8  # as many lines as an eye tells apart
LAST = 120  # answers of each
END, LATE = "window_end", "late"
SHOWN = 5  # rows set aside that are shown


class Wanted(NamedTuple):
    """Which columns of answers are keys, and which are queries'."""

    keys: tuple[str, ...]
    queries: tuple[str, ...]


def sample(answers: pa.Table, wanted: Wanted) -> dict[str, Any]:
    """The latest answers of the first keys, as plain values, and the reasons of rows set aside where they are there.

    >>> answers = pa.table({"plug": ["a", "a"], "window_end": [1, 2], "peak": [3.0, None]})
    >>> sample(answers, Wanted(("plug",), ("peak",)))
    {'answers': {'a': {'peak': [[1, 3.0]]}}, 'late': {}, 'rows': []}
    """
    late: dict[str, int] = {}
    rows: list[str] = []
    if LATE in answers.column_names:
        aside = answers[LATE].drop_null()
        answers = answers.filter(answers[LATE].is_null())
        if len(aside):
            late, rows = set_aside(pc.struct_field(aside, "reason"), pc.struct_field(aside, "row"))
    return {"answers": _lines(answers, wanted), "late": late, "rows": rows}


def set_aside(reasons: Any, rows: Any) -> tuple[dict[str, int], list[str]]:
    """How often there is each reason, and the last rows in words."""
    counts = {str(each["values"]): each["counts"].as_py() for each in pc.value_counts(reasons)}
    last = zip(reasons[-SHOWN:].to_pylist(), rows[-SHOWN:].to_pylist(), strict=True)
    return counts, [f"{reason}: {_row(row)}" for reason, row in last]


def _lines(answers: pa.Table, wanted: Wanted) -> dict[str, dict[str, list[list[Any]]]]:
    """By key and query, pairs of where a window ends and its answer."""
    if not answers.num_rows:
        return {}
    labels = _labels(answers, wanted.keys)
    distinct = pc.unique(labels)
    first = distinct.take(pc.select_k_unstable(distinct, KEYS, [("", "ascending")]))
    answers = answers.append_column("__label", labels).filter(pc.is_in(labels, first))
    answers = answers.sort_by(END).slice(max(answers.num_rows - KEYS * LAST, 0))
    ends = _ends(answers[END])
    lines: dict[str, dict[str, list[list[Any]]]] = {}
    for query in wanted.queries:
        values = answers[query].to_pylist()
        for label, end, value in zip(answers["__label"].to_pylist(), ends, values, strict=True):
            number = _number(value)
            if number is not None:
                lines.setdefault(label, {}).setdefault(query, []).append([end, number])
    return {label: {query: points[-LAST:] for query, points in queries.items()} for label, queries in lines.items()}


def _labels(answers: pa.Table, keys: tuple[str, ...]) -> pa.Array:
    """The key of each row in words."""
    if not keys:
        return pa.chunked_array([pa.repeat("all", answers.num_rows)])
    texts = []
    for key in keys:
        try:
            text = answers[key].cast(pa.string())
        except pa.ArrowException:  # structs and lists
            text = pa.chunked_array([pa.array([str(each) for each in answers[key].to_pylist()], pa.string())])
        texts.append(pc.fill_null(text, "NULL"))
    return pc.binary_join_element_wise(*texts, ", ")


def _ends(ends: pa.ChunkedArray) -> list[Any]:
    """Ends of windows as numbers: times in milliseconds, as pages have them."""
    if pa.types.is_temporal(ends.type):
        ends = pc.divide(ends.cast(pa.timestamp("us")).cast(pa.int64()), 1000)
    return ends.to_pylist()


def _number(value: Any) -> float | None:
    if value is None or isinstance(value, (str, bytes, list, dict)):
        return None
    try:
        number = float(value)
    except (TypeError, ValueError):
        return None
    return number if math.isfinite(number) else None


def _row(row: Any) -> str:
    text = ", ".join(f"{name} {value}" for name, value in row.items()) if isinstance(row, dict) else str(row)
    return text if len(text) <= 160 else f"{text[:160]}…"
