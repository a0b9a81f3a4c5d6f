"""Own aggregates over texts, times and decimals, and with arrays of fixed size as state: the same as plain Python."""

import traceback
from datetime import date, datetime, timedelta
from decimal import Decimal

import pyarrow as pa
import pytest

import sash
from oracle import oracle
from sash import Window
from sash.algebra.tuples import elementwise, replaced
from sash.engine.value_words import value_hashes
from sash.errors import NotCompilable

ROWS = pa.table(
    {
        "o": range(40),
        "s": pa.array([None if n % 7 == 3 else f"user {n * 5 % 9}" for n in range(40)]),
        "ts": [datetime(2026, 1, 1) + timedelta(hours=n * 11 % 40) for n in range(40)],
        "day": [date(2026, 1, 1 + n * 3 % 20) for n in range(40)],
        "d": [Decimal(n * 7 % 13) / 4 for n in range(40)],
    }
)
LAST = Window.orderBy("o").rowsBetween(-5, 0)
NOTHING = (0,) * 8


def register(word):
    """The register of a hash, and how many zeros it ends with."""
    rest, zeros = (word >> 3) & ((1 << 61) - 1), 1
    while rest & 1 == 0 and zeros < 61:
        rest >>= 1
        zeros += 1
    return replaced(NOTHING, word & 7, zeros)


def weighed(registers):
    total = 0.0
    for zeros in registers:
        total += 0.5**zeros
    return 1 / total


REGISTERS = sash.Aggregate("registers", lift=register, combine=elementwise(max, 8), lower=weighed, identity=NOTHING,
                           commutative=True, takes="hashes")  # fmt: skip
FIRST = sash.Aggregate("earliest", lift=lambda t: t, combine=lambda a, b: b if b < a else a, commutative=True,
                       takes="times", gives_input=True)  # fmt: skip


def test_registers_over_texts_are_those_of_plain_python():
    got = sash.withColumns(ROWS, {"n": REGISTERS("s").over(LAST)})["n"].to_pylist()
    words = [
        word if text else None
        for word, text in zip(value_hashes(ROWS["s"].combine_chunks()).tolist(), ROWS["s"].to_pylist(), strict=True)
    ]
    for at, answer in enumerate(got):
        known = [word for word in words[max(at - 5, 0) : at + 1] if word is not None]
        assert answer == oracle(REGISTERS, [known], [(0, len(known))])[0]


def test_slices_of_streams_hold_registers():
    board = sash.stream(ROWS, time="ts").query("n", REGISTERS("s"), range="20 hours", slide="10 hours")
    assert "from the partials of slices" in str(board.explain())
    for row in board.results().to_pylist():
        start = row["window_end"] - timedelta(hours=20)
        inside = [each["s"] for each in ROWS.to_pylist() if start <= each["ts"] < row["window_end"] and each["s"]]
        words = value_hashes(pa.array(inside, pa.string())).tolist()
        assert row["n"] == oracle(REGISTERS, [words], [(0, len(words))])[0]


def test_equal_values_have_one_hash_whatever_holds_them():
    texts = pa.array(["a", "b", None, "a"])
    assert value_hashes(texts).tolist() == value_hashes(texts.dictionary_encode()).tolist()
    assert value_hashes(texts).tolist() == value_hashes(texts.cast(pa.large_string())).tolist()
    assert len(set(value_hashes(pa.array([0.0, -0.0])).tolist())) == 1


@pytest.mark.parametrize("column", ["ts", "day"])
def test_answers_over_times_are_times(column):
    answers = sash.withColumns(ROWS, {"first": FIRST(column).over(LAST), "min": sash.functions.min(column).over(LAST)})
    assert answers["first"].type == ROWS[column].type
    assert answers["first"].to_pylist() == answers["min"].to_pylist()


def test_decimals_are_doubles():
    total = sash.Aggregate("total", lift=lambda x: x, combine=lambda a, b: a + b, commutative=True)
    answers = sash.withColumns(ROWS, {"own": total("d").over(LAST), "sum": sash.functions.sum("d").over(LAST)})
    assert answers["own"].to_pylist() == [float(each) for each in answers["sum"].to_pylist()]


def test_what_does_not_compile_is_named_with_its_line_and_without_the_report_of_numba():
    bad = sash.Aggregate(
        "bad",
        lift=lambda x: x,
        combine=lambda a, b: a + b,
        lower=lambda s: [s],
    )
    line = bad.lower.__code__.co_firstlineno
    with pytest.raises(NotCompilable, match=rf"^bad: lower \(test_own_types.py, line {line}\) .*") as raised:
        sash.withColumns(ROWS, {"b": bad("o").over(LAST)})
    said = "".join(traceback.format_exception(raised.value))
    assert "numba.core" not in said
    assert "Traceback" in said
    assert said.count("Traceback") == 1
