import calendar
import math
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from decimal import ROUND_HALF_UP, Context, Decimal
from fractions import Fraction
from itertools import pairwise
from zoneinfo import ZoneInfo

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from sash.engine.frame_bounds import edges_among, frame_bounds, remapped, selected_before
from sash.errors import SashError
from sash.expressions import col
from sash.windows import Window
from sash.windows.frame import CLOSED, EXCLUSIONS
from sash.windows.offsets import float_offset, float_offsets

NAN, INF = float("nan"), float("inf")
EDGE, FAR = Window.unboundedPreceding, Window.unboundedFollowing
ROW_BOUNDS = st.integers(-4, 4)
WHOLE = st.sampled_from([-(2**62), -300, -3, -1, 0, 1, 2, 300, 2**62])
PARTIAL = st.sampled_from([-2.5, -1, -0.5, 0.25, 1, 3, Decimal("-0.5"), Decimal("1.25")])
SPANS = st.sampled_from(["-1 day", "-90 minutes", "-1 second", "0.4 seconds", "2 hours", "1 day 1 second"])
MONTHS = st.sampled_from(["-1 month", "-1 month 1 day", "-2 days", "0 days", "1 month", "1 year"])
DATES = st.dates(date(2023, 12, 27), date(2024, 3, 31))
TIMES = st.datetimes(datetime(2024, 1, 30), datetime(2024, 2, 3)).map(lambda t: t.replace(microsecond=0))
TENTHS = [float(np.float32(n / 10)) for n in (1, 2, 3, 4)]
KEYS = {  # type: values, offsets
    pa.int8(): (st.integers(-4, 4), WHOLE | PARTIAL),
    pa.int64(): (st.integers(-3, 3) | st.sampled_from([-(2**63), 2 - 2**63, 2**63 - 2, 2**63 - 1]), WHOLE | PARTIAL),
    pa.uint64(): (st.integers(0, 4) | st.sampled_from([2**63 - 1, 2**63, 2**64 - 2, 2**64 - 1]), WHOLE),
    pa.float64(): (
        st.sampled_from([-INF, -2.5, -0.0, 0.0, 0.5, 1.0, 3.0, 1e300, INF, NAN]),
        WHOLE | PARTIAL | st.sampled_from([-INF, INF, NAN]),
    ),
    pa.float16(): (st.sampled_from([-2.5, -0.0, 0.0, 0.5, 1.0, 3.0, 2048.0]), WHOLE | PARTIAL),
    pa.float32(): (
        st.sampled_from([-INF, -2.5, -0.0, 0.0, *TENTHS, 0.5, 1.0, 2.0**24, 2.0**24 + 2, 3e38, INF, NAN]),
        WHOLE | PARTIAL | st.sampled_from([-0.1, 0.1, Decimal("0.2"), Decimal("-0.3"), 1e30, -1e300, 1e300, INF]),
    ),
    pa.decimal128(5, 2): (
        st.decimals(-3, 3, places=2),
        WHOLE | PARTIAL | st.sampled_from([0.005, -0.005, Decimal("0.125"), Decimal("-1.994"), 0.001]),
    ),
    pa.decimal128(4, 0): (st.integers(-3, 3).map(Decimal), WHOLE | PARTIAL),
    pa.decimal128(4, -2): (st.integers(-3, 3).map(lambda n: Decimal(100 * n)), WHOLE | st.sampled_from([-150, 49.5])),
    pa.decimal128(38, 1): (st.sampled_from([Decimal(-(10**30)), Decimal(10**30), Decimal(1), Decimal(2)]), PARTIAL),
    pa.decimal256(50, 0): (st.sampled_from([Decimal(-(10**45)), Decimal(10**45), Decimal(1), Decimal(-2)]), WHOLE),
    pa.date32(): (DATES, MONTHS | st.sampled_from([-30, 1])),
    pa.date64(): (DATES, MONTHS),
    pa.timestamp("s"): (TIMES, SPANS | MONTHS),
    pa.timestamp("us", "UTC"): (TIMES.map(lambda t: t.replace(tzinfo=UTC)), SPANS | MONTHS),
    pa.duration("ms"): (st.integers(-3, 3).map(lambda n: timedelta(hours=n)), SPANS),
}


