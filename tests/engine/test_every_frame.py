"""Every function over every kind of frame: what it answers is what it answers for the rows of the frame alone."""

import pyarrow as pa
import pytest

import frames_oracle as oracle
import sash
from empty_answers import RANKS, empty_answer, framed_calls, interpreted
from engine.test_frames import ours
from sash import Window
from sash.errors import Refused
from spark import cases

ORDER = (("t", False, True),)
FRAMES = {
    "rows": oracle.Window(("k",), ORDER, "rows", -2, 1),
    "rows ahead": oracle.Window((), ORDER, "rows", 1, 3),
    "range": oracle.Window((), ORDER, "range", -2, 1),
    "groups": oracle.Window(("k",), ORDER, "groups", -1, 1),
    "so far": oracle.Window((), ORDER, "range", None, 0),
    "of each row": oracle.Window((), ORDER, "rows", "back", "ahead"),
    "without itself": oracle.Window((), ORDER, "rows", -3, 3, "current row"),
    "without its group": oracle.Window((), ORDER, "range", -3, None, "group"),
    "without its peers": oracle.Window(("k",), ORDER, "groups", -2, 2, "ties"),
}
ROWS = pa.table(
    {
        "k": ["a", "b", "a", "a", "b", "a", "b", "a", "a", "b"],
        "t": [1, 1, 2, 2, 3, 5, 5, 6, 7, 9],
        "x": [3, 1, None, 7, 7, 2, None, 5, -4, 6],
        "y": [1.5, 2.5, 0.5, None, 4.0, -1.0, 8.0, 0.25, 4.0, 3.0],
        "o": [True, False, None, True, True, False, False, True, None, True],
        "back": [-2, -1, 0, -3, 1, -2, -1, -5, 0, -1],
        "ahead": [0, 2, 0, 1, 3, -1, 0, 2, 1, -1],
    }
)
OF_THE_ROW = {*RANKS, "percent_rank", "cume_dist", "ntile"}  # they ask for the row, too: test_frames.py has them
CALLS = {name: call for name, call in framed_calls("x", "y", "o").items() if name not in OF_THE_ROW}


def alone(window):
    """The rows of each frame, each frame a partition of its own."""
    rows, places = ROWS.to_pylist(), {}
    for part in oracle.partitions(rows, window):
        for place, number in enumerate(part):
            places[number] = [part[each] for each in oracle.frame(rows, part, place, window)]
    taken = [number for frame in places.values() for number in frame]
    frames = pa.array([number for number, frame in places.items() for _ in frame], pa.int64())
    return ROWS.take(pa.array(taken, pa.int64())).append_column("frame", frames)


@pytest.mark.parametrize("kind", FRAMES)
def test_a_function_answers_for_a_frame_what_it_answers_for_its_rows_alone(kind):
    window, asked = FRAMES[kind], {}
    for name, call in CALLS.items():
        try:
            sash.explain(ROWS, {name: call.over(ours(window))})
        except Refused:
            assert name == "median distinct", name  # needs frames that move forward, without holes
            continue
        asked[name] = interpreted(name, call)
    assert len(asked) >= len(CALLS) - 1
    over = Window.partitionBy("frame").orderBy("t").rowsBetween(Window.unboundedPreceding, Window.unboundedFollowing)
    frames = alone(window)
    wanted = sash.withColumns(frames, {name: call.over(over) for name, call in asked.items()}).to_pylist()
    by_frame = {row["frame"]: row for row in wanted}
    found = sash.withColumns(ROWS, {name: call.over(ours(window)) for name, call in asked.items()}).to_pylist()
    for number, row in enumerate(found):
        for name in asked:
            want = by_frame[number][name] if number in by_frame else empty_answer(name)
            near = 1e-4 if name == "moment_quantile" else 1e-9  # which solves equations
            assert cases.same(row[name], want, near), (name, number, row[name], want)
