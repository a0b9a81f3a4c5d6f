import math
import operator
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sash.errors import Overflow, SashError
from sash.expressions import Foreign, col, lit, parse
from sash.expressions.columns import Literal, Name, Operation
from sash.expressions.evaluation import evaluate, infer, predicate

# The oracle: Spark's ANSI semantics for one row, in plain Python

RANK = ["int32", "int64", "double"]
COLUMNS = {"i": "int32", "j": "int64", "x": "double", "y": "double", "p": "boolean", "q": "boolean"}
COMPARE = {
    "=": operator.eq,
    "<>": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
CALCULATE = {"+": operator.add, "-": operator.sub, "*": operator.mul}


class Boom(Exception):
    pass


def kind(column):
    if isinstance(column, Name):
        return COLUMNS[column.path[0]]
    if isinstance(column, Literal):
        value = column.value
        return "double" if isinstance(value, float) else "int32" if -(2**31) <= value < 2**31 else "int64"
    if column.name == "/":
        return "double"
    if column.name in ("if", "coalesce"):
        return max(map(kind, column.operands[-2:]), key=RANK.index)
    return max(map(kind, column.operands), key=RANK.index)


def answer(column, row):
    if isinstance(column, Name):
        return row[column.path[0]]
    if isinstance(column, Literal):
        return column.value
    name, of = column.name, column.operands
    if name in ("and", "or"):
        left = answer(of[0], row)
        if left is (name == "or"):
            return left
        right = answer(of[1], row)
        return right if right is (name == "or") or left is not None else None
    if name == "if":
        return as_kind(answer(of[1] if answer(of[0], row) is True else of[2], row), kind(column))
    if name == "coalesce":
        first = answer(of[0], row)
        return as_kind(answer(of[1], row) if first is None else first, kind(column))
    values = [answer(each, row) for each in of]
    if name in ("is null", "is not null"):
        return (values[0] is None) == (name == "is null")
    if any(value is None for value in values):
        return None
    if name == "not":
        return not values[0]
    if name in COMPARE:
        numbers = [as_kind(value, max(map(kind, of), key=RANK.index)) for value in values]
        return COMPARE[name](*((1, 0) if value != value else (0, value) for value in numbers))
    return calculated(name, [as_kind(value, kind(column)) for value in values], kind(column))


def calculated(name, values, to):
    if name in ("/", "%") and values[1] == 0:
        raise Boom
    if name == "negate":
        made = -values[0]
    elif name == "/":
        made = values[0] / values[1]
    elif name == "%":
        made = fmod(*values)
    else:
        made = CALCULATE[name](*values)
    if to != "double" and not -(2 ** (int(to[3:]) - 1)) <= made < 2 ** (int(to[3:]) - 1):
        raise Boom
    return made


def fmod(a, b):
    if isinstance(a, int):
        return int(math.copysign(abs(a) % abs(b), a))
    return math.nan if math.isinf(a) or a != a or b != b else math.fmod(a, b)


def as_kind(value, to):
    return float(value) if to == "double" and value is not None else value


FLOATS = st.one_of(st.sampled_from([0.0, -0.0, 1.5, math.nan, math.inf, -math.inf]), st.floats(width=64))
INTS = st.one_of(st.integers(-5, 5), st.sampled_from([2**31 - 1, -(2**31)]))
LONGS = st.one_of(st.integers(-5, 5), st.sampled_from([2**53 + 1, 2**63 - 1, -(2**63)]))
ROWS = st.lists(
    st.fixed_dictionaries(
        {
            name: st.none() | {"int32": INTS, "int64": LONGS, "double": FLOATS, "boolean": st.booleans()}[of]
            for name, of in COLUMNS.items()
        }
    ),
    max_size=6,
)
SMALL = st.one_of(st.integers(-3, 3), st.sampled_from([2**31, 0.5, 0.0, math.nan])).map(lit)
NUMBERS = st.recursive(
    st.sampled_from(["i", "j", "x", "y"]).map(col) | SMALL,
    lambda inner: st.one_of(
        st.builds(lambda name, a, b: Operation(name, (a, b)), st.sampled_from(["+", "-", "*", "/", "%"]), inner, inner),
        inner.map(lambda a: -a),
        st.builds(lambda a, b: Operation("coalesce", (a, b)), inner, inner),
        st.builds(lambda a, b, c, d: Operation("if", (a > b, c, d)), inner, inner, inner, inner),
    ),
    max_leaves=5,
)
CONDITIONS = st.recursive(
    st.sampled_from(["p", "q"]).map(col)
    | st.builds(lambda name, a, b: Operation(name, (a, b)), st.sampled_from(sorted(COMPARE)), NUMBERS, NUMBERS),
    lambda inner: st.one_of(
        st.builds(lambda a, b: a & b, inner, inner),
        st.builds(lambda a, b: a | b, inner, inner),
        inner.map(lambda a: ~a),
        inner.map(lambda a: a.is_null()),
    ),
    max_leaves=5,
)


def table_of(rows, cut=2):
    types = {"int32": pa.int32(), "int64": pa.int64(), "double": pa.float64(), "boolean": pa.bool_()}
    schema = pa.schema({name: types[of] for name, of in COLUMNS.items()})
    return pa.concat_tables([pa.Table.from_pylist(part, schema) for part in (rows[:cut], rows[cut:])])


def same(left, right):
    return [repr(value) for value in left] == [repr(value) for value in right]


@given(NUMBERS | CONDITIONS, ROWS)
def test_every_expression_agrees_with_the_oracle(column, rows):
    table = table_of(rows)
    try:
        expected = [answer(column, row) for row in rows]
    except Boom:
        with pytest.raises(SashError):
            evaluate(column, table)
        return
    found = evaluate(column, table)
    assert same(found.to_pylist(), expected)
    assert infer(column, table.schema) == found.type


@given(CONDITIONS, ROWS)
def test_a_predicate_holds_where_the_answer_is_true(column, rows):
    try:
        expected = [answer(column, row) is True for row in rows]
    except Boom:
        return
    held = predicate(column, table_of(rows))
    assert held.dtype == np.bool_
    assert held.tolist() == expected


@given(st.lists(st.none() | FLOATS), st.lists(st.none() | FLOATS, min_size=1, max_size=4))
def test_in_is_equality_with_any_of_the_options(values, options):
    def among(value):
        if value is None:
            return None
        if any(o is not None and (o == value or (o != o and value != value)) for o in options):
            return True
        return None if None in options else False

    table = pa.table(
        {"v": pa.array(values, pa.float64()), **{f"o{i}": [o] * len(values) for i, o in enumerate(options)}}
    )
    expected = [among(value) for value in values]
    assert evaluate(col("v").isin(options), table).to_pylist() == expected
    assert evaluate(col("v").isin([col(f"o{i}") for i in range(len(options))]), table).to_pylist() == expected


@given(st.lists(st.tuples(*[st.none() | FLOATS] * 3)))
def test_greatest_and_least_skip_nulls_and_put_nan_on_top(rows):
    table = pa.table({name: pa.array([row[i] for row in rows], pa.float64()) for i, name in enumerate("abc")})
    ranked = [sorted((v for v in row if v is not None), key=lambda v: (v != v, v)) for row in rows]
    for name, at in (("greatest", -1), ("least", 0)):
        found = evaluate(parse(f"{name}(a, b, c)"), table).to_pylist()
        expected = [row[at] if row else None for row in ranked]
        assert all(f == e or (f != f and e != e) for f, e in zip(found, expected, strict=True))


TABLE = pa.table(
    {
        "a": pa.array([1, 2, None, -7], pa.int32()),
        "b": [0, 3, 4, -2],
        "s": ["abc", "Äbc%", None, ""],
        "f": [True, False, None, True],
        "p": [{"q": 1, "Z": {"deep": "u"}}, {"q": 2, "Z": None}, None, {"q": 3, "Z": {"deep": "w"}}],
        "g": pa.array(["u", "v", "u", None]).dictionary_encode(),
        "u8": pa.array([1, 2, 255, None], pa.uint8()),
        "u64": pa.array([1, 2**64 - 1, 3, None], pa.uint64()),
        "half": pa.array([1, 2, 3, None], pa.float32()),
        "tiny": pa.array([127, 1, 0, None], pa.int8()),
        "nothing": pa.nulls(4),
        "a.c": [10, 20, 30, 40],
    }
)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("b <> 0 and a / b > 0", [False, True, None, True]),
        ("b = 0 or a / b > 0", [True, True, None, True]),
        ("if(b = 0, null, a / b)", [None, 2 / 3, None, 3.5]),
        ("case when b = 0 then -1 when a % b = 2 then 2 else 0 end", [-1, 2, 0, 0]),
        ("coalesce(a, a / b)", [1.0, 2.0, None, -7.0]),
        ("nullif(a, 2)", [1, None, None, -7]),
        ("a <=> null", [False, False, True, False]),
        ("a in (1, null)", [True, None, None, None]),
        ("f and null", [None, False, None, None]),
        ("f is not true", [False, True, True, False]),
        ("a = '1'", [True, False, None, False]),
        ("a div 2", [0, 1, None, -3]),
        ("p.q + 1", [2, 3, None, 4]),
        ("P.z.DEEP", ["u", None, None, "w"]),
        ("g = 'u'", [True, False, True, None]),
        ("u8 + 1", [2, 3, 256, None]),
        ("u64 > 2", [False, True, True, None]),
        ("nothing is null", [True] * 4),
        ("nothing + 1", [None] * 4),
        ("nothing = a", [None] * 4),
        ("nothing and f", [None, False, None, None]),
        ("coalesce(nothing, a)", [1, 2, None, -7]),
        ("`a.c` - 1", [9, 19, 29, 39]),
        ("a.c - 1", [9, 19, 29, 39]),
        ("s = 'abc'", [True, False, None, False]),
        ("null", [None] * 4),
        ("1 + 1", [2] * 4),
        ("'x'", ["x"] * 4),
        ("isnan(half / 0.5)", [False] * 4),
    ],
)
def test_expressions_over_a_table(text, expected):
    found = evaluate(parse(text), TABLE)
    assert found.to_pylist() == expected
    assert len(evaluate(parse(text), TABLE.slice(0, 0))) == 0


