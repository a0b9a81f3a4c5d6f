"""Keys moved so far that no row beyond them reaches farther."""

from datetime import date, datetime, timedelta
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sash.engine.ranges.shifting import shifted
from sash.windows.calendars import shifted_times
from sash.windows.intervals import Interval

STARTS = [datetime(2024, 2, 27), datetime(2024, 3, 29), datetime(2024, 10, 25), datetime(2011, 12, 28)]
ZONES = [None, "UTC", "Europe/Berlin", "America/New_York", "Pacific/Apia"]
hours = st.lists(st.integers(0, 24 * 6), min_size=1, max_size=20)
spans = st.builds(Interval, st.integers(-2, 2), st.integers(-3, 3), st.integers(-3, 3).map(lambda n: n * 3_600_000_000))


@given(st.sampled_from(STARTS), hours, st.sampled_from(ZONES), spans, st.booleans(), st.booleans())
def test_no_later_time_reaches_farther(start, each, zone, span, descending, before):
    kind = pa.timestamp("us", zone)
    times = pa.array(sorted(start + timedelta(hours=hour) for hour in each), pa.timestamp("us")).cast(pa.int64())
    by = -span if descending else span
    targets = shifted_times(times.to_numpy(), "us", zone, *by.parts)
    found, beyond = shifted(times.cast(pa.timestamp("us")).view(kind), span, descending, before)
    assert not beyond.any()
    edges = found.view(pa.int64()).to_numpy()
    for place, edge in enumerate(edges):
        if before and not descending:
            assert edge <= targets[place:].min()
        elif before:
            assert edge >= targets[: place + 1].max()
        elif descending:
            assert edge <= targets[place:].min()
        else:
            assert edge >= targets[: place + 1].max()


@pytest.mark.parametrize(
    ("key", "kind", "offset", "found"),
    [
        (100, pa.int8(), -27, 73),
        (100, pa.int8(), -2.5, 98),
        (100, pa.int8(), -300, None),
        (-100, pa.int8(), -29, None),
        (3, pa.uint64(), -3, 0),
        (3, pa.uint64(), -4, None),
        (2**63, pa.uint64(), -1, 2**63 - 1),
        (-(2**63), pa.int64(), -1, None),
        (Decimal("1.00"), pa.decimal128(4, 2), Decimal("-0.255"), Decimal("0.74")),
        (Decimal("1.00"), pa.decimal128(4, 2), -0.1, Decimal("0.90")),
        (Decimal("-99.00"), pa.decimal128(4, 2), -1, None),
        (Decimal(10**37), pa.decimal256(50, 2), -1, Decimal(10**37 - 1)),
        (date(2024, 3, 31), pa.date32(), Interval(-1), date(2024, 2, 29)),
        (date(2024, 3, 31), pa.date64(), -31, date(2024, 2, 29)),
        (date(1, 1, 2), pa.date32(), -5, None),
        (datetime(1, 1, 4), pa.timestamp("us"), Interval(days=-5), None),
        (timedelta(seconds=5), pa.duration("s"), Interval(microseconds=-1), timedelta(seconds=4)),
        (timedelta(seconds=5), pa.duration("ns"), Interval(days=-(2**31)), None),
        (float("-inf"), pa.float64(), -1, float("-inf")),
        (1e308, pa.float32(), -1, float("inf")),
        (0.0, pa.float32(), -1e300, None),
    ],
)
def test_what_does_not_fit_is_beyond(key, kind, offset, found):
    keys, beyond = shifted(pa.array([key, None], kind), offset, descending=False, before=True)
    assert keys.type == kind
    assert keys.to_pylist() == [found, None]
    assert beyond.tolist() == [found is None, False]
    mirrored, _ = shifted(pa.array([key, None], kind), -offset, descending=True, before=False)
    assert mirrored.equals(keys)


@given(st.floats(width=32, allow_nan=False), st.floats(-3e38, 3e38), st.booleans())
def test_short_floats_move_to_their_sum(key, offset, before):
    keys, _ = shifted(pa.array([key, float("nan")], pa.float32()), offset, False, before)
    edge, nan = keys.to_numpy()
    assert np.isnan(nan)
    with np.errstate(over="ignore"):
        assert edge == np.float32(key) + np.float32(offset)