@st.composite
def partitions(draw, kind, values, most=6):
    """Sorted partitions: their keys with NULLs, and where they start."""
    descending, nulls_first = draw(st.booleans()), draw(st.booleans())
    keys, segments = [], [0]
    for part in draw(st.lists(st.lists(values, max_size=most).flatmap(sprinkled), max_size=3)):
        known = sorted((key for key in part if key is not None), key=ranked, reverse=descending)
        nulls = [None] * (len(part) - len(known))
        keys += nulls + known if nulls_first else known + nulls
        segments.append(len(keys))
    return pa.array(keys, kind), np.array(segments), descending, nulls_first


def sprinkled(values):
    return st.integers(0, 3).map(lambda nulls: [*values, *[None] * nulls])


def ranked(key):
    return (1, 0) if key is None or key != key else (0, key)


def shifted(key, offset, descending, kind):
    """A key so far on, as Python has it; the offset is cast to the key's type, however large it is."""
    sign = -1 if descending else 1
    if isinstance(offset, str):
        words = offset.split()
        for number, unit in zip(words[::2], words[1::2], strict=True):
            unit = unit.removesuffix("s")
            if unit in ("month", "year"):
                key = months_on(key, sign * int(number) * (12 if unit == "year" else 1))
            else:
                key = key + sign * timedelta(**{f"{unit}s": float(number)})
        return key
    if isinstance(key, float):
        short = {pa.float16(): np.float16, pa.float32(): np.float32}.get(kind, np.float64)
        with np.errstate(all="ignore"):
            return float(short(key) + sign * short(float(offset)))
    if isinstance(key, date):
        return key + timedelta(sign * offset)
    if pa.types.is_decimal(kind):
        exact = Decimal(repr(offset)) if isinstance(offset, float) else Decimal(offset)
        offset = exact.quantize(Decimal(1).scaleb(-kind.scale), ROUND_HALF_UP, Context(prec=100))
    return Fraction(key) + sign * (Fraction(offset) if pa.types.is_decimal(kind) else math.trunc(offset))


def months_on(day, months):
    year, month = divmod(day.year * 12 + day.month - 1 + months, 12)
    return day.replace(year=year, month=month + 1, day=min(day.day, calendar.monthrange(year, month + 1)[1]))


def same(x, y):
    return ranked(x) == ranked(y) and (x is None) == (y is None)


def members(frame, array, begin, end, i, descending, nulls_first, offsets):
    """The positions of one row's frame, by looking at each row of its partition."""
    keys = array.to_pylist()
    groups = [j for j in range(begin, end) if j == begin or not same(keys[j], keys[j - 1])]
    group = {j: sum(start <= j for start in groups) for j in range(begin, end)}

    def beyond(j, bound, offset, side):
        """Whether row j lies beyond a side of the frame, 1 for its end and -1 for its start."""
        if bound.is_unbounded:
            return False
        if frame.kind == "rows":
            return (j - i - offset) * side > 0
        if frame.kind == "groups" or bound.is_current_row:
            return (group[j] - group[i] - offset) * side > (-1 if is_open(side) else 0)
        if keys[i] is None or keys[j] is None:
            return is_open(side) if same(keys[i], keys[j]) else (j - i) * side > 0
        reach, key = ranked(shifted(keys[i], offset, descending, array.type)), ranked(keys[j])
        return (is_open(side) and key == reach) or (key > reach if (side > 0) != descending else key < reach)

    def is_open(side):
        return frame.closed not in ("both", "right" if side > 0 else "left")

    inside = [
        j
        for j in range(begin, end)
        if not beyond(j, frame.start, offsets[0], -1) and not beyond(j, frame.end, offsets[1], 1)
    ]
    out = {"current row": {i}, "group": set(), "ties": set(), "no others": set()}[frame.exclude]
    if frame.exclude in ("group", "ties"):
        out = {j for j in group if group[j] == group[i]} - ({i} if frame.exclude == "ties" else set())
    return [j for j in inside if j not in out]


