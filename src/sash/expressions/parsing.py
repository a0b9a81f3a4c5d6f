"""Parsing: a Spark SQL expression as text, read by sqlglot into the same trees that Python's operators build."""

from __future__ import annotations

import re
from datetime import timedelta
from decimal import Decimal
from typing import Any

from sash.errors import SashError
from sash.expressions.columns import Cast, Column, Foreign, Literal, Name, Operation
from sash.expressions.intervals import Months, clock, interval
from sash.expressions.literals import checked
from sash.expressions.spark_names import FUNCTIONS, arity, type_name
from sash.libraries import is_pyspark

_INFIX = {
    "Add": "+",
    "Sub": "-",
    "Mul": "*",
    "Div": "/",
    "Mod": "%",
    "IntDiv": "div",
    "DPipe": "||",
    "EQ": "=",
    "NEQ": "<>",
    "LT": "<",
    "LTE": "<=",
    "GT": ">",
    "GTE": ">=",
    "NullSafeEQ": "<=>",
    "And": "and",
    "Or": "or",
}
# sqlglot's class of a function: its name here, and which arguments it has, in Spark's order
_CALLS = {
    "Abs": ("abs", "this"),
    "Coalesce": ("coalesce", "this expressions"),
    "Nullif": ("nullif", "this expression"),
    "If": ("if", "this true false"),
    "Greatest": ("greatest", "this expressions"),
    "Least": ("least", "this expressions"),
    "Upper": ("upper", "this"),
    "Lower": ("lower", "this"),
    "Length": ("length", "this"),
    "Substring": ("substring", "this start length"),
    "Concat": ("concat", "expressions"),
    "Round": ("round", "this decimals"),
    "Floor": ("floor", "this"),
    "Ceil": ("ceil", "this"),
    "Sqrt": ("sqrt", "this"),
    "Exp": ("exp", "this"),
    "Ln": ("ln", "this"),
    "Log": ("log", "this expression"),
    "Pow": ("pow", "this expression"),
    "Year": ("year", "this"),
    "Month": ("month", "this"),
    "Day": ("day", "this"),
    "DayOfMonth": ("day", "this"),
    "Hour": ("hour", "this"),
    "Minute": ("minute", "this"),
    "Second": ("second", "this"),
    "TimestampTrunc": ("date_trunc", "unit this"),
    "DateDiff": ("datediff", "this expression"),
    "IsNan": ("isnan", "this"),
    "Sign": ("sign", "this"),
}
_HINTS = frozenset({"safe", "coalesce", "ignore_nulls", "typed"})  # how other dialects differ; Spark's way is fixed
_TYPES = {"TEXT": "string", "TIMESTAMPTZ": "timestamp", "TIMESTAMPLTZ": "timestamp", "TIMESTAMPNTZ": "timestamp_ntz"}
_BRANCHES = frozenset({"EQ", "NEQ", "LT", "LTE", "GT", "GTE", "NullSafeEQ", "Is", "In", "Between", "Like"})


_STATEMENTS = frozenset(
    """
    alter analyze attach begin cache call comment commit copy declare desc describe detach end execute explain export
    fetch kill load lock merge optimize pragma refresh rename reset revoke rollback show start truncate uncache unset
    update use
    """.split()
)


def parse(text: str) -> Column:
    """The expression that a text means in Spark SQL.

    >>> parse("qty between 1 and 9 and side is not null")
    qty >= 1 AND qty <= 9 AND side IS NOT NULL
    """
    if not isinstance(text, str):
        raise SashError(f"an expression is text in Spark SQL, got {text!r} of type {type(text).__name__}")
    import sqlglot
    from sqlglot.errors import SqlglotError

    try:
        quoted = _with_escaped_quotes(text, sqlglot)
        if quoted.lstrip().partition(" ")[0].lower() in _STATEMENTS:  # a column may be named like one: load = 3
            quoted = f"({quoted})"
        trees = sqlglot.parse(quoted, read="spark")
        if len(trees) != 1 or trees[0] is None:
            raise SashError(f"an expression is one expression of Spark SQL, got {text!r}")
        return _Reader(text).read(trees[0])
    except SqlglotError as error:
        errors = getattr(error, "errors", None)
        reason = f"{errors[0]['description']} at column {errors[0]['col']}" if errors else str(error)
        raise SashError(f"cannot read {text!r} as a Spark SQL expression: {reason}") from None
    except UnicodeEncodeError:
        raise SashError(f"an expression is text without halves of characters (surrogates), got {text!r}") from None
    except RecursionError:
        raise SashError(f"the expression is nested too deeply: {text[:60]!r}...") from None


def as_predicate(thing: Any) -> Column | Foreign:
    """What a filter means: text is a Spark SQL expression.

    >>> as_predicate("qty > 0 and side = 'buy'")
    qty > 0 AND side = 'buy'
    """
    if isinstance(thing, str):
        return parse(thing)
    if isinstance(thing, Column | Foreign):
        return thing
    if is_pyspark(thing, "Column"):
        return Foreign(thing)
    if isinstance(thing, bool):
        return Literal(thing)
    raise SashError(
        f"a filter is a column such as sash.col('qty') > 0, or text such as 'qty > 0', got {thing!r} "
        f"of type {type(thing).__name__}"
    )


