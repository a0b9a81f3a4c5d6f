"""Functions of all values of a frame: quantiles, the deviation from the median, and how often values occur."""

from __future__ import annotations

from typing import Any

from sash.algebra.catalogue.declaring import COL, CONSTANT, EACH, SHARE, UNUSED, Function, Parameter, Synonym, always
from sash.algebra.window_function import Deviation, Entropy, Mode, QuantileFunction
from sash.errors import SashError


def percentile_disc(percentage: Any = None) -> QuantileFunction:
    """The first value at or below which a share of the rows lies."""
    return _quantile("percentile_disc", percentage, discrete=True)


def percentile_cont(percentage: Any = None) -> QuantileFunction:
    """The value below which a share of the rows lies."""
    return _quantile("percentile_cont", percentage)


def percentile(percentage: Any = None, frequency: Any = 1) -> QuantileFunction:
    """The value below which a share of the rows lies: Spark's name."""
    if frequency != 1:
        raise SashError(f"frequency must be 1: weights are not supported, got {frequency!r}")
    return _quantile("percentile", percentage)


def _quantile(name: str, percentage: Any, **more: Any) -> QuantileFunction:
    """A quantile at a share, or at several; at none where a column has the shares."""
    for share in percentage if isinstance(percentage, tuple) else () if percentage is None else (percentage,):
        if isinstance(share, bool) or not isinstance(share, (int, float)) or not 0 <= share <= 1:
            raise SashError(f"percentage must be between 0 and 1, got {share!r}")
    return QuantileFunction(name, () if percentage is None else (percentage,), **more)


_QUANTILES = "Quantiles and modes"
_SHARE = Parameter("percentage", SHARE, type="Any", words="the percentage", example=0.25)

FUNCTIONS = (
    Function(
        "percentile_disc",
        percentile_disc,
        (COL, _SHARE),
        "The first value at or below which a share of the rows lies.",
        ("percentile_disc(0.25) within group (order by price)", "percentile_disc(0.25, order by price)",
         "quantile_disc(price, 0.25)"),
        _QUANTILES,
        by_order=True,
        synonyms=(Synonym("quantile"), Synonym("quantile_disc")),
        stands_for={"percentile_approx": ", which is exact", "approx_percentile": ", which is exact"},
    ),
    Function(
        "percentile_cont",
        percentile_cont,
        (COL, _SHARE),
        "The value below which a share of the rows lies, between two of them if need be.",
        ("percentile_cont(0.25) within group (order by price)", "percentile_cont(0.25 order by price desc)",
         "quantile_cont(price, 0.25)"),
        _QUANTILES,
        by_order=True,
        synonyms=(Synonym("quantile_cont"),),
    ),
    Function(
        "percentile",
        percentile,
        (COL, _SHARE, Parameter("frequency", CONSTANT, 1, "int", "the frequency")),
        "The value below which a share of the rows lies: another name of ``percentile_cont``.",
        ("percentile(price, 0.25)",),
        _QUANTILES,
        by_order=True,
    ),
    Function(
        "median",
        always(QuantileFunction("median")),
        EACH,
        "The value in the middle, or the mean of the two.",
        ("median(price)", "median(price + qty)"),
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
