"""Strings joined, each but the first of a frame with the delimiter of its own row before it, as in PostgreSQL."""

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sash
from sash import Window, col
from sash import functions as sf
from sash.errors import SashError

texts = st.none() | st.text("ab", max_size=2)


def joined(rows):
    some = [(delimiter, text) for delimiter, text in rows if text is not None]
    return (
        "".join((delimiter or "") * (place > 0) + text for place, (delimiter, text) in enumerate(some))
        if some
        else None
    )


@given(
    rows=st.lists(st.tuples(st.none() | st.sampled_from(["-", ", ", ""]), texts), max_size=12), back=st.integers(0, 4)
)
def test_each_row_has_its_own_delimiter(rows, back):
    table = pa.table(
        {
            "y": range(len(rows)),
            "d": pa.array([delimiter for delimiter, _ in rows], pa.string()),
            "s": pa.array([text for _, text in rows], pa.string()),
        }
    )
    window = Window.orderBy("y").rowsBetween(-back, 0)
    found = sash.withColumns(
        table,
        {
            "a": sf.string_agg("s", col("d")).over(window),
            "b": sf.listagg("s", col("d")).order_by("y desc").over(window),
            "c": sf.concat("s", col("d")).filter("y % 2 = 0").over(window),
        },
    )
    frames = [list(enumerate(rows))[max(i - back, 0) : i + 1] for i in range(len(rows))]
    assert found["a"].to_pylist() == [joined(row for _, row in frame) for frame in frames]
    assert found["b"].to_pylist() == [joined(row for _, row in reversed(frame)) for frame in frames]
    assert found["c"].to_pylist() == [joined(row for y, row in frame if y % 2 == 0) for frame in frames]


def test_what_is_refused():
    with pytest.raises(SashError, match="delimiter must be a string or a column, got None"):
        sf.string_agg("s", None)
    with pytest.raises(SashError, match="string_agg cannot be distinct"):
        sf.string_agg("s", col("d")).distinct()
