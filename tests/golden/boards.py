"""What the golden states are of: a board for each built-in, kind of window and emit, and the rows that they took."""

from datetime import datetime, timedelta
from decimal import Decimal

import pyarrow as pa

import sash
from every_function import every_call
from sash import functions as sf
from sash.engine import SlidingWindow
from sash.kernels.sealing import making

ROWS = 160
HALF = 90  # rows that came before the state was taken
SCHEMA = pa.schema(
    {
        "ts": pa.timestamp("us"),
        "end": pa.timestamp("us"),
        "k": pa.string(),
        "i": pa.int64(),
        "f": pa.float64(),
        "d": pa.decimal128(12, 2),
        "b": pa.bool_(),
        "w": pa.string(),
    }
)
PARTIALS = {"n": sf.count(), "mean": sf.avg("f"), "peak": sf.max("i"), "total": sf.sum("d")}
HELD = {"mid": sf.median("f"), "kinds": sf.count_distinct("w"), "all": sf.collect_list("i")}
LASTS = sash.col("end") - sash.col("ts")
BACK = sash.col("ts") - LASTS - LASTS  # times that are behind the watermark, many of them
FIFTHS = sash.col("i") % 5  # keys whose rows have holes between them
WINDOWS = {
    "time": {"range": "60 seconds", "slide": "20 seconds"},
    "calendar": {"range": "1 month"},
    "count": {"range": 30, "slide": 7},
    "delta": {"range": sash.delta("i", 9)},
    "punctuation": {"range": sash.punctuation("i % 25 = 0")},
    "session": {"range": sash.session("6 seconds")},
    "cumulate": {"range": sash.cumulate("60 seconds", step="20 seconds")},
    "rows by time": {"range": 30, "slide": "20 seconds"},
    "time by rows": {"range": "30 seconds", "slide": 7},
}


def rows(start=0, stop=ROWS):
    """Rows a second apart, with values that are exact in every type, and NULLs."""
    made = []
    for at in range(start, stop):
        ts = datetime(2026, 1, 31, 23, 59) + timedelta(seconds=at)
        value = None if at % 11 == 4 else at
        made.append(
            {
                "ts": ts,
                "end": ts + timedelta(seconds=at % 40),
                "k": "abc"[at % 3],
                "i": value,
                "f": None if value is None else (at * 37 % 64) / 4,
                "d": None if value is None else Decimal(at * 7 % 100) / 4,
                "b": None if value is None else at % 5 < 2,
                "w": f"w{at % 7}",
            }
        )
    return pa.Table.from_pylist(made, SCHEMA)


def functions():
    """A board of one query for each built-in that partials answer, by its name and the type of its column.

    Other types than floats are of those whose partials depend on that.
    """
    found = {}
    for column, other in (("f", "i"), ("i", "f"), ("d", "d"), ("b", "b")):
        for name, call in every_call(column, other).items():
            if column != "f" and getattr(call.aggregate, "typed", None) is None:
                continue
            try:
                board = stream().query("q", call, range="40 seconds", slide="20 seconds")
                partials = board._scheme.folded
            except sash.SashError:  # not of this type
                continue
            if partials:
                found[f"{name} of {column}"] = board
    return found


def one_of_each(boards):
    """One board for each partial: stddev, variance and others have the same."""
    found = {}
    for name, board in boards.items():
        ((aggregate, _),) = board._scheme.shared.partials
        found.setdefault(making(aggregate.but(name="x")) if aggregate.compiled else name, name)
    return {name: boards[name] for name in found.values()}


def stream(source=SCHEMA, **given):
    """The stream of all boards."""
    return sash.stream(source, **({"time": "ts", "key": "k", "watermark": "2 seconds"} | given))


def kinds():
    """Boards of all kinds of windows, and the emits of each."""
    found = {}
    for name, windows in WINDOWS.items():
        for emit in ("final", "changes", "updates"):
            if emit == "updates" and name in ("delta", "punctuation", "session", "rows by time", "time by rows"):
                continue
            calls = PARTIALS if name == "delta" else PARTIALS | HELD
            board = stream(key=FIFTHS) if name == "session" else stream()
            found[f"{name} {emit}"] = board.query(calls, **windows), emit
            found[f"{name} {emit} partials"] = board.query(PARTIALS, **windows), emit
    for name in ("time", "session"):
        late = stream(time=BACK, key=FIFTHS, lateness="1 minute")
        found[f"{name} with lateness"] = late.query(PARTIALS | HELD, **WINDOWS[name]), "final"
        found[f"{name} with lateness partials"] = late.query(PARTIALS, **WINDOWS[name]), "final"
    spans = sash.stream(SCHEMA, span=("ts", "end"), key="k", watermark="2 seconds", postpone="1 minute")
    found["spans final"] = spans.query(PARTIALS | HELD, range="30 seconds", slide="10 seconds"), "final"
    found["spans final partials"] = spans.query(PARTIALS, range="30 seconds", slide="10 seconds"), "final"
    return found


def by_hand():
    """A window that is managed by hand."""
    return SlidingWindow({name: PARTIALS[name] for name in PARTIALS}, SCHEMA)
