"""A call of every function of the vocabulary, on given columns."""

import inspect

from sash import functions as sf

ORDERS = {"asc", "asc_nulls_first", "asc_nulls_last", "desc", "desc_nulls_first", "desc_nulls_last"}
ELSEWHERE = {"as_predicate", "builtin", "lit", "parse", "whole", "window_function"}  # imported there
OF_SPANS = {"covered", "max_concurrent", "time_avg"}
RANKS = {"rank", "dense_rank", "row_number", "percent_rank", "cume_dist"}
WITH = {  # what follows the column
    "first_n": (2,),
    "last_n": (2,),
    "ith_youngest": (2,),
    "ith_smallest": (2,),
    "top_k": (3,),
    "moment_quantile": (0.25,),
    "bloom_filter": (128, 3),
    "kll_percentile": (0.25,),
    "frequent_items": (2,),
    "concat": ("-",),
    "listagg": ("-",),
    "string_agg": (),
    "nth_value": (2,),
    "lead": (1,),
    "lag": (2,),
    "percentile_disc": (0.25,),
    "percentile_cont": ([0.25, 0.5],),
    "percentile": (0.75,),
}
NAMES = sorted(
    name
    for name, thing in vars(sf).items()
    if inspect.isfunction(thing) and not name.startswith("_") and name not in ORDERS | ELSEWHERE | OF_SPANS
)


def every_call(column, second=None):
    """Each function by its name, of a column, and of a second one where it takes two."""
    second = column if second is None else second
    calls = {}
    for name in NAMES:
        function = getattr(sf, name)
        if name in RANKS:
            calls[name] = function().order_by(column)
        elif name == "ntile":
            calls[name] = function(3).order_by(column)
        elif name == "count_if":
            calls[name] = function(f"{column} is not null")
        elif name in ("min_by", "max_by", "arg_min", "arg_max", "corr") or name.startswith(("covar", "regr")):
            calls[name] = function(column, second)
        else:
            calls[name] = function(column, *WITH.get(name, ()))
    calls["count(*)"] = sf.count()
    calls["hypothetical rank"] = sf.rank(column).order_by(column)
    calls["lead with a default"] = sf.lead(column, 1, sf.lit(None))
    calls["sum distinct"] = sf.sum_distinct(column)
    calls["collect distinct"] = sf.collect_list(column).distinct()
    calls["median distinct"] = sf.median(column).distinct()
    calls["first by own order"] = sf.first_value(column).order_by(second).ignore_nulls()
    calls["percentiles"] = sf.percentile_disc(column, [0.25, 0.5])
    return calls
