"""One history: a seed decides the rows, batches, tasks, failures and restarts of a query, and the oracle is asked.

The rules are Spark's. Offsets and the watermark of a batch are logged before it runs; a stateful task works on the
version of its state that the batch before left, and what it wrote counts once it has committed; a batch that was
logged and not committed runs again after a restart; the watermark moves between batches, never back.
"""

import random
from collections import defaultdict
from copy import deepcopy
from datetime import datetime
from typing import Any, NamedTuple

import pyarrow as pa

from simulation import adapter
from simulation.boards import SCHEMA, planned
from simulation.oracle import difference, oracle_of
from simulation.rows import drawn_rows, width_of

FEW, FIRST, BOARDS = 24, 10_000, 1000  # boards of the first seeds, how many these are, and boards of all others
LARGE = 0.1  # how many histories are of many rows: most mistakes need few, and few are fast
EPOCH = datetime(1970, 1, 1)


class Wrong(AssertionError):
    """What the simulation found."""


class Killed(BaseException):
    """The end of an attempt; no code of Sash may catch it."""


class State(NamedTuple):
    """What a version of a label's state holds."""

    values: dict
    maps: dict
    timers: frozenset

    @staticmethod
    def none() -> "State":
        return State({}, {}, frozenset())


class Handle:
    """A task's view of its label's state; what it writes is seen by nobody until it commits."""

    def __init__(self, state: State, steps: int | None) -> None:
        self.values = dict(state.values)
        self.maps = defaultdict(dict, {name: dict(each) for name, each in state.maps.items()})
        self.timers = set(state.timers)
        self.steps = steps  # until it is killed

    def tick(self) -> None:
        if self.steps is not None:
            self.steps -= 1
            if self.steps < 0:
                raise Killed

    def state(self) -> State:
        return State(dict(self.values), dict(self.maps), frozenset(self.timers))

    def getValueState(self, name, schema, ttlDurationMs=None):
        return Value(self, name)

    def getMapState(self, name, key, value, ttlDurationMs=None):
        return Map(self, name)

    def registerTimer(self, moment):
        self.tick()
        self.timers.add(moment)

    def deleteTimer(self, moment):
        self.tick()
        self.timers.discard(moment)


class Value:
    def __init__(self, handle, name):
        self.handle, self.name = handle, name

    def exists(self):
        self.handle.tick()
        return self.name in self.handle.values

    def get(self):
        self.handle.tick()
        return self.handle.values.get(self.name)

    def update(self, value):
        self.handle.tick()
        self.handle.values[self.name] = value

    def clear(self):
        self.handle.tick()
        self.handle.values.pop(self.name, None)


class Map:
    def __init__(self, handle, name):
        self.handle, self.name = handle, name

    @property
    def content(self):
        self.handle.tick()
        return self.handle.maps[self.name]

    def containsKey(self, key):
        return key in self.content

    def getValue(self, key):
        return self.content.get(key)

    def updateValue(self, key, value):
        self.content[key] = value

    def removeKey(self, key):
        self.content.pop(key, None)

    def keys(self):
        return iter(list(self.content))

    def iterator(self):
        return iter(list(self.content.items()))


class Planned(NamedTuple):
    """A line of the offset log."""

    start: int
    stop: int
    moment: int  # of the watermark, in milliseconds