@pytest.mark.parametrize(
    ("text", "type_"),
    [
        ("a + 1", pa.int32()),
        ("a + b", pa.int64()),
        ("a / b", pa.float64()),
        ("tiny + tiny", pa.int8()),
        ("tiny + 1", pa.int32()),
        ("half + half", pa.float32()),
        ("half + a", pa.float64()),
        ("a * 1.5", pa.decimal128(13, 1)),
        ("a + 99999999999", pa.int64()),
        ("a > b", pa.bool_()),
        ("case when f then 1 else 2.5 end", pa.decimal128(11, 1)),
        ("coalesce(tiny, b)", pa.int64()),
        ("length(s)", pa.int32()),
        ("u64 + 1", pa.decimal128(21, 0)),
        ("g", pa.dictionary(pa.int32(), pa.string())),
    ],
)
def test_types_are_those_spark_gives(text, type_):
    assert infer(parse(text), TABLE.schema) == type_


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a / b", "division by zero, in a / b"),
        ("1.5 / b", "division by zero"),
        ("a % b", "division by zero, in a % b"),
        ("a div b", "division by zero"),
        ("nope > 1", "there is no column 'nope'; there are a, b, s"),
        ("p.nope", "there is no field 'nope'; there are q, Z, in p.nope"),
        ("s.x", "there is no field 'x' in s.x; 's' is of type string"),
        ("a and f", "boolean, not int"),
        ("not a", "boolean, not int"),
        ("a + f", "not boolean"),
        ("a = f", "int and boolean do not go together"),
        ("s + 1", "'abc' is not a bigint"),
        ("p = p", "cannot be compared"),
        ("if(a, 1, 2)", "boolean, not int"),
        ("case when f then 'a' else 1 end", "'a' is not a bigint"),
        ("abs(f)", "not boolean"),
        ("interval 1 month", "add it to a date"),
        ("a + interval 1 day", "no meaning"),
    ],
)
def test_errors_name_the_expression(text, message):
    with pytest.raises(SashError) as raised:
        evaluate(parse(text), TABLE)
    assert message in str(raised.value)


@pytest.mark.parametrize(
    "text", ["2147483647 + a", "tiny + tiny", "-(-2147483648)", "abs(-2147483648)", "b * 9223372036854775807"]
)
def test_overflow_raises(text):
    with pytest.raises(Overflow, match="does not fit its type, in "):
        evaluate(parse(text), TABLE)


def test_a_pyspark_column_is_refused_on_arrow():
    with pytest.raises(SashError, match=r"Spark DataFrames only; write sash.col\(...\)"):
        evaluate(Foreign("theirs"), TABLE)


def test_a_filter_must_be_boolean():
    with pytest.raises(SashError, match="must be boolean, got a of type int"):
        predicate(col("a"), TABLE)
    assert predicate(col("nothing"), TABLE).tolist() == [False] * 4
    assert predicate(lit(True), TABLE).tolist() == [True] * 4


def test_long_decimals_compare_exactly():
    large = pa.array([10**37, 10**37 + 1], pa.decimal128(38, 0))
    small = pa.array([Decimal("0.5"), Decimal("0.5")], pa.decimal128(20, 19))
    table = pa.table({"large": large, "small": small})
    assert evaluate(parse(f"large > {10**37}BD and large > small"), table).to_pylist() == [False, True]
