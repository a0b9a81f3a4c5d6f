"""Any history of columns beside the rows of a stream on Spark gives each row once, with the answers of its frames."""

from unittest.mock import patch

import pytest

from sash.engine.row_streams.logged_rows import LoggedRows
from sash.engine.row_streams.past import Past
from sash.engine.row_streams.row_log import ContextLog, RowLog
from simulation.row_histories import RowHistory
from simulation.running import run

SEEDS = range(40)


def test_histories_by_their_seeds():
    histories = [run(seed, RowHistory) for seed in SEEDS]
    found = [history.wrong for history in histories if history.wrong]
    assert not found, "\n\n".join(found)
    assert sum(history.refused for history in histories) <= len(histories) // 10 + 1  # keys that do not fit memory


@pytest.mark.long
def test_many_histories():
    found = [history.wrong for seed in range(10_000, 14_000) if (history := run(seed, RowHistory)).wrong]
    assert not found, "\n\n".join(found[:5])


def lapse_too_early():
    """A run goes while frames still reach its rows, or before these have left."""
    right = RowLog.lapses
    return patch.object(RowLog, "lapses", lambda self, entry: right(self, entry) - 3000)


def nothing_left():
    """Rows that have left are at hand, and not written."""
    return patch.object(LoggedRows, "left", lambda self: {})


def merged_without_context():
    """Merging forgets the rows that have left."""
    return patch.object(ContextLog, "condensed", lambda self, entries: entries[-1])


def partials_written_as_they_were():
    """What is known of rows out of reach is not written."""
    right = Past.parts

    def mistaken(self, name):
        for part, value in right(self, name):
            yield part, (value * 0 if part.split(" ")[-2] == "some" else value)

    return patch.object(Past, "parts", mistaken)


@pytest.mark.parametrize(
    "mutation", [lapse_too_early, nothing_left, merged_without_context, partials_written_as_they_were]
)
def test_a_mistake_is_found(mutation):
    with mutation():
        assert any(run(seed, RowHistory).wrong for seed in range(240))
