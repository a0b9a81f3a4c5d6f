"""The functions that a query may call over a window, by their SQL names, and how their arguments are read."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

from sash import functions as sf
from sash.algebra import Call
from sash.errors import SashError
from sash.expressions.columns import Order
from sash.sql.registry import REGISTERED
from sash.sql.syntax import Called, Ordered, Span


class Arguments(Protocol):
    """What turns pieces of the query into columns and constants."""

    def column(self, span: Span) -> Any:
        """The column that an expression is."""

    def constant(self, span: Span, what: str) -> Any:
        """The value of an expression that reads no column."""

    def is_constant(self, span: Span) -> bool:
        """Whether an expression reads no column."""

    def every(self, spans: tuple[Span, ...]) -> Any:
        """A column that is NULL where one of several expressions is."""

    def is_number(self, span: Span) -> bool:
        """Whether an expression is a number as it stands."""


Reading = Callable[[Called, Arguments], Call]


def call_of(called: Called, arguments: Arguments, spans: bool = False) -> Call:
    """The call that a query writes, with its order, its filter and what it does with NULLs."""
    reading = OF_SPANS.get(called.name.lower()) if spans else None
    call = (reading or FUNCTIONS.get(called.name.lower(), _registered))(called, arguments)
    if called.distinct and called.name.lower() != "count":
        call = call.distinct()
    if called.order and called.name.lower() not in _BY_ORDER:
        call = call.order_by(*(order_of(each, arguments) for each in called.order))
    if called.nulls == "ignore":
        call = call.ignore_nulls()
    if called.from_last and called.name.lower() != "nth_value":
        raise SashError(f"FROM LAST is for nth_value, got {called.name}")
    return call if called.condition is None else call.filter(arguments.column(called.condition))


def order_of(key: Ordered, arguments: Arguments) -> Any:
    """A key of an order."""
    return Order(arguments.column(key.span), key.descending, key.nulls_first)


def known(name: str, spans: bool = False) -> bool:
    """Whether a function of this name is built in, or registered."""
    return name.lower() in FUNCTIONS or name.lower() in REGISTERED or (spans and name.lower() in OF_SPANS)


def _registered(called: Called, arguments: Arguments) -> Call:
    _takes_no_star(called)
    return REGISTERED[called.name.lower()](*map(arguments.column, called.arguments))


def _takes_no_star(called: Called) -> None:
    if called.star:
        raise SashError(f"{called.name} takes columns, got *")


def _counted(called: Called, least: int, most: int) -> None:
    _takes_no_star(called)
    if not least <= len(called.arguments) <= most:
        takes = str(least) if least == most else f"{least} to {most}"
        raise SashError(f"{called.name} takes {takes} argument{'s' * (takes != '1')}, got {len(called.arguments)}")


def _columns(make: Callable[..., Call], least: int = 1, most: int | None = None) -> Reading:
    """A function whose arguments are all columns."""

    def read(called: Called, arguments: Arguments) -> Call:
        _counted(called, least, least if most is None else most)
        return make(*map(arguments.column, called.arguments))

    return read


def _swapped(make: Callable[..., Call]) -> Reading:
    """The papers' argmax(measure, argument)."""

    def read(called: Called, arguments: Arguments) -> Call:
        _counted(called, 2, 2)
        measure, argument = map(arguments.column, called.arguments)
        return make(argument, measure)

    return read


def _with_constants(make: Callable[..., Call], *names: str, least: int = 0) -> Reading:
    """A function of a column and of constants; those from the ``least``-th on may be left out."""

    def read(called: Called, arguments: Arguments) -> Call:
        _counted(called, 1 + least, 1 + len(names))
        column, *rest = called.arguments
        constants = [arguments.constant(each, name) for each, name in zip(rest, names, strict=False)]
        return make(arguments.column(column), *constants)

    return read


def _count(called: Called, arguments: Arguments) -> Call:
    spans = called.arguments
    if called.distinct:
        if not spans:
            raise SashError("count(distinct …) takes columns")
        return sf.count_distinct(*map(arguments.column, spans))
    if not spans or (len(spans) == 1 and arguments.is_number(spans[0])):
        return sf.count()
    return sf.count(arguments.column(spans[0]) if len(spans) == 1 else arguments.every(spans))


def _ntile(called: Called, arguments: Arguments) -> Call:
    _counted(called, 1, 1)
    return sf.ntile(arguments.constant(called.arguments[0], "the number of tiles"))


def _nth_value(called: Called, arguments: Arguments) -> Call:
    _counted(called, 2, 3)
    value, place, *nulls = called.arguments
    ignored = bool(nulls) and arguments.constant(nulls[0], "ignoring NULLs")
    count = arguments.constant(place, "the place")
    return sf.nth_value(arguments.column(value), count, ignored, from_last=called.from_last)


def _shift(make: Callable[..., Call]) -> Reading:
    """Lead and lag: the default may be any expression."""

    def read(called: Called, arguments: Arguments) -> Call:
        _counted(called, 1, 3)
        value, *rest = called.arguments
        offset = arguments.constant(rest[0], "the offset") if rest else 1
        default = [arguments.column(rest[1])] if len(rest) > 1 and not _is_null(rest[1], arguments) else []
        return make(arguments.column(value), offset, *default)

    return read


def _is_null(span: Span, arguments: Arguments) -> bool:
    return arguments.is_constant(span) and arguments.constant(span, "the default") is None


