"""The simulation finds mistakes that are planted, each within a few histories."""

import pytest

from simulation.boards import config
from simulation.boards import planned as planned_board
from simulation.history import History, Wrong
from simulation.mutations import (
    MUTATIONS,
    ends_that_are_no_more_not_told,
    merges_not_written,
    merging_without_end,
    planted,
)

WITHIN = 240  # histories
SESSIONS = [number for number in range(1, 150, 5) if (board := config(number)).kind == "session" and board.delay <= 3000
            and not all(each.slide for each in board.questions)][:10]  # fmt: skip


class SessionHistory(History):
    """One of few boards, all of sessions."""

    planned = staticmethod(lambda number: planned_board(SESSIONS[number % len(SESSIONS)]))


def found(mutation, of=History, within=WITHIN):
    """What the simulation says of Sash with a mistake."""
    with planted(mutation):
        for seed in range(within):
            try:
                of(seed).run()
            except Wrong as wrong:
                return str(wrong)
    return None


@pytest.mark.parametrize("mutation", MUTATIONS, ids=lambda each: each.__name__)
def test_a_mistake_is_found(mutation):
    assert found(mutation) is not None


@pytest.mark.parametrize(
    "mutation", [ends_that_are_no_more_not_told, pytest.param(merges_not_written, marks=pytest.mark.long)]
)
def test_a_mistake_with_sessions_is_found(mutation):
    assert found(mutation, SessionHistory, 4 * WITHIN) is not None


def test_merging_that_never_ends_is_found_and_does_not_hang():
    assert "merged runs more than" in found(merging_without_end)