def held(bounds, i):
    lo, a, b, hi = (int(edge[i]) for edge in bounds.arrays[:4])
    own = [int(bounds.own[i])] if len(bounds.own) and bounds.own[i] >= 0 else []
    if not bounds.holes:
        return list(range(lo, hi))
    return [*range(lo, a), *own, *range(b, hi)]


def check_form(bounds, segments, places=None):
    """What every kernel relies on; partitions that start at ``segments`` are at ``places`` among the positions."""
    assert all(edge.dtype == np.int32 for edge in bounds.arrays[:4])
    lo, a, b, hi = (edge.astype(int) for edge in bounds.arrays[:4])
    assert (lo <= a).all()
    assert (a <= b).all()
    assert (b <= hi).all()
    places = segments if places is None else places
    for p, (begin, end) in enumerate(pairwise(segments)):
        assert ((lo[begin:end] >= places[p]) & (hi[begin:end] <= places[p + 1])).all()
    forward = all((np.diff(edge) >= 0).all() for edge in (lo, a, b, hi))
    assert forward or not bounds.moves_forward
    return forward


def peers_of(keys, segments):
    starts = [i for i in range(len(keys)) if i in segments or not same(keys[i], keys[i - 1])]
    return np.array([max(start for start in starts if start <= i) for i in range(len(keys))], np.int32)


def compare(frame, table, start_offsets=None, end_offsets=None):
    """Bounds, after comparing them with the oracle."""
    array, segments, descending, nulls_first = table
    keys = array.to_pylist()
    framed = frame_bounds(
        frame,
        segments=segments,
        peers=peers_of(keys, set(segments)),
        key=array,
        descending=descending,
        nulls_first=nulls_first,
        offsets=(start_offsets, end_offsets),
    )
    forward = check_form(framed.bounds, segments)
    for begin, end in pairwise(segments):
        for i in range(begin, end):
            each = [
                text_of(bound) if given is None else given[i].as_py()
                for bound, given in ((frame.start, start_offsets), (frame.end, end_offsets))
            ]
            want = members(frame, array, begin, end, i, descending, nulls_first, each)
            assert held(framed.bounds, i) == want, (i, keys, frame)
    return framed, forward


def text_of(bound):
    return (
        str(bound.offset)
        if bound.form == "offset" and not isinstance(bound.offset, int | float | Decimal)
        else (bound.constant)
    )


def ordered(start, end):
    """A frame needs its start before its end; unbounded stands for itself."""
    return st.tuples(start | st.just(EDGE), end | st.just(FAR))


def built(make, bounds, exclude, closed="both"):
    """The frame, or None where it would start after its end."""
    try:
        return make(*bounds).exclude(exclude).closed(closed).frame
    except SashError as error:
        if "start must not be after end" not in str(error):
            raise
        return None


@given(st.data(), ordered(ROW_BOUNDS, ROW_BOUNDS), st.sampled_from(EXCLUSIONS), st.sampled_from(["rows", "groups"]))
def test_rows_and_groups_hold_what_looking_at_each_row_finds(data, bounds, exclude, kind):
    window = Window.orderBy("k")
    frame = built(window.rowsBetween if kind == "rows" else window.groupsBetween, bounds, exclude)
    if frame is None:
        return
    framed, _ = compare(frame, data.draw(partitions(pa.int64(), st.integers(0, 3))))
    constant = kind == "rows" and exclude == "no others" and EDGE not in bounds and FAR not in bounds
    assert framed.bounds.shape == ("constant" if constant else "monotonic")
    assert (framed.groups is None) == (exclude == "no others")
    if constant:
        length = framed.bounds.length
        assert framed.bounds.before == max(-length, min(length, -bounds[0]))
        assert framed.bounds.after == max(-length, min(length, bounds[1]))


