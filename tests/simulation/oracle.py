"""What a query must give, batch by batch, from all rows and where the watermark was: windows in plain Python lists."""

from collections import defaultdict
from typing import NamedTuple

from engine.streams import test_session_revisions as session_oracle
from engine.streams.stream_oracle import same
from simulation import spans_oracle
from simulation.boards import Config, Question


class Wanted(NamedTuple):
    """What a batch must give."""

    answers: list[tuple]  # key, end, and what each query answers, by name
    late: dict[int, str]  # the rows that are set aside, by id, with the first word of the reason
    unsure: frozenset  # rows that may be late: for windows of queries that were added, about when they were
    optional: frozenset  # keys and ends of which there may be no row, for the same reason


class Maybe(NamedTuple):
    """An answer that may be NULL: of a query that was added, about when its window began."""

    value: object


class Oracle:
    """The rows of every window that is open, and what was told of them."""

    def __init__(self, config: Config) -> None:
        self.config, self.questions = config, config.questions
        self.watermark: int | None = None
        self.last: dict = {}  # the last answer of a key's query, for changes
        self.told: dict = {}  # the answers of open windows that were given, for updates
        self.latest = -(2**62)
        self.since: dict[str, tuple[int, int]] = {}  # from where on an added query may answer, and must
        self.optional: set = set()

    def added(self, moment: int, first: bool) -> None:
        """The queries that are added come with the next batch, whose watermark is at a moment."""
        least = moment * 1000 + self.config.delay if moment > 0 else self.config.delay
        if not first:
            for each in self.config.added:
                self.since[each.name] = least, max(least + 1000, self.latest + 1)
        self.questions = self.config.questions + self.config.added

    def batch(self, rows: list[dict], moment: int) -> Wanted:
        """What a batch gives, with the watermark at a moment, in milliseconds."""
        late, unsure = {}, set()
        self.optional = set()
        for row in rows:
            why = self.wrong(row)
            if why is None:
                why = self.take(row)
                self.latest = max(self.latest, row["ts"])
            if why == "unsure":
                unsure.add(row["id"])
            elif why is not None:
                late[row["id"]] = why
        if moment > 0 and (self.watermark is None or moment * 1000 > self.watermark):
            self.watermark = moment * 1000
        late |= self.passed()
        return Wanted(self.emitted(), late, frozenset(unsure), frozenset(self.optional))

    def wrong(self, row: dict) -> str | None:
        return "ts" if row["ts"] is None else None

    def take(self, row: dict) -> str | None:
        """Take a row; gives why it is set aside, if it is."""
        raise NotImplementedError

    def passed(self) -> dict:
        """Have rows take their places that waited for the watermark; gives those that are set aside then."""
        return {}

    def ended(self) -> dict:
        """The answers of windows that have ended, by key and end, with the queries that are due; once."""
        raise NotImplementedError

    def open(self) -> dict:
        """The answers of windows that are open."""
        raise NotImplementedError

    def emitted(self) -> list[tuple]:
        ended = self.ended()
        if self.config.emit == "final":
            return [(key, end, row) for (key, end, *_), (row, _) in ended.items()]
        found = []
        if self.config.emit == "changes":
            for (key, end, *_), (row, due) in ended.items():
                differs = [(key, name) not in self.last or not same(self.last[key, name], row[name]) for name in due]
                self.last.update({(key, name): row[name] for name in due})
                if any(differs):
                    found.append((key, end, row))
            return found
        told, self.told = self.told, {}
        for each, final in ((ended, True), (self.open(), False)):
            for where, (row, _) in each.items():
                if where not in told or any(not same(told[where][name], row[name]) for name in row):
                    found.append((*where[:2], row))
                if not final:
                    self.told[where] = row
        return found


