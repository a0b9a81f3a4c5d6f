"""The simulation finds mistakes that are planted, each within a few histories."""

import pytest

from simulation.history import History, Wrong
from simulation.mutations import MUTATIONS, merging_without_end, planted

WITHIN = 240  # histories


def found(mutation):
    """What the simulation says of Sash with a mistake."""
    with planted(mutation):
        for seed in range(WITHIN):
            try:
                History(seed).run()
            except Wrong as wrong:
                return str(wrong)
    return None


@pytest.mark.parametrize("mutation", MUTATIONS, ids=lambda each: each.__name__)
def test_a_mistake_is_found(mutation):
    assert found(mutation) is not None


def test_merging_that_never_ends_is_found_and_does_not_hang():
    assert "merged runs more than" in found(merging_without_end)