@given(st.data(), st.sampled_from(list(KEYS)), st.sampled_from(EXCLUSIONS), st.sampled_from(list(CLOSED)))
def test_ranges_hold_what_looking_at_each_row_finds(data, kind, exclude, closed):
    values, offsets = KEYS[kind]
    bounds = data.draw(ordered(offsets | st.just(0), offsets | st.just(0)))
    frame = built(Window.orderBy("k").rangeBetween, bounds, exclude, closed)
    if frame is not None:
        framed, _ = compare(frame, data.draw(partitions(kind, values)))
        if not pa.types.is_temporal(kind):
            assert framed.bounds.shape == "monotonic"


@pytest.mark.parametrize("descending", [False, True])
@pytest.mark.parametrize("bounds", [(-3, 2), (1, 3), (-3, -1), (-(2**63) + 2, 0), (0, 2**63 - 2), (2**62, FAR)])
@pytest.mark.parametrize("kind", [pa.int64(), pa.uint64()])
def test_no_sum_overflows_at_the_edges_of_64_bits(kind, bounds, descending):
    least, most = (0, 2**64 - 1) if kind == pa.uint64() else (-(2**63), 2**63 - 1)
    keys = [least, least, least + 2, least + 3, 5, 6, most - 3, most - 2, most, most]
    for some in (keys, keys[:6], keys[4:]):
        table = pa.array(some[::-1] if descending else some, kind), np.array([0, len(some)]), descending, True
        compare(Window.orderBy("k").rangeBetween(*bounds).frame, table)


@pytest.mark.parametrize("descending", [False, True])
def test_every_nan_is_above_every_number(descending):
    keys = np.array([-INF, -0.0, 0.0, 1.0, INF, NAN, np.copysign(NAN, -1)])
    table = pa.array(keys[::-1] if descending else keys), np.array([0, len(keys)]), descending, True
    framed, _ = compare(Window.orderBy("k").rangeBetween(-1, 1).frame, table)
    assert framed.bounds.sizes().tolist() == ([2, 2, 1, 3, 3, 3, 1] if descending else [1, 3, 3, 3, 1, 2, 2])


@given(st.data(), st.sampled_from(["rows", "groups", *CLOSED]), st.sampled_from(EXCLUSIONS), st.booleans())
def test_every_row_may_have_bounds_of_its_own(data, kind, exclude, both):
    closed, kind = (kind, "range") if kind in CLOSED else ("both", kind)
    table = data.draw(partitions(pa.int64(), st.integers(0, 5)))
    column = st.lists(st.integers(-3, 3) | st.sampled_from([-(2**63), 2**63 - 1]), min_size=len(table[0]))
    starts, ends = data.draw(column), data.draw(column) if both else None
    size = len(table[0])
    window = Window.orderBy("k")
    make = {"rows": window.rowsBetween, "groups": window.groupsBetween, "range": window.rangeBetween}[kind]
    frame = make(col("a"), col("b") if both else 1).exclude(exclude).closed(closed).frame
    starts, ends = (None if column is None else pa.array(column[:size], pa.int64()) for column in (starts, ends))
    framed, forward = compare(frame, table, starts, ends)
    assert framed.bounds.moves_forward == forward


