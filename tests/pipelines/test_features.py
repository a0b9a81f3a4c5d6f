"""Steps of features: columns of a table, computed over the rows of others around each of its rows."""

import re
from datetime import UTC, datetime, timedelta

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from sash.errors import SashError
from sash.pipelines import load, run
from sash.pipelines.early import check_early

START = datetime(2026, 11, 16, tzinfo=UTC)
FILE = """\
[sources.labels]
path = "labels"
schema = "person string, at timestamp, label int"

[sources.orders]
path = "orders"
schema = "person string, ts timestamp, amount double, shop string"

[sources.visits]
path = "visits"
schema = "who string, at timestamp, page int"

[[steps]]
name = "features"
kind = "features"
from = "labels"
[[steps.windows]]
of = "orders"
on = "person"
at = ["at", "ts"]
frame = "range between '7 days' preceding and current row"
closed = "left"
columns.orders = "count(*)"
columns.spent = "sum(amount)"
columns.shops = "count(distinct shop) filter (where amount > 20)"
columns.usual = "median(amount)"
[[steps.windows]]
of = "visits"
on = { person = "who" }
at = "at"
order_by = ["page"]
frame = "rows between current row and current row"
columns.page = "last(page)"

[[sinks]]
path = "out"
"""


def tables(count=200):
    def at(number, step):
        return START + timedelta(minutes=step * number)

    who = [None if number % 19 == 5 else f"p{number * number % 7}" for number in range(count)]
    labels = {"person": who, "at": [at(n, 97) for n in range(count)], "label": list(range(count))}
    orders = {
        "person": who[::-1],
        "ts": [None if n % 23 == 7 else at(n * 37 % count, 97) for n in range(count)],
        "amount": [None if n % 9 == 3 else float(n * 31 % 64) for n in range(count)],
        "shop": [f"s{n * n % 5}" for n in range(count)],
    }
    visits = {
        "who": who,
        "at": [at(n * 53 % count, 89) for n in range(count)],
        "page": [n * 7 % 11 for n in range(count)],
    }
    kinds = {"at": pa.timestamp("us", "UTC"), "ts": pa.timestamp("us", "UTC"), "label": pa.int32(), "page": pa.int32()}
    return {
        name: pa.table({key: pa.array(values, kinds.get(key)) for key, values in table.items()})
        for name, table in (("labels", labels), ("orders", orders), ("visits", visits))
    }


EXPECTED = """
    select l.*, o.orders, o.spent, o.shops, o.usual, v.page
    from labels l
    join (select l.label, count(o.person) as orders, sum(o.amount) as spent,
                 count(distinct o.shop) filter (where o.amount > 20) as shops, median(o.amount) as usual
          from labels l left join orders o
            on o.person = l.person and o.ts >= l."at" - interval 7 day and o.ts < l."at" group by all) o using (label)
    join (select l.label, arg_max(v.page, v."at") as page
          from labels l left join visits v on v.who = l.person and v."at" <= l."at" group by all) v using (label)
    order by label
"""


def test_features_are_those_of_a_range_join(tmp_path, spark):
    made = tables()
    for name, table in made.items():
        pq.write_table(table, tmp_path / f"{name}.parquet")
    (tmp_path / "p.toml").write_text(re.sub(r'path = "(labels|orders|visits)"', r'path = "\1.parquet"', FILE))
    check_early(load(tmp_path / "p.toml"))
    summary = run(load(tmp_path / "p.toml"), spark)
    assert summary.rows_in == {"labels": 200, "orders": 200, "visits": 200}
    found = pq.read_table(tmp_path / "out").sort_by("label")
    assert found.column_names == ["person", "at", "label", "orders", "spent", "shops", "usual", "page"]
    with duckdb.connect() as connection:
        for name, table in made.items():
            connection.register(name, table)
        wanted = connection.sql(EXPECTED).fetchall()
    assert [tuple(row.values())[2:] for row in found.to_pylist()] == [row[2:] for row in wanted]
    assert any(row[3] == 0 and row[4] is None for row in wanted)


@pytest.mark.parametrize(
    ("old", "new", "line", "told"),
    [
        ('of = "orders"', 'of = "order"', 18, "there is no order here; there are labels, orders, visits"),
        ('on = "person"', 'on = "persn"', 19, "there is no column 'persn'; there are person, at, label"),
        ('{ person = "who" }', '{ person = "whom" }', 29, "there is no column 'whom'; there are who, at, page"),
        ('on = "person"', "on = [1]", 19, "on must be a column's name, several in a list, or pairs"),
        ('at = ["at", "ts"]', 'at = ["at", "tz"]', 20, "there is no column 'tz'"),
        ('at = ["at", "ts"]', 'at = ["at"]', 20, "at"),
        ('at = ["at", "ts"]', 'at = ["label", "ts"]', 23, "at must be columns that compare"),
        ("'7 days' preceding", "'7 dys' preceding", 21, "the offset of a frame takes whole numbers of"),
        ("range between '7 days'", "between '7 days'", 21, "a window is made of"),
        (
            "range between '7 days' preceding and",
            "groups between 2 preceding and",
            21,
            "groupsBetween does not go with",
        ),
        ('"left"', '"lft"', 22, "closed"),
        ("count(*)", "count(*) over w", 23, "a function of a window is written alone, such as median(price)"),
        ("sum(amount)", "sum(shop)", 24, "sum takes columns of numbers, got string"),
        ("sum(amount)", "summ(amount)", 24, "there is no function summ over windows"),
        ("sum(amount)", "lag(amount)", 24, "lag"),
        ("sum(amount)", "sum(amont)", 24, "there is no column 'amont'"),
        ("columns.page =", "columns.Spent =", 13, "the column spent is there twice"),
        ("rows between current row", "rows between 1 following", 32, "cannot end with CURRENT ROW"),
    ],
)
def test_each_mistake_is_told_with_its_line(tmp_path, old, new, line, told):
    assert old in FILE
    (tmp_path / "p.toml").write_text(FILE.replace(old, new, 1))
    with pytest.raises(SashError) as error:
        check_early(load(tmp_path / "p.toml"))
    assert str(error.value).startswith(f"p.toml, line {line}: "), error.value
    assert told in str(error.value)


def test_mistakes_are_told_where_schemas_are_not_known(tmp_path):
    text = FILE.replace('schema = "person string, ts', "#").replace("sum(amount)", "sum(amount")
    (tmp_path / "p.toml").write_text(text)
    with pytest.raises(SashError, match=r"p\.toml, line 24: .*this \( is never closed"):
        check_early(load(tmp_path / "p.toml"))
