"""Answers on Spark, beside those of the engine in this process to the same rows."""

import contextlib
import io
import math
from collections import defaultdict

import pyarrow as pa

import sash
from sash.engine.columns_read import checked, expressions_of
from sash.engine.evaluating import _specifications, evaluate
from sash.engine.sorted_partitions import SortedPartitions

ID = "id"  # tells rows apart, and no expression reads it


def numbered(table):
    return table.append_column(ID, pa.array(range(len(table)), pa.int64()))


def frame_of(spark, table):
    """The rows as a frame; times without a zone stay so."""
    with settings(spark, timestampType="TIMESTAMP_NTZ"):
        return spark.createDataFrame(table)


def in_tasks(spark, table, tasks, shuffled=False):
    """The rows as a frame of so many tasks: dealt out by Spark, or each a run of the table."""
    if shuffled or len(table) < tasks:
        return frame_of(spark, table).repartition(tasks)
    step = -(-len(table) // tasks)
    frames = [frame_of(spark, table.slice(at, step)).coalesce(1) for at in range(0, len(table), step)]
    whole = frames[0]
    for each in frames[1:]:
        whole = whole.unionAll(each)
    return whole


def collected(frame):
    return frame.toArrow().combine_chunks().sort_by(ID)


def same(got, expected, near=1e-9):
    """Whether answers agree, NaN being equal to itself and floats being close."""
    if isinstance(expected, dict) and isinstance(got, dict):
        return got.keys() == expected.keys() and all(same(got[name], expected[name], near) for name in got)
    if isinstance(expected, list | tuple) and isinstance(got, list | tuple):
        return len(got) == len(expected) and all(same(*pair, near) for pair in zip(got, expected, strict=True))
    if isinstance(expected, float) and isinstance(got, float):
        return (math.isnan(got) and math.isnan(expected)) or math.isclose(got, expected, rel_tol=near, abs_tol=near)
    return type(got) is type(expected) and got == expected


def compared(value):
    """A value as Spark compares it, so that NaN equals itself, and both zeros each other."""
    if isinstance(value, float):
        return "nan" if math.isnan(value) else value + 0.0
    if isinstance(value, list):
        return tuple(map(compared, value))
    if isinstance(value, dict):
        return tuple((name, compared(each)) for name, each in value.items())
    return value


def told_apart(table, columns):
    """For each expression, what its rows are told apart by: those equal in it are interchangeable."""
    found = {}
    for group in _specifications(checked(columns, table.column_names)).values():
        read = {each.key: each for over in group.values() for each in expressions_of(over)}
        values = [SortedPartitions(table, (), ()).source(each).to_pylist() for each in read.values() if each.paths]
        keys = [tuple(map(compared, row)) for row in zip(*values, strict=True)] or [()] * len(table)
        found |= dict.fromkeys(group, keys)
    return found


def by_key(keys, answers):
    found = defaultdict(list)
    for key, answer in zip(keys, answers, strict=True):
        found[key].append(answer)
    return {key: sorted(some, key=_rounded) if len(some) > 1 else some for key, some in found.items()}


def _rounded(value):
    return f"{value:.6g}" if isinstance(value, float) else repr(value)


def check(frame, table, columns, twins=None):
    """Spark's answers are the engine's, to these expressions or to twins of theirs, where the engine has no such."""
    twins = twins or columns
    got = collected(sash.withColumns(frame, columns))
    check_answers(got, table, twins)


def check_answers(got, table, columns):
    table = table.sort_by(ID)
    want = evaluate(table, columns, arrival=False)
    assert got[ID].to_pylist() == want[ID].to_pylist()
    keys = told_apart(table, columns)
    wrong = []
    for name, over in columns.items():
        if nullable(got[name].type) != nullable(want[name].type):
            wrong.append(f"{name}: {over} is of {got[name].type}, not {want[name].type}")
        ours, theirs = by_key(keys[name], got[name].to_pylist()), by_key(keys[name], want[name].to_pylist())
        near = 1e-5 if over.call.aggregate.name == "moment_quantile" else 1e-9  # which solves equations
        if not all(same(ours[key], theirs[key], near) for key in theirs):
            wrong.append(f"{name}: {over}\n got {got[name].to_pylist()}\nwant {want[name].to_pylist()}")
    assert not wrong, "\n".join(wrong) + f"\n{table.to_pylist()}"


def nullable(kind):
    """The type with everything nullable, and the items of lists under the name that Spark gives them."""
    if pa.types.is_list(kind):
        return pa.list_(pa.field("element", nullable(kind.value_type)))
    if pa.types.is_struct(kind):
        return pa.struct([pa.field(each.name, nullable(each.type)) for each in kind])
    return kind


@contextlib.contextmanager
def settings(spark, **given):
    """Settings of the session for the time of a block; dots are written as double underscores."""
    given = {f"spark.sql.{name.replace('__', '.')}": str(value) for name, value in given.items()}
    before = {name: spark.conf.get(name) for name in given}
    try:
        for name, value in given.items():
            spark.conf.set(name, value)
        yield
    finally:
        for name, value in before.items():
            spark.conf.set(name, value)


def plan(frame):
    """The physical plan as Spark prints it."""
    with contextlib.redirect_stdout(io.StringIO()) as text:
        frame.explain()
    return text.getvalue()