class _Reader:
    """Reads one tree of sqlglot's; keeps the text for its errors."""

    def __init__(self, text: str) -> None:
        self.text = text

    def refuse(self, node: Any, why: str = "is not understood") -> SashError:
        return SashError(f"cannot read the expression {self.text!r}: {node.sql('spark')!r} {why}")

    def read(self, node: Any) -> Column:
        node_name = type(node).__name__
        if node_name in _INFIX:
            return self.infix(node, node_name)
        method = getattr(self, f"read_{node_name.lower()}", None)
        if method is not None:
            return method(node)
        if node_name in _CALLS:
            return self.call(node, *_CALLS[node_name])
        raise self.refuse(node)

    def infix(self, node: Any, node_name: str) -> Column:
        beside = type(node.expression).__name__
        # Spark reads both of these from left to right, sqlglot does not
        if (node_name == "DPipe" and beside in ("Add", "Sub")) or (node_name in _BRANCHES and beside in _BRANCHES):
            raise self.refuse(node, "needs parentheses to say what belongs together")
        left, right = self.read(node.this), self.read(node.expression)
        if node_name in ("Add", "Sub") and _is_calendar(right):  # a month and two days: first the month, then the days
            first, second = right.children()
            return Operation(_INFIX[node_name], (Operation(_INFIX[node_name], (left, first)), second))
        return Operation(_INFIX[node_name], (left, right))

    def call(self, node: Any, name: str, arguments: str) -> Column:
        keys = arguments.split()
        self.only(node, *keys)
        operands: list[Column] = []
        for key in keys:
            value = node.args.get(key)
            if isinstance(value, list):
                operands += map(self.read, value)
            elif value is not None:
                operands.append(self.read(value))
        return self.checked(node, name, operands)

    def checked(self, node: Any, name: str, operands: list[Column]) -> Column:
        least, most = arity(name)
        if not least <= len(operands) <= most:
            raise self.refuse(node, f"has {len(operands)} arguments, which {name} does not take")
        return Operation(name, tuple(operands))

    def only(self, node: Any, *keys: str) -> None:
        """Refuse what sqlglot read and this reader would silently drop."""
        for key, value in node.args.items():
            if key not in keys and key not in _HINTS and value not in (None, False, []):
                raise self.refuse(node, f"has a part ({key}) that is not understood")

    def read_paren(self, node: Any) -> Column:
        return self.read(node.this)

    def read_column(self, node: Any) -> Column:
        if type(node.this).__name__ != "Identifier":
            raise self.refuse(node)
        return Name(tuple(part.name for part in node.parts))

    def read_dot(self, node: Any) -> Column:
        left = self.read(node.this)
        if not isinstance(left, Name) or type(node.expression).__name__ != "Identifier":
            raise self.refuse(node)
        return Name((*left.path, node.expression.name))

    def read_literal(self, node: Any) -> Column:
        text = node.this
        if node.is_string:
            return Literal(text)
        if re.fullmatch(r"\d+", text):
            return Literal(checked(int(Decimal(text))))  # which is of any length
        return Literal(float(text) if "e" in text.lower() else Decimal(text))

    def read_neg(self, node: Any) -> Column:
        inner = node.this
        if type(inner).__name__ == "Literal" and inner.this.isdigit() and not inner.is_string:
            return Literal(checked(-int(Decimal(inner.this))))  # the least bigint has no positive counterpart
        return -self.read(inner)

    def read_rawstring(self, node: Any) -> Column:
        return Literal(node.this)

    def read_boolean(self, node: Any) -> Column:
        return Literal(bool(node.this))

    def read_null(self, node: Any) -> Column:
        return Literal(None)

    def read_var(self, node: Any) -> Column:
        return Literal(node.name.lower())

    def read_not(self, node: Any) -> Column:
        return ~self.read(node.this)

    def read_is(self, node: Any) -> Column:
        left, right = self.read(node.this), node.expression
        if type(right).__name__ == "Null":
            return left.is_null()
        if type(right).__name__ != "Boolean":
            raise self.refuse(node)
        return Operation("<=>", (left, Literal(bool(right.this))))

    def read_nullsafeneq(self, node: Any) -> Column:
        return ~Operation("<=>", (self.read(node.this), self.read(node.expression)))

    def read_between(self, node: Any) -> Column:
        self.only(node, "this", "low", "high")
        return self.read(node.this).between(self.read(node.args["low"]), self.read(node.args["high"]))

    def read_in(self, node: Any) -> Column:
        self.only(node, "this", "expressions")
        return self.read(node.this).isin(*map(self.read, node.expressions))

    def read_like(self, node: Any) -> Column:
        self.only(node, "this", "expression", "negate")
        like = Operation("like", (self.read(node.this), self.read(node.expression)))
        return ~like if node.args.get("negate") else like

    def read_case(self, node: Any) -> Column:
        subject = node.this and self.read(node.this)
        operands: list[Column] = []
        for branch in node.args["ifs"]:
            condition = self.read(branch.this)
            operands += [condition if subject is None else subject == condition, self.read(branch.args["true"])]
        default = node.args.get("default")
        return Operation("case", (*operands, Literal(None) if default is None else self.read(default)))

    def read_concat(self, node: Any) -> Column:
        parts = [self.read(each) for each in node.expressions]
        if not node.args.get("safe") and all(isinstance(part, Literal) for part in parts):  # 'a' 'b' is one text
            return Literal("".join(part.value for part in parts if isinstance(part, Literal)))
        return self.checked(node, "concat", parts)

    def read_year(self, node: Any) -> Column:
        # sqlglot wraps what is to be a date; the function itself takes anything that has one
        name = _CALLS[type(node).__name__][0]
        return self.checked(node, name, [self.unwrapped(node.this)])

    read_month = read_day = read_dayofmonth = read_year

    def read_datediff(self, node: Any) -> Column:
        self.only(node, "this", "expression")
        return Operation("datediff", (self.unwrapped(node.this), self.unwrapped(node.expression)))

    def unwrapped(self, node: Any) -> Column:
        return self.read(node.this if type(node).__name__ == "TsOrDsToDate" else node)

    def read_tsordstodate(self, node: Any) -> Column:
        self.only(node, "this")
        return self.read(node.this).cast("date")

    def read_cast(self, node: Any) -> Column:
        self.only(node, "this", "to", "_type")
        inner, target = node.this, node.args["to"]
        try:
            to = type_name(_TYPES.get(target.this.name, target.sql("spark")))
        except SashError:
            raise self.refuse(node, "is a cast to a type that is not understood") from None
        of = self.read(inner)
        # DATE '2020-01-01', 1.5D and 5BD reach this as casts of a literal
        value = _typed(of.value, to) if isinstance(of, Literal) else None
        if value is not None:
            return Literal(value)
        return Cast(of, to, safe=bool(type(node).__name__ == "TryCast" and node.args.get("safe")))

    read_trycast = read_cast

    def read_interval(self, node: Any) -> Column:
        unit, value = node.args.get("unit"), node.this
        if type(value).__name__ != "Literal":
            raise self.refuse(node, "must be an interval of a fixed length")
        if unit is None:
            months, time = interval(value.this)
        elif type(unit).__name__ == "IntervalSpan":
            months, time = clock(value.this, unit.this.name.lower(), unit.expression.name.lower())
        else:
            months, time = interval(f"{value.this} {unit.name}")
        if months.count and time:
            return Operation("+", (Literal(months), Literal(time)))
        return Literal(months if months.count else time)

    def read_anonymous(self, node: Any) -> Column:
        name = str(node.this).lower()
        operands = [self.read(each) for each in node.expressions]
        if name in ("isnull", "isnotnull") and len(operands) == 1:
            return operands[0].is_null() if name == "isnull" else operands[0].is_not_null()
        name = "if" if name == "iff" else name
        if name not in FUNCTIONS:
            raise self.refuse(node, f"calls a function, {name}, that is not known")
        return self.checked(node, name, operands)


