"""Histories of columns beside the rows of a stream: the same faults, and an oracle of lists for each row's frame."""

import random
from functools import cache

from sash import Window
from sash.engine.row_streams.row_scheme import EARLY, RowScheme
from sash.windows.intervals import Interval
from simulation import adapter
from simulation.boards import HELD, MOST, PARTIALS, SCHEMA, WORDS, Config, Question
from simulation.history import History, microseconds
from simulation.oracle import Oracle

RANGE, ROWS, ALL = "range", "rows", "all"  # frames by time, of the last rows, and from the first row on


def config(number: int) -> Config:
    """What is asked of rows, by a number; ``slide`` of a question is how far its frame follows the row."""
    chance = random.Random(number)
    emit = chance.choice(["final", "final", EARLY])
    keyed = chance.random() < 0.85
    questions = []
    for k in range(chance.choice([1, 1, 2, 2, 3])):
        frame = chance.choice([RANGE, RANGE, RANGE, ROWS, ALL])
        name = chance.choice(PARTIALS if frame == ALL else PARTIALS + HELD)
        follows = chance.choice([0, 0, 0, 1000, 4000]) if frame == RANGE else 0
        length = chance.randint(0, 5) if frame == ROWS else chance.choice([0, 500, 3000, 12_000])
        questions.append(Question(f"{frame} {k}", name, length, follows))
    return Config(
        kind="rows", keyed=keyed, delay=chance.choice([0, 1, 2500, 3000, 10_000, 30_000]), offset=0, emit=emit,
        late=chance.random() < 0.5, shards=chance.choice([1, 1, 1, 2, 3]) if keyed else 1, ties=False, slicer=None,
        postpone=0, questions=tuple(questions), added=(),
    )  # fmt: skip


def window_of(config: Config, each: Question):
    """The window of a question, whose name says of what kind it is."""
    window = (Window.partitionBy("k") if config.keyed else Window).orderBy("ts")
    if each.name.startswith(ROWS):
        return window.rowsBetween(-each.length, 0)
    if each.name.startswith(ALL):
        return window.rangeBetween(Window.unboundedPreceding, 0)
    return window.rangeBetween(f"-{each.length} microseconds", f"{each.slide} microseconds")


@cache
def planned(number: int) -> tuple[Config, adapter.Asked, None]:
    """Columns beside rows; none are ever added."""
    whole = config(number)
    columns = {each.name: MOST[each.aggregate].over(window_of(whole, each)) for each in whole.questions}
    scheme = RowScheme(SCHEMA, columns, Interval(0, 0, whole.delay), whole.emit)
    return whole, adapter.asked_beside(scheme, whole.late, whole.shards), None


class RowsOracle(Oracle):
    """All rows that were not late; each leaves once, with what is in its frames."""

    def __init__(self, config: Config) -> None:
        super().__init__(config)
        self.follows = max(each.slide for each in self.questions)
        self.waiting: list = []
        self.rows: dict = {}  # by key, in the order of time

    def take(self, row):
        if self.watermark is not None and row["ts"] < self.watermark:
            return "late"
        self.waiting.append(row)
        key = row["k"] if self.config.keyed else None
        self.rows[key] = sorted([*self.rows.get(key, []), row], key=lambda each: each["ts"])
        return None

    def emitted(self):
        if self.config.emit == EARLY:
            ready, self.waiting = self.waiting, []
        else:
            upto = -(2**62) if self.watermark is None else self.watermark - self.follows
            ready = [row for row in self.waiting if row["ts"] < upto]
            self.waiting = [row for row in self.waiting if row["ts"] >= upto]
        return [(row["k"], row["ts"], self.answered(row)) for row in ready]

    def answered(self, row) -> dict:
        """A row with its answers."""
        rows = self.rows[row["k"] if self.config.keyed else None]
        return row | {each.name: WORDS[each.aggregate](self.frame(each, row, rows)) for each in self.questions}

    def frame(self, each: Question, row, rows: list) -> list:
        """The rows of a frame."""
        if each.name.startswith(ROWS):
            here = [other for other in rows if other["ts"] <= row["ts"]]
            return here[-each.length - 1 :]
        least = -(2**62) if each.name.startswith(ALL) else row["ts"] - each.length
        return [other for other in rows if least <= other["ts"] <= row["ts"] + each.slide]


class RowHistory(History):
    """Columns beside rows, from the first batch to the last."""

    planned, oracle_of = staticmethod(planned), staticmethod(RowsOracle)

    def answer_of(self, row: dict) -> tuple:
        """The key and the time of a row, and all that it has."""
        row.pop("late", None)
        moments = {name: None if row[name] is None else microseconds(row[name]) for name in ("ts", "start")}
        return row["k"], moments["ts"], row | moments