class Windows(Oracle):
    """Windows by time, of events that have one moment, or last."""

    def __init__(self, config: Config) -> None:
        super().__init__(config)
        self.held: dict = {}  # by key and end, then by extent
        self.spans = config.kind == "spans"

    @property
    def upto(self) -> int | None:
        if self.watermark is None or not self.spans:
            return self.watermark
        return self.watermark - self.config.postpone

    def wrong(self, row):
        if not self.spans:
            return super().wrong(row)
        for name, words in (("start", "start"), ("ts", "ts")):
            if row[name] is None:
                return words
        return "ts" if row["ts"] < row["start"] else None

    def take(self, row):
        first, last = (spans_oracle.first_of(row), spans_oracle.last_of(row)) if self.spans else (row["ts"], row["ts"])
        extents = {}
        for each in self.questions:
            extents.setdefault((each.length, each.slide), []).append(self.since.get(each.name, (None, None)))
        late, unsure = False, False
        for (length, slide), since in extents.items():
            start = first - length + 1
            start += (self.config.offset - start) % slide
            while start <= last:
                if self.upto is None or start + length > self.upto:
                    place = self.held.setdefault((row["k"], start + length), {})
                    place.setdefault((length, slide), []).append(row)
                elif any(least is None or start >= most for least, most in since):
                    late = True
                elif any(start >= least for least, _ in since):
                    unsure = True
                start += slide
        return "late" if late else "unsure" if unsure else None

    def _sure(self, each: Question, end: int) -> bool | None:
        """Whether a query surely answers a window; None where nobody can tell."""
        least, most = self.since.get(each.name, (None, None))
        start = end - each.length
        return True if least is None or start >= most else None if start >= least else False

    def _answers(self, where) -> tuple[dict, list]:
        end = where[1]
        row, due = {}, []
        for each in self.questions:
            row[each.name] = None
            if (end - each.length - self.config.offset) % each.slide == 0:
                due.append(each.name)
                sure = self._sure(each, end)
                if sure is not False:
                    answer = self._answer(each, end, self.held[where].get((each.length, each.slide), []))
                    row[each.name] = answer if sure else Maybe(answer)
        return row, due

    def _answer(self, each: Question, end: int, rows: list):
        function = self.config.answer[each.aggregate]
        if self.spans:
            return function(rows, end - each.length, end)
        return function(sorted(rows, key=lambda row: row["ts"]))

    def _there(self, where) -> bool:
        """Whether there is a row of answers; one that may be missing is noted."""
        sure = [self._sure(each, where[1]) for each in self.questions if (each.length, each.slide) in self.held[where]]
        if True not in sure and None in sure:
            self.optional.add(where)
        return True in sure or None in sure

    def ended(self):
        upto = self.upto
        gone = sorted((where for where in self.held if upto is not None and where[1] <= upto), key=lambda each: each[1])
        found = {where: self._answers(where) for where in gone if not self.since or self._there(where)}
        for where in gone:
            del self.held[where]
        return found

    def open(self):
        return {where: self._answers(where) for where in list(self.held)}


class Revised(Oracle):
    """Sessions, and windows that are given again: of what each batch gives, all rows so far decide."""

    def __init__(self, config: Config) -> None:
        super().__init__(config)
        queries = {each.name: (each.aggregate, ("time", each.length, each.slide) if each.slide else each.length)
                   for each in config.questions}  # fmt: skip
        self.windows = session_oracle.Oracle(queries, config.stay or 0, config.answer)

    def batch(self, rows: list[dict], moment: int) -> Wanted:
        late = {row["id"]: "ts" for row in rows if row["ts"] is None}
        before = self.watermark
        if moment > 0 and (before is None or moment * 1000 > before):
            self.watermark = moment * 1000
        given = self.windows.push([row for row in rows if row["ts"] is not None], before, self.watermark)
        late |= {row["id"]: "late" for row in self.windows.last_late}
        revised = self.config.stay is not None
        answers = [(*where, row | ({"revision": number} if revised else {}))
                   for where, (number, row, _) in given.items()]  # fmt: skip
        return Wanted(answers, late, frozenset(), frozenset())