class History:
    """A query, from its first batch to its last."""

    planned, oracle_of = staticmethod(planned), staticmethod(oracle_of)

    def __init__(self, seed: int) -> None:
        self.seed = seed
        self.chance = chance = random.Random(seed)
        self.board = chance.randrange(FEW if seed < FIRST else BOARDS)  # a short run plans few
        self.config, self.ask, self.later = self.planned(self.board)
        self.width = width_of(chance, self.config)
        self.limits = adapter.drawn(chance, self.width)
        self.rows = drawn_rows(chance, self.config, self.width, chance.random() < LARGE)
        self.oracle = self.oracle_of(self.config)
        self.trace: list[str] = []
        self.faults = chance.choice([0, 0.1, 0.2, 0.4])  # how likely things go wrong
        self.workers: list[dict] = [{} for _ in range(chance.randint(1, 3))]
        self.offsets: dict[int, Planned] = {}
        self.commits: dict[int, int] = {}  # the watermark after each batch
        self.versions: dict[int, dict[int, State]] = defaultdict(lambda: {0: State.none()})  # by label
        self.sink: dict[int, tuple] = {}
        self.wanted: dict[int, Any] = {}  # by batch, what the oracle says
        self.moment = 0  # of the watermark, in milliseconds
        self.wrong = ""
        self.refused = False  # where a key did not fit memory
        self.adding = False  # whether queries are added with the next batch

    def run(self) -> None:
        """Run it to the end."""
        try:
            with adapter.simulated(self.chance, self.limits) as self.counted:
                while self.step():
                    pass
        except Wrong:
            raise
        except Exception as error:
            self.refused = adapter.is_too_large(error)
            if self.refused:
                return
            raise Wrong(f"{type(error).__name__}: {error}") from error

    # The driver

    def step(self) -> bool:
        """Run a batch, or die in it; False at the end."""
        number = len(self.commits)
        if number not in self.offsets:
            line = self.following(number)
            if line is None:
                return False
            self.offsets[number] = line
        try:
            self.may_die("after the offsets")
            self.batch(number, self.offsets[number])
        except Killed:
            self.restart(number)
        return True

    def following(self, number: int) -> Planned | None:
        """The next batch: some rows, or none where the watermark has moved."""
        last = self.offsets.get(number - 1, Planned(0, 0, 0))
        left = len(self.rows) - last.stop
        if self.moment > last.moment and (not left or self.chance.random() < 0.3):
            return Planned(last.stop, last.stop, self.moment)
        if not left:
            return None
        most = self.chance.choice([1, 4, 10, left, left, left])
        return Planned(
            last.stop, last.stop + min(self.chance.randint(0 if number else 1, most) or 1, left), self.moment
        )

    def may_die(self, where: str) -> None:
        if self.chance.random() < self.faults / 4:
            self.note(f"driver dies {where}")
            raise Killed

    def restart(self, number: int) -> None:
        """Come up again: with the watermark that was logged, and workers that are new or old."""
        if number in self.commits:
            number += 1
        self.moment = self.commits.get(number - 1, 0)
        if self.chance.random() < 0.5:
            self.workers = [{} for _ in self.workers]
        if self.later is not None and self.chance.random() < 0.8:
            self.note(f"queries are added before batch {number}")
            self.ask, self.later, self.adding = self.later, None, True
            if number in self.wanted:
                del self.wanted[number]
                self.oracle = self.before

    def batch(self, number: int, line: Planned) -> None:
        """Run a batch as it was logged."""
        rows = self.rows[line.start : line.stop]
        self.note(f"batch {number}: rows {line.start} to {line.stop}, watermark {line.moment}")
        came = self.mapped(rows) if rows else None
        labels = list(self.ask.labels)
        self.chance.shuffle(labels)
        found: list[tuple] = []
        for label in labels:
            before = self.versions[label][number]
            if came is None and not any(timer <= line.moment for timer in before.timers):
                self.versions[label][number + 1] = before
                continue
            state, outputs = self.task(label, None if came is None else came[label], line.moment, before)
            self.versions[label][number + 1] = state
            found.append(outputs)
            self.may_die("between tasks")
        self.may_die("before the sink")
        self.checked(number, line, rows, found)
        if number not in self.sink or self.chance.random() < 0.5:
            self.sink[number] = tuple(found)
        self.may_die("before the commit")
        after = [row["ts"] // 1000 for row in rows if row["ts"] is not None]
        delay = -(-self.config.delay // 1000)
        self.moment = max([line.moment, *(each - delay for each in after)])
        self.commits[number] = self.moment
        for versions in self.versions.values():
            versions.pop(number - 1, None)
        self.may_die("after the commit")

    # Its tasks

    def mapped(self, rows: list[dict]) -> dict[int, list]:
        """What the tasks of a batch send to each label."""
        chance = self.chance
        parts: list[list] = [[] for _ in range(chance.randint(1, 3))]
        for row in rows:
            chance.choice(parts).append(row)
        sent = defaultdict(list)
        for task, part in enumerate(parts):
            table = as_table(part, self.ask.names)
            batches = table.to_batches(max_chunksize=chance.choice([1, 3, 1000]))
            if chance.random() < self.faults / 4:  # an attempt that is lost
                for _ in zip(range(chance.randint(0, 2)), adapter.fold(self.ask, task, batches), strict=False):
                    pass
            for label, body in adapter.fold(self.ask, task, batches):
                sent[label].append(body)
        for label in self.ask.labels:
            if not sent[label]:
                raise Wrong(f"no task of the batch told label {label} of it")
        return sent

    def task(self, label: int, came: list | None, moment: int, before: State) -> tuple[State, tuple]:
        """A stateful task, tried until an attempt commits."""
        chance = self.chance
        for trial in range(100):
            worker = chance.randrange(len(self.workers))
            if chance.random() < self.faults / 2:
                self.workers[worker] = {}  # a new process
            fails = trial < 4 and chance.random() < self.faults
            steps = chance.randint(0, 12) if fails and chance.random() < 0.7 else None
            outputs = chance.randint(0, 4) if fails and steps is None else None
            adapter.remember(self.workers[worker])
            handle = Handle(before, steps)
            frames = None if came is None else parted(chance, came)
            self.counted.merges = 0
            given = []
            attempt = adapter.work(self.ask, label, frames, moment, handle)
            try:
                for each in attempt:
                    given.append(each)
                    if outputs is not None and len(given) > outputs:
                        break
            except Killed:
                pass
            attempt.close()
            if came is None:  # Spark lets go of a timer that has fired
                handle.timers -= {timer for timer in before.timers if timer <= moment}
            self.note(f"  {label} on {worker}: {len(given)} given{' and lost' if fails else ''}")
            if fails or (trial < 4 and chance.random() < self.faults / 3):  # or another was as fast
                continue
            if any(timer <= moment for timer in handle.timers):
                raise Wrong(f"a timer of label {label} is due at once: {sorted(handle.timers)} at {moment}")
            state = handle.state()
            seen = {name: sum(each[name] for each, _ in given) for name in given[0][0]}
            kept = sum(len(part) for value in state.values.values() for part in value)
            kept += sum(len(part) for each in state.maps.values() for value in each.values() for part in value)
            if kept != seen["size"]:
                raise Wrong(f"label {label} keeps {kept} bytes, and says {seen['size']}")
            return state, (seen, [body for _, body in given if body is not None])
        raise AssertionError

    # What comes of it

    def checked(self, number: int, line: Planned, rows: list[dict], found: list[tuple]) -> None:
        """Compare what a batch gives with what it must."""
        if number not in self.wanted:
            if self.later is not None:
                self.before = deepcopy(self.oracle)
            if self.adding:
                self.oracle.added(line.moment, number == 0)
                self.adding = False
            self.wanted[number] = self.oracle.batch(rows, line.moment)
        wanted = self.wanted[number]
        given = [row for _, bodies in found for row in adapter.read(self.ask, bodies)]
        aside = [row["late"] for row in given if row.get("late") is not None]
        answers = [self.answer_of(row) for row in given if row.get("late") is None]
        where = f"batch {number} of board {self.board} "
        if wrong := difference(wanted, answers):
            raise Wrong(where + wrong)
        told = sum(seen["answers"] for seen, _ in found)
        if told != len(answers):
            raise Wrong(where + f"gave {len(answers)} answers, and told an observer of {told}")
        late = sum(seen["late"] for seen, _ in found)
        if not len(wanted.late) <= late <= len(wanted.late) + len(wanted.unsure):
            raise Wrong(where + f"counted {late} late rows, not {len(wanted.late)}")
        if self.config.late:
            shown = {each["row"]["id"]: each["reason"].strip("`").split()[0].strip("`:") for each in aside}
            known = {row: why for row, why in shown.items() if row not in wanted.unsure}
            if len(shown) != len(aside) or known != wanted.late or not set(shown) - set(known) <= wanted.unsure:
                raise Wrong(where + f"shows late rows {shown}, not {wanted.late}")

    def answer_of(self, row: dict) -> tuple:
        """The key and the end of an answer, and the answer."""
        end = row.pop("window_end")
        key = row.pop("k") if self.config.keyed else None
        row.pop("late", None)
        return key, microseconds(end), row

    def note(self, words: str) -> None:
        self.trace.append(words)


def parted(chance: random.Random, rows: list) -> list[list]:
    """Rows as Spark cuts them into frames; they come in any order."""
    rows, size = chance.sample(rows, len(rows)), chance.choice([1, 2, 1000])
    return [rows[at : at + size] for at in range(0, len(rows), size)]


def as_table(rows: list[dict], names: tuple[str, ...]) -> pa.Table:
    columns = []
    for name in names:
        values, kind = [row[name] for row in rows], SCHEMA.field(name).type
        columns.append(
            pa.array(values, pa.int64()).cast(kind) if pa.types.is_timestamp(kind) else pa.array(values, kind)
        )
    return pa.table(columns, list(names)) if names else pa.table({"c0": [True] * len(rows)})


def microseconds(moment) -> int:
    if isinstance(moment, int):
        return moment
    since = moment - EPOCH
    return (since.days * 86400 + since.seconds) * 10**6 + since.microseconds