def _quantile(make: Callable[..., Call]) -> Reading:
    """The value first and the share second, or only the share, and the value as the order."""

    def read(called: Called, arguments: Arguments) -> Call:
        if not called.order:
            if len(called.arguments) == 1:
                raise SashError(f"{called.name} of a share alone needs an ORDER BY in the call, or WITHIN GROUP")
            _counted(called, 2, 2)
            value, share = called.arguments
            if arguments.is_number(value) and not arguments.is_constant(share):
                raise SashError(f"{called.name} takes the value first and the share second")
            return make(arguments.column(value), _share(share, arguments))
        _counted(called, 1, 1)
        key = _only_key(called)
        call = make(arguments.column(key.span), _share(called.arguments[0], arguments))
        return call.order_by(order_of(key, arguments)) if key.descending else call

    return read


def _share(span: Span, arguments: Arguments) -> Any:
    if not arguments.is_constant(span):
        return arguments.column(span)
    value = arguments.constant(span, "the percentage")
    if isinstance(value, list):
        return [float(each) for each in value]
    try:
        return float(value)
    except (TypeError, ValueError):
        raise SashError(f"percentage must be between 0 and 1, got {value!r}") from None


def _of_order(make: Callable[..., Call]) -> Reading:
    """Median and mode: of their argument, or of what they are ordered by."""

    def read(called: Called, arguments: Arguments) -> Call:
        if not called.order:
            _counted(called, 1, 1)
            return make(arguments.column(called.arguments[0]))
        key = _only_key(called)
        _counted(called, 0, 1)
        span = called.arguments[0] if called.arguments else key.span
        call = make(arguments.column(span))
        return call.order_by(order_of(key, arguments)) if called.arguments or key.descending else call

    return read


def _only_key(called: Called) -> Ordered:
    if len(called.order) != 1:
        raise SashError(f"{called.name} takes one expression to order by, got {len(called.order)}")
    return called.order[0]


def _percentile(called: Called, arguments: Arguments) -> Call:
    if not called.order and len(called.arguments) == 3:
        frequency = arguments.constant(called.arguments[2], "the frequency")
        value, share = called.arguments[:2]
        return sf.percentile(arguments.column(value), _share(share, arguments), frequency)
    return _quantile(sf.percentile)(called, arguments)


_ONE = """
    count_if sum product avg mean geometric_mean min max min_count max_count range any some bool_or every bool_and
    bit_and bit_or bit_xor var_pop var_samp variance stddev_pop stddev_samp stddev std skewness kurtosis collect
    collect_list array_agg collect_distinct collect_set moment_sketch mad entropy
""".split()
_TWO = """
    min_by max_by arg_min arg_max covar_pop covar_samp corr regr_count regr_r2 regr_slope regr_intercept regr_avgx
    regr_avgy regr_sxx regr_syy regr_sxy
""".split()
_VALUES = "first last any_value first_value last_value".split()
_RANKS = "rank dense_rank percent_rank cume_dist".split()
_BY_ORDER = frozenset(
    "percentile_disc percentile_cont percentile quantile quantile_disc quantile_cont median mode".split()
)

FUNCTIONS: dict[str, Reading] = {
    "count": _count,
    **{name: _columns(getattr(sf, name)) for name in _ONE},
    **{name: _columns(getattr(sf, name), 2) for name in _TWO},
    **{name: _with_constants(getattr(sf, name), "ignoring NULLs") for name in _VALUES},
    **{name: _columns(getattr(sf, name), 0, 1000) for name in _RANKS},
    "row_number": _columns(sf.row_number, 0),
    "ntile": _ntile,
    "nth_value": _nth_value,
    "lead": _shift(sf.lead),
    "lag": _shift(sf.lag),
    "percentile_disc": _quantile(sf.percentile_disc),
    "percentile_cont": _quantile(sf.percentile_cont),
    "percentile": _percentile,
    "median": _of_order(sf.median),
    "mode": _of_order(sf.mode),
    "listagg": _with_constants(sf.listagg, "the delimiter"),
    "string_agg": _with_constants(sf.string_agg, "the delimiter"),
    "first_n": _with_constants(sf.first_n, "n", least=1),
    "last_n": _with_constants(sf.last_n, "n", least=1),
    "ith_youngest": _with_constants(sf.ith_youngest, "i", least=1),
    "ith_smallest": _with_constants(sf.ith_smallest, "i", least=1),
    "top_k": _with_constants(sf.top_k, "k", least=1),
    "moment_quantile": _with_constants(sf.moment_quantile, "p", least=1),
    "kll_percentile": _with_constants(sf.kll_percentile, "percentage", "k", least=1),
    "hll_count_distinct": _with_constants(sf.hll_count_distinct, "lg_k"),
    "frequent_items": _with_constants(sf.frequent_items, "n", "lg_k", least=1),
    "bloom_filter": _with_constants(sf.bloom_filter, "bits", "hashes"),
    # the papers', DuckDB's and PostgreSQL's names
    "argmax": _swapped(sf.max_by),
    "argmin": _swapped(sf.min_by),
    "countif": _columns(sf.count_if),
    "list": _columns(sf.collect_list),
    "group_concat": _with_constants(lambda column, by=",": sf.listagg(column, by), "the delimiter"),
    "quantile": _quantile(sf.percentile_disc),
    "quantile_disc": _quantile(sf.percentile_disc),
    "quantile_cont": _quantile(sf.percentile_cont),
    "var": _columns(sf.var_samp),
    "arbitrary": _columns(sf.any_value),
}

OF_SPANS: dict[str, Reading] = {  # in continuous queries alone
    "time_avg": _columns(sf.time_avg),
    "max_concurrent": _columns(sf.max_concurrent, 0),
    "covered": _columns(sf.covered, 0),
    "prorated_sum": _columns(lambda column: sf.sum(column).prorated()),
    "prorated_count": _columns(lambda: sf.count().prorated(), 0),
}
