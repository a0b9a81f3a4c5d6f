"""Functions of all values of a frame: quantiles, the deviation from the median, and how often values occur."""

from __future__ import annotations

from typing import Any

from sash.algebra.catalogue.declaring import (
    COL,
    EACH,
    FREQUENCY,
    OPTIONAL,
    SHARE,
    UNUSED,
    Function,
    Parameter,
    Synonym,
    always,
)
from sash.algebra.window_function import Deviation, Entropy, Mode, QuantileFunction
from sash.errors import SashError


def percentile_disc(percentage: Any = None, weighted: bool = False) -> QuantileFunction:
    """The first value at or below which a share of the rows lies."""
    return _quantile("percentile_disc", percentage, weighted, discrete=True)


def percentile_cont(percentage: Any = None, weighted: bool = False) -> QuantileFunction:
    """The value below which a share of the rows lies."""
    return _quantile("percentile_cont", percentage, weighted)


def percentile(percentage: Any = None, weighted: bool = False) -> QuantileFunction:
    """The value below which a share of the rows lies: Spark's name."""
    return _quantile("percentile", percentage, weighted)


def median(weighted: bool = False) -> QuantileFunction:
    """The value in the middle."""
    return QuantileFunction("median", weighted=weighted, any_order=True)


def _quantile(name: str, percentage: Any, weighted: bool, **more: Any) -> QuantileFunction:
    """A quantile at a share, or at several; at none where a column has the shares."""
    for share in percentage if isinstance(percentage, tuple) else () if percentage is None else (percentage,):
        if isinstance(share, bool) or not isinstance(share, (int, float)) or not 0 <= share <= 1:
            raise SashError(f"percentage must be between 0 and 1, got {share!r}")
    return QuantileFunction(name, () if percentage is None else (percentage,), weighted=weighted, **more)


_QUANTILES = "Quantiles and modes"
_SHARE = Parameter("percentage", SHARE, type="Any", words="the percentage", example=0.25)
_WEIGHT = Parameter("weight", OPTIONAL, None, "Column | None")
_AS_OFTEN = "\n\nWith a ``weight``, a whole number of at least 0, a row counts as if it came so many times."

FUNCTIONS = (
    Function(
        "percentile_disc",
        percentile_disc,
        (COL, _SHARE, _WEIGHT),
        "The first value at or below which a share of the rows lies."
        "\n\nWith a ``weight``, a number of at least 0, it is a share of the weight of all rows.",
        ("percentile_disc(0.25) within group (order by price)", "percentile_disc(0.25, order by price)",
         "quantile_disc(price, 0.25)", "percentile_disc(price, 0.25, qty)"),
        _QUANTILES,
        by_order=True,
        synonyms=(Synonym("quantile"), Synonym("quantile_disc")),
        stands_for={"percentile_approx": ", which is exact", "approx_percentile": ", which is exact"},
    ),
    Function(
        "percentile_cont",
        percentile_cont,
        (COL, _SHARE, _WEIGHT),
        "The value below which a share of the rows lies, between two of them if need be." + _AS_OFTEN,
        ("percentile_cont(0.25) within group (order by price)", "percentile_cont(0.25 order by price desc)",
         "quantile_cont(price, 0.25)", "percentile_cont(price, 0.25, qty)"),
        _QUANTILES,
        by_order=True,
        synonyms=(Synonym("quantile_cont"),),
    ),
    Function(
        "percentile",
        percentile,
        (COL, _SHARE, Parameter("frequency", FREQUENCY, 1, "Column | int", "the frequency")),
        "The value below which a share of the rows lies: another name of ``percentile_cont``.\n\n"
        "With a ``frequency``, a whole number of at least 0, a row counts as if it came so many times.",
        ("percentile(price, 0.25)", "percentile(price, 0.25, qty)"),
        _QUANTILES,
        by_order=True,
    ),
    Function(
        "median",
        median,
        (COL, _WEIGHT),
        "The value in the middle, or of two the mean; where values are no numbers, the first of them." + _AS_OFTEN,
        ("median(price)", "median(price + qty)", "median(price, qty)"),
        _QUANTILES,
        by_order=True,
    ),
    Function("mad", always(Deviation("mad")), EACH, "The median distance from the median.", ("mad(price)",), "Spread"),
    Function(
        "mode",
        always(Mode("mode")),
        (COL, Parameter("deterministic", UNUSED, True, "bool")),
        "The value that occurs most often; of several the smallest.",
        ("mode(sym)", "mode() within group (order by sym)"),
        _QUANTILES,
        by_order=True,
    ),
    Function(
        "entropy", always(Entropy("entropy")), EACH, "The entropy of the values, in bits.", ("entropy(sym)",), "Spread"
    ),
)  # fmt: skip
