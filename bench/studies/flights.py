"""Aircraft in the air by airport, every 5 minutes over 15: a year of real flights, from table to table."""

from __future__ import annotations

from examples.aircraft import flown

import sash
from sash import functions as sf

TITLE = "Events that last: a year of flights"


def run(bench):
    flights = flown()
    board = sash.stream(flights, span=("left", "landed"), key="origin")
    board = board.query("up", sf.count(), range="15 minutes", slide="5 minutes")
    took = bench.measure({"aircraft in the air": board.results})["aircraft in the air"].median
    line = [flights.num_rows, board.results().num_rows, took * 1e3]
    bench.table("aircraft in the air, windows of 15 minutes every 5", ["flights", "answers", "milliseconds"], [line])