class InOrder(Oracle):
    """Windows of rows that wait for the watermark, to be taken in the order of time."""

    def __init__(self, config: Config) -> None:
        super().__init__(config)
        self.waiting: list = []
        self.rows: dict = defaultdict(list)  # of each key, all of them
        self.fresh: list = []  # key and number of rows taken now
        self.answered: dict = {}

    def take(self, row):
        if self.watermark is not None and row["ts"] < self.watermark:
            return "late"
        self.waiting.append(row)
        return None

    def passed(self):
        self.fresh = []
        if self.watermark is None:
            return {}
        ready = sorted((row for row in self.waiting if row["ts"] < self.watermark), key=lambda row: row["ts"])
        self.waiting = [row for row in self.waiting if row["ts"] >= self.watermark]
        return {row["id"]: "d" for row in ready if not self.placed(row)}

    def placed(self, row) -> bool:
        """Give a row its place, where it has one."""
        self.rows[row["k"]].append(row)
        self.fresh.append((row["k"], len(self.rows[row["k"]])))
        return True

    def answer(self, each: Question, rows: list):
        return self.config.answer[each.aggregate](rows)


class Counts(InOrder):
    def _answers(self, key, end):
        due = [each for each in self.questions if end % each.slide == 0]
        rows = self.rows[key]
        row = {each.name: self.answer(each, rows[max(end - each.length, 0) : end]) if each in due else None
               for each in self.questions}  # fmt: skip
        return row, [each.name for each in due]

    def ended(self):
        return {(key, end): found for key, end in self.fresh if (found := self._answers(key, end))[1]}

    def open(self):
        found = {}
        for key, rows in self.rows.items():
            for each in self.questions:
                end = (len(rows) // each.slide + 1) * each.slide
                while end - each.length < len(rows):
                    found[key, end] = self._answers(key, end)
                    end += each.slide
        return found


class Deltas(InOrder):
    def placed(self, row):
        before = self.rows[row["k"]]
        if row["d"] is None or (before and row["d"] < before[-1]["d"]):
            return False
        return super().placed(row)

    def ended(self):
        found, each = {}, self.questions[0]
        for key, end in self.fresh:
            rows = self.rows[key][:end]
            value = rows[-1]["d"]
            if key in self.answered and value - self.answered[key] < each.slide:
                continue
            self.answered[key] = value
            inside = [row for row in rows if value - row["d"] <= each.length]
            found[key, value, end] = (
                {each.name: self.answer(each, inside) for each in self.questions},
                [each.name for each in self.questions],
            )
        return found


class Punctuations(InOrder):
    def ended(self):
        found = {}
        for key, end in self.fresh:
            rows = self.rows[key][:end]
            if rows[-1]["v"] is None or rows[-1]["v"] <= 2:
                continue
            inside, self.answered[key] = rows[self.answered.get(key, 0) :], end
            answers = {each.name: self.answer(each, inside) for each in self.questions}
            found[key, rows[-1]["ts"], end] = answers, list(answers)
        return found


def oracle_of(config: Config) -> Oracle:
    kinds = {
        "session": Revised,
        "time": Windows,
        "spans": Windows,
        "count": Counts,
        "delta": Deltas,
        "punctuation": Punctuations,
    }
    return kinds[config.kind](config)


def difference(wanted: Wanted, found: list[tuple]) -> str | None:
    """What is wrong with the answers of a batch, if something is."""
    mine, theirs = defaultdict(list), defaultdict(list)
    for key, end, row in found:
        mine[key, end].append(row)
    for key, end, row in wanted.answers:
        theirs[key, end].append(row)
    for where in [*theirs, *(each for each in mine if each not in theirs)]:
        got, want = mine.get(where, []), list(theirs.get(where, []))
        if not got and where in wanted.optional:
            continue
        if len(got) != len(want):
            return f"{where} has {_short(got)}, not {_short(want)}"
        for row in got:
            alike = next((k for k, other in enumerate(want) if _alike(row, other)), None)
            if alike is None:
                return f"{where} is {_short(row)}, not {_short(want)}"
            del want[alike]
    return None


def _alike(row, other) -> bool:
    return all(
        row[name] is None or same(row[name], value.value) if isinstance(value, Maybe) else same(row[name], value)
        for name, value in other.items()
    )


def _short(value) -> str:
    text = str(value)
    return text if len(text) < 300 else f"{text[:300]}…"
