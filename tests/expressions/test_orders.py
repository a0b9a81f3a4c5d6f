import pytest

from sash.errors import SashError
from sash.expressions import as_order, col, orders


def pyspark_thing(kind, shown):
    return type(kind, (), {"__module__": "pyspark.sql.connect.column", "__str__": lambda self: shown})()


@pytest.mark.parametrize(
    ("text", "name", "descending", "nulls_first"),
    [
        ("price", "price", False, True),
        ("price asc", "price", False, True),
        ("price desc", "price", True, False),
        ("price DESC NULLS FIRST", "price", True, True),
        ("price ASC nulls Last", "price", False, False),
        ("price nulls last", "price", False, False),
        ("  price   desc  ", "price", True, False),
        ("`unit price` desc", "unit price", True, False),
        ("`a``b desc`", "a`b desc", False, True),
        ("unit price desc", "unit price", True, False),
        ("a.b desc", "a.b", True, False),
        ("desc", "desc", False, True),
    ],
)
def test_an_order_is_read_from_text(text, name, descending, nulls_first):
    order = as_order(text)
    assert order.column.path == (name,)
    assert (order.descending, order.nulls_first) == (descending, nulls_first)


def test_the_defaults_for_nulls_are_those_of_spark():
    shown = [
        repr(getattr(orders, name)("p"))
        for name in ("asc", "asc_nulls_first", "asc_nulls_last", "desc", "desc_nulls_first", "desc_nulls_last")
    ]
    assert shown == [
        "p",
        "p",
        "p nulls last",
        "p desc",
        "p desc nulls first",
        "p desc",
    ]


def test_equal_orders_have_equal_keys():
    assert as_order("p desc").key == as_order(orders.desc(col("p"))).key != as_order("p").key
    assert as_order(col("a") - col("b")).key == orders.asc(col("a") - col("b")).key
    assert orders.desc(col("a") - col("b")).names == {"a", "b"}


@pytest.mark.parametrize("bad", ["", "  ", None, 3, ["a"]])
def test_other_things_are_refused(bad):
    with pytest.raises(SashError, match="an order is a column"):
        as_order(bad)


def test_an_order_of_an_order_is_refused():
    with pytest.raises(SashError, match="already"):
        orders.asc(orders.desc("a"))


def test_an_order_of_pysparks_is_refused_with_what_to_write():
    for shown in ("Column<'a DESC NULLS LAST'>", "Column<'a ASC NULLS FIRST'>"):
        with pytest.raises(SashError, match=r"write sash.functions.desc\(...\)"):
            as_order(pyspark_thing("Column", shown))
    with pytest.raises(SashError, match=r"sash.Window.*sash.functions.desc"):
        as_order(pyspark_thing("WindowSpec", "WindowSpec"))
    assert repr(as_order(pyspark_thing("Column", "Column<'a'>"))) == "Column<'a'>"