@given(st.data(), st.sampled_from([pa.float64(), pa.float32(), pa.decimal128(9, 2)]))
def test_a_range_takes_fractions_and_decimals_of_each_row(data, given):
    kind = data.draw(st.sampled_from([pa.int8(), pa.int16(), pa.float32(), pa.float64(), pa.decimal128(8, 1)]))
    table = data.draw(partitions(kind, KEYS.get(kind, (st.integers(-3, 3),))[0]))
    some = st.sampled_from([-300.0, -1.5, -0.25, -0.1, 0.0, 0.1, 0.05, 2.0])
    if pa.types.is_floating(kind) and pa.types.is_floating(given):
        some |= st.sampled_from([-INF, INF, NAN])
    rows = data.draw(st.lists(some, min_size=len(table[0]), max_size=len(table[0])))
    compare(Window.orderBy("k").rangeBetween(col("a"), 1).frame, table, pa.array(rows, pa.float64()).cast(given))


def test_short_floats_reach_what_their_sums_reach():
    keys = pa.array([0.1, 0.2, 0.4], pa.float32())
    for start in (-0.1, Decimal("-0.1"), pa.array([-0.1] * 3), pa.array([Decimal("-0.1")] * 3)):
        each = start if isinstance(start, pa.Array) else None
        frame = Window.orderBy("k").rangeBetween(start if each is None else col("a"), 0).frame
        framed = frame_bounds(frame, segments=np.array([0, 3]), peers=np.arange(3), key=keys, offsets=(each, None))
        assert framed.bounds.sizes().tolist() == [1, 2, 1]


@pytest.mark.parametrize(
    ("exact", "nearest"),
    [  # a float of 64 bits between two of 32 is where rounding twice goes wrong
        (Decimal(1) + Decimal(2) ** -24 + Decimal(2) ** -60, 1 + 2**-23),
        (Decimal(1) + Decimal(2) ** -24 - Decimal(2) ** -60, 1.0),
        (Decimal(-1) - Decimal(2) ** -24 - Decimal(2) ** -60, -1 - 2**-23),
        (2**60 + 2**36 + 1, 2**60 + 2**37),
    ],
)
def test_an_offset_is_rounded_to_a_short_float_once(exact, nearest):
    assert float_offset(exact, pa.float32()) == nearest
    if isinstance(exact, Decimal):
        assert float_offsets(pa.array([exact, exact], pa.decimal256(70, 60)), pa.float32()).tolist() == [nearest] * 2


BY = Window.orderBy("v")
OPINIONS = [  # frames over v, a number, and d, a date; b rows, groups or units back
    ("v", BY.rowsBetween(-2, 1), "rows between 2 preceding and 1 following"),
    ("v", BY.groupsBetween(-1, 1), "groups between 1 preceding and 1 following"),
    ("v", BY.rangeBetween(-2, 1), "range between 2 preceding and 1 following"),
    ("v", BY.rangeBetween(EDGE, 1), "range between unbounded preceding and 1 following"),
    ("v", BY.rangeBetween(1, FAR), "range between 1 following and unbounded following"),
    ("v", BY, ""),
    ("v", BY.rowsBetween(col("b"), 1), "rows between b preceding and 1 following"),
    ("v", BY.groupsBetween(col("b"), 1), "groups between b preceding and 1 following"),
    ("v", BY.rangeBetween(col("b"), 1), "range between b preceding and 1 following"),
    (
        "d",
        BY.rangeBetween("-1 month", "20 days"),
        "range between interval 1 month preceding and interval 20 days following",
    ),
]


