"""The answers of frames of no rows: counts 0, lists empty, ranks 1, the rest NULL."""

from dataclasses import replace

from every_function import every_call
from sash import Aggregate
from sash import functions as sf

COUNTS = {"count", "count(*)", "count_if", "count_distinct", "hll_count_distinct", "regr_count"}
LISTS = {
    "collect", "collect_list", "collect_set", "collect_distinct", "collect distinct", "array_agg", "first_n", "last_n",
    "top_k", "by_bucket",
}  # fmt: skip
RANKS = {"rank", "dense_rank", "row_number", "hypothetical rank"}
OF_FLAGS = ("any", "some", "every", "bool_and", "bool_or")
TEXTS = {"concat", "listagg", "string_agg"}  # made of lists, which only kernels make
UNFRAMED = ("lead", "lag", "lead with a default", "session_id", "interpolate")


def empty_answer(name):
    """What the function of this name answers."""
    if name == "histogram":
        return [0, 0]
    return 0 if name in COUNTS else [] if name in LISTS else 1 if name in RANKS else None


def framed_calls(number, second, flag):
    """Every function that sees its frame, of columns that it takes."""
    calls = every_call(number, second) | {name: getattr(sf, name)(flag) for name in OF_FLAGS}
    return {name: call for name, call in calls.items() if name not in UNFRAMED}


def interpreted(name, call):
    """The same call as plain Python, where it can be: for tests of what functions answer, not of the compiler."""
    function = call.aggregate
    if name in TEXTS | LISTS or not isinstance(function, Aggregate) or function.finish or function.typed:
        return call
    return replace(call, aggregate=function.but(compiled=False))
