"""Evaluation: an expression over an Arrow table, with the answers of Spark in ANSI mode."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date, datetime, timedelta
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sash.errors import Overflow, SashError
from sash.expressions.arrow import arithmetic, calendar, comparing, mathematics, strings
from sash.expressions.arrow.casting import cast, convert
from sash.expressions.arrow.operands import Trouble, Value, is_scalar, plain
from sash.expressions.arrow.promotion import common_type, spark_name
from sash.expressions.binding import check_names
from sash.expressions.columns import Alias, Cast, Column, Foreign, Literal, Name, Operation
from sash.expressions.intervals import Months
from sash.expressions.naming import resolve

_OPERATIONS: dict[str, Callable[..., Value]] = {
    "+": arithmetic.add,
    "-": arithmetic.subtract,
    "*": arithmetic.multiply,
    "/": arithmetic.divide,
    "%": arithmetic.remainder,
    "div": arithmetic.whole_quotient,
    "negate": arithmetic.negate,
    **{sign: comparing.comparison(sign) for sign in ("=", "<>", "<", "<=", ">", ">=")},
    "<=>": comparing.null_safe_equal,
    "in": comparing.is_in,
    "greatest": comparing.greatest,
    "least": comparing.least,
    "and": comparing.both,
    "or": comparing.either,
    "not": comparing.opposite,
    "is null": pc.is_null,
    "is not null": pc.is_valid,
    "abs": mathematics.absolute,
    "ceil": mathematics.ceiling,
    "exp": mathematics.exponential,
    "floor": mathematics.floor,
    "isnan": mathematics.is_nan,
    "ln": mathematics.natural_logarithm,
    "log": mathematics.logarithm,
    "pow": mathematics.power,
    "round": mathematics.round_half_up,
    "sign": mathematics.sign,
    "sqrt": mathematics.square_root,
    "||": strings.concatenated,
    "concat": strings.concatenated,
    "length": strings.length,
    "like": strings.like,
    "lower": strings.lower,
    "substring": strings.substring,
    "upper": strings.upper,
    "date_trunc": calendar.truncated,
    "datediff": calendar.days_between,
    "day": calendar.day,
    "hour": calendar.hour,
    "minute": calendar.minute,
    "month": calendar.month,
    "second": calendar.second,
    "year": calendar.year,
}


def evaluate(column: Column | Foreign, table: pa.Table) -> pa.ChunkedArray | pa.Array:
    """The values of an expression, one for each row of the table.

    >>> from sash.expressions import col
    >>> evaluate(col("qty") / 2, pa.table({"qty": [1, 2, None]})).to_pylist()
    [0.5, 1.0, None]
    """
    if isinstance(column, Foreign):
        raise SashError(f"a PySpark column works on Spark DataFrames only; write sash.col(...), got {column!r}")
    value = _value(column, table)
    if isinstance(value, Months):
        raise SashError(f"an interval of months is not a column by itself, got {column!r}; add it to a date")
    return pa.repeat(value, table.num_rows) if is_scalar(value) else value


def predicate(column: Column | Foreign, table: pa.Table) -> np.ndarray:
    """In which rows a condition holds; NULL counts as false.

    >>> from sash.expressions import parse
    >>> predicate(parse("qty > 1"), pa.table({"qty": [1, 2, None]})).tolist()
    [False, True, False]
    """
    truth = evaluate(column, table)
    if pa.types.is_null(truth.type):
        return np.zeros(table.num_rows, bool)
    if not pa.types.is_boolean(truth.type):
        raise SashError(f"a filter must be boolean, got {column!r} of type {spark_name(truth)}")
    filled = pc.fill_null(truth, False)
    joined = filled.combine_chunks() if isinstance(filled, pa.ChunkedArray) else filled
    return np.asarray(joined.to_numpy(zero_copy_only=False))


def infer(column: Column | Foreign, schema: pa.Schema) -> pa.DataType:
    """The type of an expression over tables of that schema; raises where it has none.

    >>> from sash.expressions import col
    >>> infer(col("a") / col("b"), pa.schema({"a": pa.int32(), "b": pa.int64()}))
    DataType(double)
    """
    return evaluate(column, schema.empty_table()).type


def _value(column: Column, table: pa.Table) -> Value:
    if isinstance(column, Literal):
        return _literal(column.value)
    if isinstance(column, Name):
        return _named(column, table)
    if isinstance(column, Cast):
        return _applied(column, lambda of: cast(of, column.to, column.safe), [_operand(column.of, table)], table)
    if isinstance(column, Alias):
        return _value(column.of, table)
    if not isinstance(column, Operation):
        raise SashError(f"{column!r} is an answer to rows of a table, which withColumns and select give; add it first")
    choice = _CHOICES.get(column.name)
    if choice is not None:
        return choice(column, table)
    if column.name not in _OPERATIONS:
        raise SashError(f"there is no function {column.name!r}, used in {column!r}")
    operands = [_value(each, table) for each in column.operands]
    if column.name in comparing.BY_ORDER:
        operands = _guarded(column, lambda: comparing.by_category(operands))
    operands = [each if isinstance(each, Months) else plain(each) for each in operands]
    return _applied(column, _OPERATIONS[column.name], operands, table)


def _applied(column: Column, operation: Callable[..., Value], operands: list[Value], table: pa.Table) -> Value:
    try:
        return _guarded(column, lambda: operation(*operands))
    except SashError:
        if table.num_rows or not all(map(is_scalar, operands)):
            raise
    # 1 / 0 has a type even where no row asks for its value
    return _guarded(column, lambda: operation(*(pa.repeat(each, 0) for each in operands)))


def _operand(column: Column, table: pa.Table) -> Value:
    value = _value(column, table)
    return value if isinstance(value, Months) else plain(value)


def _guarded(column: Column, compute: Callable[[], Value]) -> Value:
    """Compute, and say of which expression an error is."""
    try:
        return compute()
    except Trouble as trouble:
        raise (Overflow if trouble.overflow else SashError)(f"{trouble}, in {column!r}") from None
    except (pa.ArrowInvalid, OverflowError) as error:
        if "overflow" in str(error).lower():
            raise Overflow(f"the answer does not fit its type, in {column!r}") from None
        raise SashError(f"{str(error).splitlines()[0]}, in {column!r}") from None
    except (pa.ArrowNotImplementedError, pa.ArrowTypeError) as error:
        raise SashError(f"the types do not fit, in {column!r}: {str(error).splitlines()[0]}") from None


def _literal(value: Any) -> Value:
    if isinstance(value, Months):
        return value
    if isinstance(value, int) and not isinstance(value, bool):
        return pa.scalar(value, pa.int32() if -(2**31) <= value < 2**31 else pa.int64())
    if isinstance(value, Decimal):
        exponent = int(value.as_tuple().exponent)
        scale = max(-exponent, 0)
        digits = max(len(value.as_tuple().digits) + max(exponent, 0), scale)
        if digits > 38:
            raise SashError(f"a decimal has at most 38 digits, got {value}")
        return pa.scalar(value, pa.decimal128(digits, scale))
    if isinstance(value, datetime):
        return pa.scalar(value, pa.timestamp("us", "UTC" if value.tzinfo else None))
    if isinstance(value, date):
        return pa.scalar(value, pa.date32())
    if isinstance(value, timedelta):
        return pa.scalar(value, pa.duration("us"))
    return pa.scalar(value)


def _named(column: Name, table: pa.Table) -> Value:
    head, fields = resolve(column.path, table.column_names)
    value = table.column(head)
    for field in fields:
        if not pa.types.is_struct(value.type):
            raise SashError(f"there is no field {field!r} in {column!r}; {head!r} is of type {spark_name(value)}")
        known = [value.type.field(i).name for i in range(value.type.num_fields)]
        try:
            head, _ = resolve((field,), known)
        except SashError as error:
            raise SashError(f"{str(error).replace('column', 'field')}, in {column!r}") from None
        value = pc.struct_field(value, known.index(head))
    return value


# Some operations look at an operand only in rows where it counts: "b <> 0 and a / b > 1" must not divide by zero.
# All rows are tried at once first; only when that fails are rows told apart.


def _branched(column: Operation, table: pa.Table) -> Value:
    """CASE and IF."""
    operands = column.operands
    conditions, results = operands[0:-1:2], (*operands[1:-1:2], operands[-1])
    try:
        truths = [_operand(each, table) for each in conditions]
        values = [_operand(each, table) for each in results]
    except SashError:
        return _row_wise(column, conditions, results, table)
    return _guarded(column, lambda: _merged(truths, values))


def _merged(truths: list[Value], values: list[Value]) -> Value:
    *values, answer = comparing.together(values)
    for truth, value in zip(reversed(truths), reversed(values), strict=True):
        answer = pc.if_else(pc.fill_null(comparing.truth(truth), False), value, answer)
    return answer


def _row_wise(column: Operation, conditions: Any, results: Any, table: pa.Table) -> Value:
    table = _needed(column, table)
    left, places, pieces = np.arange(table.num_rows), [], []
    for condition, result in zip([*conditions, None], results, strict=True):
        hit = np.ones(len(left), bool) if condition is None else predicate(condition, table.take(left))
        places.append(left[hit])
        pieces.append(plain(evaluate(result, table.take(left[hit]))))
        left = left[~hit]
    order = pa.array(np.argsort(np.concatenate(places)))

    def joined() -> Value:
        dtype = common_type(pieces)
        parts = [convert(piece, dtype) for piece in pieces]
        chunks = [chunk for part in parts for chunk in (part.chunks if isinstance(part, pa.ChunkedArray) else [part])]
        return pc.take(pa.chunked_array(chunks, dtype), order)

    return _guarded(column, joined)


def _first_known(column: Operation, table: pa.Table) -> Value:
    """COALESCE."""
    try:
        values = [_operand(each, table) for each in column.operands]
    except SashError:
        whens = [part for each in column.operands[:-1] for part in (each.is_not_null(), each)]
        return _value(Operation("case", (*whens, column.operands[-1])), table)
    return _guarded(column, lambda: pc.coalesce(*comparing.together(values)))


def _null_if(column: Operation, table: pa.Table) -> Value:
    """NULLIF."""
    value, other = column.operands
    return _value(Operation("case", (value == other, Literal(None), value)), table)


def _logical(column: Operation, table: pa.Table) -> Value:
    """AND and OR: the right side counts where the left side has not decided."""
    left, right = column.operands
    decided = _operand(left, table)
    try:
        other = _operand(right, table)
    except SashError:
        if is_scalar(decided):
            decided = pa.repeat(decided, table.num_rows)
        settling = pc.invert(decided) if column.name == "and" else decided
        open_rows = ~np.asarray(pc.fill_null(settling, False).to_numpy(zero_copy_only=False))
        others = evaluate(right, _needed(column, table).filter(pa.array(open_rows)))
        other = pc.take(others, pa.array(np.cumsum(open_rows) - 1, mask=~open_rows))
    return _guarded(column, lambda: _OPERATIONS[column.name](decided, other))


def _needed(column: Column, table: pa.Table) -> pa.Table:
    names = check_names(column, table.column_names)
    return table.select([name for name in table.column_names if name in names]) if names else table


_CHOICES: dict[str, Callable[[Operation, pa.Table], Value]] = {
    "case": _branched,
    "if": _branched,
    "coalesce": _first_known,
    "nullif": _null_if,
    "and": _logical,
    "or": _logical,
}