@pytest.mark.parametrize("exclude", EXCLUSIONS)
@pytest.mark.parametrize("order", ["asc nulls first", "asc nulls last", "desc nulls first", "desc nulls last"])
def test_duckdb_holds_the_same_rows(exclude, order):
    connection = pytest.importorskip("duckdb").connect()
    random = np.random.default_rng(len(exclude + order))
    values = [(int(n),) if n < 6 else (None,) for n in random.integers(0, 7, 40)]
    connection.execute("create table given (v bigint)")
    connection.executemany("insert into given values (?)", values)
    connection.execute(
        f"create table rows as select row_number() over (order by p, v {order}) - 1 as id, *, date '2024-01-31' "
        "+ cast(15 * v as int) as d from (select v, rowid % 3 as p, rowid % 4 as b from given)"
    )
    columns = connection.execute("select id, p, v, d, -b as b from rows order by id").fetchnumpy()
    rows = connection.execute("select v, d, -b from rows order by id").fetchall()
    keys = {"v": pa.array([row[0] for row in rows], pa.int64()), "d": pa.array([row[1] for row in rows], pa.date32())}
    segments = np.searchsorted(np.asarray(columns["p"]), range(4))
    for key, window, words in OPINIONS:
        frame, by_row = window.exclude(exclude).frame, words.startswith("rows")
        found = frame_bounds(
            frame,
            segments=segments,
            peers=np.arange(40) if by_row else peers_of(keys[key].to_pylist(), set(segments)),
            key=keys[key],
            descending="desc" in order,
            nulls_first="first" in order,
            offsets=(pa.array([row[2] for row in rows]), None),
        )
        words = words or "range between unbounded preceding and current row"
        query = (
            f"select list(id) over (partition by p order by {key} {order} {', id' * by_row} {words} exclude {exclude}) "
            "from rows order by id"
        )
        theirs = [sorted(held or []) for (held,) in connection.execute(query).fetchall()]
        assert lists(found.bounds) == theirs, words


@pytest.mark.parametrize("closed", CLOSED)
@pytest.mark.parametrize("exclude", EXCLUSIONS)
@pytest.mark.parametrize("order", ["asc nulls first", "asc nulls last", "desc nulls first", "desc nulls last"])
def test_duckdb_joins_the_same_rows_where_a_side_is_open(closed, exclude, order):
    """DuckDB has no such frames: it looks for each row's as a join does, the NULLs among themselves."""
    connection = pytest.importorskip("duckdb").connect()
    random = np.random.default_rng(len(exclude + order + closed))
    some = [None if n > 6 else int(n) for n in random.integers(0, 8, 30)]
    connection.execute("create table given (v bigint)")
    connection.executemany("insert into given values (?)", [(each,) for each in some])
    connection.execute(
        f"create table rows as select row_number() over (order by p, v {order}) - 1 as id, * "
        "from (select v / 2 as v, rowid % 2 as p from given)"
    )
    keys = connection.execute("select v, p from rows order by id").fetchall()
    segments = np.array([0, sum(p == 0 for _, p in keys), len(keys)])
    key = pa.array([v for v, _ in keys], pa.float64())
    starts, ends = CLOSED[closed]
    sign = "-" if "desc" in order else ""
    hole = {
        "no others": "true",
        "current row": "b.id <> a.id",
        "group": "b.v is distinct from a.v",
        "ties": "(b.id = a.id or b.v is distinct from a.v)",
    }[exclude]
    for first, last in ((-1.5, 0), (-1, 1), (0, 1.5), (0, 0), (-2, -0.5), (0.5, 2)):
        theirs = connection.execute(
            f"""select list(b.id order by b.id) filter (b.id is not null) from rows a left join rows b
            on a.p = b.p and {hole} and case when a.v is null or b.v is null
                then a.v is null and b.v is null and {starts} and {ends}
                else {sign}b.v {">=" if starts else ">"} {sign}a.v + {first}
                 and {sign}b.v {"<=" if ends else "<"} {sign}a.v + {last} end
            group by a.id order by a.id"""
        ).fetchall()
        framed = frame_bounds(
            Window.orderBy("v").rangeBetween(first, last).exclude(exclude).closed(closed).frame,
            segments=segments,
            peers=peers_of(key.to_pylist(), set(segments)),
            key=key,
            descending="desc" in order,
            nulls_first="first" in order,
        )
        assert lists(framed.bounds) == [held or [] for (held,) in theirs], (first, last)


def lists(bounds):
    return [held(bounds, i) for i in range(len(bounds))]


