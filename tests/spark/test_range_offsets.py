"""RANGE casts its offsets to the type of the order key, as Spark does: both hold the same rows in every frame."""

from decimal import Decimal

import numpy as np
import pyarrow as pa
import pytest

import sash
from sash import Window
from sash import functions as sf
from sash.spark import ranged
from spark import cases

pytestmark = pytest.mark.filterwarnings("ignore::sash.errors.SashWarning")
ROWS, FRAMES = 60, 2
NAN, INF = float("nan"), float("inf")
FRACTIONS = [1, 2, 1.5, 0.1, 0.25, Decimal("0.1"), Decimal("0.7"), Decimal("1.9"), Decimal("2.5")]
KEYS = {  # type: values, offsets; none so large that Spark raises where Sash does not
    pa.int8(): (range(-20, 20), [*FRACTIONS, 100]),
    pa.int32(): (range(-20, 20), FRACTIONS),
    pa.float32(): ([NAN, INF, -INF, *(n / 10 for n in range(-9, 9)), 2.0**24, 2.0**24 + 2], FRACTIONS),
    pa.float64(): ([NAN, INF, -INF, *(n / 10 for n in range(-9, 9))], FRACTIONS),
    pa.decimal128(4, 2): (
        [Decimal(n).scaleb(-2) for n in [*range(-9, 9), -9999, 9999]],
        [0.005, Decimal("0.005"), 0.024, Decimal("0.016"), 1, 2.5],
    ),
    pa.decimal128(6, 0): ([Decimal(n) for n in range(-20, 20)], FRACTIONS),
}


def drawn_table(random):
    """Rows with a key of each type, some of them NULL."""
    columns = {"g": pa.array(random.integers(0, 2, ROWS))}
    for place, (kind, (values, _)) in enumerate(KEYS.items()):
        some = [values[n] if n < len(values) else None for n in random.integers(0, len(values) + 2, ROWS)]
        columns[f"k{place}"] = pa.array(some, kind)
    return cases.numbered(pa.table(columns))


def drawn_frames(random):
    """Some frames for each key: its column, its direction, whether it is of a partition, and both offsets."""
    for place, (_, offsets) in enumerate(KEYS.values()):
        for number in range(FRAMES):
            low, high = (offsets[n] for n in random.integers(0, len(offsets), 2))
            start, end = [(-low, high), tuple(sorted((low, high))), tuple(sorted((-low, -high)))][random.integers(0, 3)]
            yield f"k{place}", ("asc", "desc")[random.integers(0, 2)], number % 2 == 0, start, end


def literal(offset):
    """An offset as Spark SQL has it, a double or an exact number."""
    text = f"{abs(offset)!r}D" if isinstance(offset, float) else str(abs(offset))
    return f"{text} {'preceding' if offset < 0 else 'following'}"


def calls(frames):
    """The ids of each frame, as select items."""
    items = {}
    for number, (key, way, parted, start, end) in enumerate(frames):
        part = "partition by g " if parted else ""
        over = f"{part}order by {key} {way} range between {literal(start)} and {literal(end)}"
        items[f"a{number}"] = f"sort_array(collect_list(id) over ({over})) as a{number}"
    return items


def bound(offset, table):
    """A column of one offset, each row's own."""
    name = f"o{table.num_columns}"
    kind = pa.float64() if isinstance(offset, float) else pa.decimal128(6, 3) if isinstance(offset, Decimal) else None
    return table.append_column(name, pa.array([offset] * len(table), kind)), sash.col(name)


@pytest.mark.parametrize("seed", [1, *(pytest.param(seed, marks=pytest.mark.long) for seed in range(2, 10))])
def test_frames_hold_what_spark_holds(spark, seed, monkeypatch):
    monkeypatch.setattr(ranged, "ROWS_A_PIECE", 15)
    random = np.random.default_rng(seed)
    table, frames = drawn_table(random), list(drawn_frames(random))
    frame = cases.in_tasks(spark, table, 3)
    items = calls(frames)
    parted = [items[name] for name, described in zip(items, frames, strict=True) if described[2]]
    answers = {
        "Spark": spark.sql(f"select id, {', '.join(items.values())} from {{given}}", given=frame).toArrow(),
        "sash.sql": sash.sql(f"select id, {', '.join(parted)} from given", given=frame).toArrow(),
    }
    columns, own = {}, {}
    for number, (key, way, by_g, start, end) in enumerate(frames):
        window = Window.partitionBy(*["g"] * by_g).orderBy(f"{key} {way}")
        columns[f"a{number}"] = sf.collect_list("id").over(window.rangeBetween(start, end))
        table, first = bound(start, table)
        table, last = bound(end, table)
        own[f"a{number}"] = sf.collect_list("id").over(window.rangeBetween(first, last))
    answers["in process"] = sash.withColumns(table, columns)
    answers["in process, of each row"] = sash.withColumns(table, own)
    some = random.permutation([name for name, described in zip(columns, frames, strict=True) if not described[2]])[:2]
    answers["in pieces"] = sash.withColumns(frame, {name: columns[name] for name in some}).toArrow()
    rows = {who: each.sort_by("id").to_pydict() for who, each in answers.items()}
    for number, described in enumerate(frames):
        want = rows["Spark"][f"a{number}"]
        for who, found in rows.items():
            if f"a{number}" not in found:
                continue
            got = [sorted(ids) for ids in found[f"a{number}"]]
            assert got == want, (who, described, table[described[0]].to_pylist())


def test_frames_are_exact_where_spark_raises():
    """An offset out of what the type of the key holds, and a sum that is."""
    table = pa.table(
        {"b": pa.array([-128, 0, 127], pa.int8()), "m": pa.array([Decimal("-9.99"), 0, 5], pa.decimal128(3, 2))}
    )
    counts = {}
    for key, start, end in (("b", -200, 0), ("b", -1, 1), ("b", 0, 300), ("m", -10, 0), ("m", 0, Decimal("14.9"))):
        counts[key, start, end] = sf.count().over(Window.orderBy(key).rangeBetween(start, end))
    named = {f"a{n}": over for n, over in enumerate(counts.values())}
    got = sash.withColumns(table, named).select(list(named)).to_pydict()
    assert list(got.values()) == [[1, 2, 2], [1, 1, 1], [3, 2, 1], [1, 2, 2], [2, 2, 1]]


@pytest.mark.parametrize("partition", [(), ("g",)], ids=["cut by ranges", "by partition"])
def test_days_of_a_zone_are_those_of_its_clocks(spark, partition):
    hours = (
        spark.range(48 * 8).selectExpr("id % 2 as g", "timestamp_seconds(1792800000 + 1800 * id) as ts").repartition(4)
    )
    window = Window.partitionBy(*partition).orderBy("ts").rangeBetween("-1 day", 0)
    calls = {"b": sf.count().over(window.zone("Europe/Berlin")), "u": sf.count().over(window)}
    found, expected = (sorted(answers.select(["ts", "b", "u"]).to_pylist(), key=str)
                       for answers in (sash.withColumns(hours, calls).toArrow(),
                                       sash.withColumns(hours.orderBy("ts").toArrow(), calls)))  # fmt: skip
    assert found == expected
    assert any(row["b"] != row["u"] for row in found)