def _is_calendar(column: Column) -> bool:
    if not isinstance(column, Operation) or column.name != "+":
        return False
    return all(isinstance(each, Literal) and isinstance(each.value, Months | timedelta) for each in column.operands)


def _typed(value: Any, to: str) -> Any:
    """The literal that a cast of a literal stands for, where it is one."""
    from sash.expressions.text_formats import parsed_date, parsed_timestamp

    if to == "double" and (isinstance(value, Decimal | float) or value in ("NaN", "Infinity", "-Infinity")):
        return float(value)
    if not isinstance(value, str):
        return None
    if to == "date":
        return parsed_date(value)
    if to in ("timestamp", "timestamp_ntz"):
        return parsed_timestamp(value)
    if to.startswith("decimal") and re.fullmatch(r"\d+(\.\d*)?|\.\d+", value):
        exact = Decimal(value)
        scale = -int(exact.as_tuple().exponent)
        return exact if to == f"decimal({max(len(exact.as_tuple().digits), scale)},{scale})" else None
    return None


def _with_escaped_quotes(text: str, sqlglot: Any) -> str:
    r"""Write 'it''s' as 'it\'s': sqlglot takes it for two texts, Spark 4 for one."""
    pieces, at, last = [], 0, None
    for token in sqlglot.tokenize(text, read="spark"):
        is_text = token.token_type.name == "STRING"
        if is_text and last is not None and last.end + 1 == token.start and text[last.end] == text[token.start]:
            pieces += [text[at : last.end], "\\", text[token.start]]
            at = token.start + 1
        last = token if is_text else None
    return "".join([*pieces, text[at:]])