def frames(window, key, **more):
    rows = len(key)
    peers = peers_of(key.to_pylist(), {0})
    return lists(frame_bounds(window.frame, segments=np.array([0, rows]), peers=peers, key=key, **more).bounds)


DAYS = Window.orderBy("t")


def test_a_month_before_the_end_of_march_is_the_end_of_february():
    days = pa.array([date(2024, 2, 28), date(2024, 2, 29), date(2024, 3, 29), date(2024, 3, 31)])
    assert frames(DAYS.rangeBetween("-1 month", 0), days) == [[0], [0, 1], [1, 2], [1, 2, 3]]


def test_a_day_in_a_time_zone_is_a_day_of_its_clocks():
    zone = ZoneInfo("America/New_York")
    times = [
        datetime(2024, 3, 9, 12, tzinfo=zone),
        datetime(2024, 3, 9, 13, tzinfo=zone),
        datetime(2024, 3, 10, 12, tzinfo=zone),
    ]  # 23 hours after the first
    key = pa.array(times, pa.timestamp("us", "America/New_York"))
    assert frames(DAYS.rangeBetween("-1 day", 0), key) == [[0], [0, 1], [0, 1, 2]]
    assert frames(DAYS.rangeBetween("-24 hours", 0), key) == [[0], [0, 1], [0, 1, 2]]
    assert frames(DAYS.rangeBetween("1 day", "1 day"), key) == [[2], [], []]
    assert frames(DAYS.rangeBetween("24 hours", "24 hours"), key) == [[], [], []]


def test_each_row_may_have_an_interval_of_its_own():
    hours = pa.array([datetime(2024, 1, 1, hour) for hour in range(4)])
    spans = pa.array([timedelta(hours=-n) for n in (1, 1, 2, 0)])
    window = DAYS.rangeBetween(col("back"), 0)
    assert frames(window, hours, offsets=(spans, None)) == [[0], [0, 1], [0, 1, 2], [3]]
    days = pa.array([date(2024, 1, 31), date(2024, 2, 1), date(2024, 2, 29)])
    months = pa.array([(0, -1, 0), (0, -1, 0), (-1, 2, 0)], pa.month_day_nano_interval())
    assert frames(window, days, offsets=(months, None)) == [[0], [0, 1], [0, 1, 2]]
    assert frames(window, days, offsets=(np.array([0, 0, -28]), None)) == [[0], [1], [1, 2]]


def test_without_an_order_all_rows_of_a_partition_are_peers():
    segments = np.array([0, 2, 5])
    whole = [[0, 1]] * 2 + [[2, 3, 4]] * 3
    assert lists(frame_bounds(Window.partitionBy("p").frame, segments=segments).bounds) == whole
    ties = Window.rowsBetween(-1, 0).exclude("ties").frame
    assert lists(frame_bounds(ties, segments=segments).bounds) == [[0], [1], [2], [3], [4]]


@pytest.mark.parametrize(
    ("offset", "key", "words"),
    [
        (-1, pa.array([datetime(2024, 1, 1)]), "must be an interval such as '-5 minutes'.*timestamp.*got -1"),
        ("1 day", pa.array([1]), "must be a number.*int64, got 1 day"),
        ("-1 hour", pa.array([date(2024, 1, 1)]), "must be a whole number of days.*date32.*got -1 hour"),
        (-1.5, pa.array([date(2024, 1, 1)]), "must be a whole number of days"),
        ("1 month", pa.array([timedelta(1)]), "must be an interval of days or less.*got 1 month"),
        (1, pa.array(["a"]), "takes an order key of numbers, dates.*got one of type string"),
        (INF, pa.array([1]), "must be finite where the order key is of type int64, got inf"),
        (NAN, pa.array([Decimal("1.5")]), "must be finite where the order key is of type decimal.*got nan"),
    ],
)
def test_an_offset_must_suit_the_key(offset, key, words):
    with pytest.raises(SashError, match=words):
        frames(DAYS.rangeBetween(*((offset, FAR))), key)


