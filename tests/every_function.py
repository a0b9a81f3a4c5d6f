"""A call of every function of the vocabulary, on given columns."""

from functools import partial

import sash
from sash import functions as sf
from sash.algebra import Aggregate
from sash.algebra.catalogue import FUNCTIONS, builtin
from sash.algebra.catalogue.declaring import CALL, COLUMN, CONDITION, CONSTANT, DISTANCE, NUMBER, REQUIRED, SHARE, TEXT
from sash.algebra.window_function import RankFunction

INSTEAD = {"bloom_filter": (128, 3), "percentile_cont": ([0.25, 0.5],), "percentile": (0.75,), "lag": (2,)}
NAMES = sorted(name for name, each in FUNCTIONS.items() if each.in_python and not each.spans)


def _is_aggregate(declared):
    return isinstance(builtin(declared.name, *declared.examples_of_constants), Aggregate)


# what makes each aggregate that is not another function's call, by its name
AGGREGATES = {
    name: partial(builtin, name)
    for name, each in FUNCTIONS.items()
    if each.in_python and not (each.spans or each.base) and _is_aggregate(each)
}


def every_call(column, second=None):
    """Each function by its name, of a column, and of a second one where it takes two."""
    second = column if second is None else second
    calls = {}
    for name in NAMES:
        declared, function = FUNCTIONS[name], getattr(sf, name)
        columns = [column, second][: sum(each.takes == COLUMN for each in declared.parameters)]
        taken = [each for each in declared.parameters if each.takes in (CONSTANT, SHARE, TEXT, NUMBER, DISTANCE)]
        constants = [each.example for each in taken if each.default is REQUIRED or each.example]
        if declared.takes(CONDITION):
            calls[name] = function(f"{column} is not null")
        elif declared.takes(CALL):
            calls[name] = function(column, sf.sum(second))
        elif declared.takes(DISTANCE) and not columns:
            calls[name] = function(sash.col(column))
        elif isinstance(builtin(name, *declared.examples_of_constants), RankFunction):
            calls[name] = function(*constants).order_by(column)
        else:
            calls[name] = function(*columns or [column], *INSTEAD.get(name, constants))
    calls["count(*)"] = sf.count()
    calls["hypothetical rank"] = sf.rank(column).order_by(column)
    calls["lead with a default"] = sf.lead(column, 1, sf.lit(None))
    calls["sum distinct"] = sf.sum_distinct(column)
    calls["collect distinct"] = sf.collect_list(column).distinct()
    calls["median distinct"] = sf.median(column).distinct()
    calls["first by own order"] = sf.first_value(column).order_by(second).ignore_nulls()
    calls["percentiles"] = sf.percentile_disc(column, [0.25, 0.5])
    return calls
