"""When a claim's shape holds: the thresholds of all experiments, written once."""

from __future__ import annotations

GAIN = 0.5  # of the paper's gain, what is above 1, that must be there
ALIKE = 0.05  # what differs by less is taken for the same

WORDS = (
    f"A factor holds where at least {GAIN:.0%} of the paper's gain is there, and what is within {ALIKE:.0%} is taken "
    "for the same. What is below the clock's resolution is not judged."
)


def gained(ratio: float, paper: float) -> bool:
    """Whether enough of the paper's gain is there.

    >>> gained(1.8, paper=2.5), gained(1.7, paper=2.5)
    (True, False)
    """
    return ratio - 1 >= (paper - 1) * GAIN


def alike(one: float, other: float) -> bool:
    """Whether two values are taken for the same."""
    return abs(one / other - 1) <= ALIKE


def below(one: float, other: float, resolution: float = 0.0) -> bool | None:
    """Whether one value is below another; None where they are alike, or closer than what measured them can tell.

    >>> below(1.0, 2.0), below(1.0, 1.02), below(1.0, 2.0, resolution=5.0)
    (True, None, None)
    """
    return None if alike(one, other) or abs(one - other) < resolution else one < other