@pytest.mark.parametrize("kind", ["rows", "groups", "range"])
def test_offsets_of_rows_must_be_known(kind):
    make = {"rows": DAYS.rowsBetween, "groups": DAYS.groupsBetween, "range": DAYS.rangeBetween}[kind]
    window, key = make(col("a"), 0), pa.array([1, 2])
    with pytest.raises(SashError, match=f"{kind}Between: start must not be NULL"):
        frames(window, key, offsets=(pa.array([1, None]), None))
    with pytest.raises(SashError, match=f"{kind}Between: start must have an offset for each of 2 rows, got 1"):
        frames(window, key, offsets=(np.array([1]), None))
    if kind == "range":
        with pytest.raises(SashError, match=r"start must be finite where the order key.*int64, got a column with NaN"):
            frames(window, key, offsets=(np.array([0.0, NAN]), None))
    else:
        with pytest.raises(SashError, match="must be a column of whole numbers, got one of type double"):
            frames(window, key, offsets=(np.array([0.0, 1.0]), None))


@given(st.data(), ordered(ROW_BOUNDS, ROW_BOUNDS), st.sampled_from(EXCLUSIONS))
@example(None, (-1, 1), "ties")
def test_frames_over_the_rows_kept_hold_just_these(data, bounds, exclude):
    table = (
        data.draw(partitions(pa.int64(), st.integers(0, 3)))
        if data
        else (pa.array([1, 1, 2]), np.array([0, 3]), False, True)
    )
    frame = built(Window.orderBy("k").rowsBetween, bounds, exclude)
    if frame is None:
        return
    keys, segments = table[0], table[1]
    rows = len(keys)
    kept = np.array(data.draw(st.lists(st.booleans(), min_size=rows, max_size=rows)) if data else [1, 0, 1], bool)
    framed = frame_bounds(frame, segments=segments, peers=peers_of(keys.to_pylist(), set(segments)), key=keys)
    before = selected_before(kept)
    assert before.tolist() == [int(kept[:i].sum()) for i in range(rows + 1)]
    found = remapped(framed.bounds, before)
    survivors = np.flatnonzero(kept)
    for i in range(rows):
        assert [int(survivors[j]) for j in held(found, i)] == [j for j in held(framed.bounds, i) if kept[j]]
    assert found.length == kept.sum()
    assert found.shape == "monotonic"
    check_form(found, segments, edges_among(segments, before))
    assert lists(remapped(framed.bounds, kept)) == lists(found)
    assert remapped(framed.bounds, None) is framed.bounds


def test_a_frame_is_the_same_over_more_rows_than_one_thread_takes(monkeypatch):
    monkeypatch.setenv("SASH_THREADS", "3")
    rows = 3 << 16
    keys = np.sort(np.random.default_rng(5).integers(0, rows, rows))
    peers = np.searchsorted(keys, keys).astype(np.int32)
    framed = {}
    for count in ("1", "3"):
        monkeypatch.setenv("SASH_THREADS", count)
        for window in (DAYS.rangeBetween(-9, 4), DAYS.groupsBetween(-2, 3), DAYS.rowsBetween(-2, 3), DAYS):
            frame = replace(window.frame, exclude="ties")
            bounds = frame_bounds(frame, segments=np.array([0, 7, rows]), peers=peers, key=pa.array(keys)).bounds
            before = framed.setdefault(window, bounds)
            assert all((mine == its).all() for mine, its in zip(bounds.arrays, before.arrays, strict=True))
            assert (remapped(bounds, keys % 3 > 0).hi == remapped(before, keys % 3 > 0).hi).all()
    assert math.isclose(np.searchsorted(keys[7:], keys[-1] - 9) + 7, framed[DAYS.rangeBetween(-9, 4)].lo[-1])
