"""Boards that histories are of: each number makes one, so that boards are planned once for many histories."""

import random
from dataclasses import dataclass, replace
from functools import cache

import pyarrow as pa

import sash
from engine.streams.stream_oracle import ANSWERS, known
from engine.streams.test_windows import CALLS
from sash import functions as sf
from sash.engine.streams.history import continued, described
from simulation import adapter, spans_oracle

SCHEMA = pa.schema({
    "ts": pa.timestamp("us"), "k": pa.string(), "v": pa.int64(), "w": pa.string(), "d": pa.int64(), "id": pa.int64(),
    "start": pa.timestamp("us"),
})  # fmt: skip
MOST = {**CALLS, "texts": sf.collect_list("w")}
WORDS = {**ANSWERS, "texts": lambda rows: known(rows, "w")}
PARTIALS = ("count", "count_v", "sum", "avg", "max", "stddev", "positive", "digits")
NAMED = ("sum", "max", "positive", "count", "avg", "count_v")  # also asked for by the name of an algorithm
HELD = ("median", "list", "texts", "last", "max_text", "distinct", "first", "top")
ORDERED = {"digits", "list", "texts", "last", "first", "best"}  # by the order of rows of one time
INEXACT = {"stddev", "share", "load"}  # in the last digit, by the order in which partials were joined
KINDS = ("time", "time", "time", "time", "spans", "count", "delta", "punctuation")


@dataclass(frozen=True)
class Question:
    """A query: its name, aggregate and windows, in microseconds of time, rows, or whatever its board counts."""

    name: str
    aggregate: str
    length: int
    slide: int
    using: str | None = None


@dataclass(frozen=True)
class Config:
    """A board in words, from which both Sash's and the oracle's are made."""

    kind: str
    keyed: bool
    delay: int  # in microseconds
    offset: int
    emit: str
    late: bool
    shards: int
    ties: bool  # whether rows may have the same time
    slicer: str | None
    postpone: int
    questions: tuple[Question, ...]
    added: tuple[Question, ...]  # at a restart
    stay: int | None = None  # how long windows stay after their answer

    @property
    def keeps_texts(self) -> bool:
        """Whether state is as wide as rows are."""
        texts = {each.aggregate for each in self.questions} & {"texts", "last", "first", "max_text"}
        return self.kind in ("delta", "rows") or bool(texts)

    @property
    def answer(self):
        return spans_oracle.ANSWERS if self.kind == "spans" else WORDS


def config(number: int) -> Config:
    chance = random.Random(number)
    kind = chance.choice(KINDS)
    emit = chance.choice(["final", "final", "changes", "updates"])
    emit = "final" if emit == "updates" and kind in ("delta", "punctuation") else emit
    ties = kind in ("time", "spans") and chance.random() < 0.2
    if kind == "spans":
        names = chance.choice([spans_oracle.PARTIALS, spans_oracle.PARTIALS + spans_oracle.HELD])
    else:
        names = chance.choice([PARTIALS, PARTIALS, HELD, PARTIALS + HELD])
        names = [name for name in names if not (ties and name in ORDERED)]
    names = [name for name in names if emit == "final" or name not in INEXACT]
    base = Config(
        kind=kind, keyed=chance.random() < 0.85, delay=chance.choice([0, 1, 2500, 3000, 10_000, 30_000]),
        offset=chance.choice([0, 0, 0, 700, 2000]) if kind in ("time", "spans") else 0, emit=emit,
        late=chance.random() < 0.4, shards=chance.choice([1, 1, 1, 1, 1, 2, 2, 3, 4]), ties=ties,
        slicer=chance.choice([None, None, "panes", "pairs"]) if kind == "time" else None,
        postpone=chance.choice([0, 5000, 25_000]),
        questions=(), added=(),
    )  # fmt: skip
    count = chance.choice([1, 1, 1, 2, 2, 3, 4])
    asked = tuple(_question(chance, kind, names, k) for k in range(count))
    if kind in ("punctuation", "delta"):
        asked = tuple(replace(each, length=asked[0].length, slide=asked[0].slide) for each in asked)
    if kind == "time" and number % 5 == 1:
        return _merging(random.Random(f"merging {number}"), replace(base, questions=asked))
    whole = replace(base, questions=_named(number, kind, asked))
    if kind in ("time", "spans") and emit == "final" and chance.random() < 0.6:
        more = _question(chance, kind, names if chance.random() < 0.7 else HELD[:3] if kind == "time" else names, 9)
        if kind == "spans" or chance.random() < 0.3:
            more = replace(more, length=asked[0].length, slide=asked[0].slide)
        if not (ties and more.aggregate in ORDERED):
            whole = replace(whole, added=(more,))
    return whole


def _question(chance, kind, names, number):
    name = chance.choice(list(names))
    if kind in ("time", "spans"):
        unit = chance.choice([1000, 1000, 1000, 500])
        length = chance.randint(1, 12) * unit
        return Question(f"q{number}", name, length, min(chance.randint(1, 12) * unit, 3 * length))
    return Question(f"q{number}", name, chance.randint(1, 6), chance.randint(1, 4))


def _merging(chance, whole: Config) -> Config:
    """A board of sessions, of windows that stay after their answer, or of both; a slide of 0 is that of a session."""
    stay = chance.choice([None, 0, 1500, 20_000, 10**6])
    mixed, some = whole.late and chance.random() < 0.5, stay is None or chance.random() < 0.8
    asked = [replace(each, slide=0) if some and (not mixed or k % 2 == 0) else each
             for k, each in enumerate(whole.questions)]  # fmt: skip
    return replace(whole, kind="session", emit="final", offset=0, slicer=None, questions=tuple(asked), stay=stay)


def _named(number, kind, asked):
    """Some of the queries by an algorithm that holds their windows between batches; of its own, so as not to draw."""
    chance = random.Random(f"using {number}")
    return tuple(replace(each, using="daba")
                 if kind in ("time", "count") and each.aggregate in NAMED and chance.random() < 0.8 else each
                 for each in asked)  # fmt: skip


def _us(count):
    return f"{count} microseconds"


def board_of(config: Config, questions):
    settings = {"key": "k"} if config.keyed else {}
    if config.kind == "spans":
        settings |= {"span": ("start", "ts"), "postpone": _us(config.postpone)}
    else:
        settings |= {"time": "ts", "slicer": config.slicer}
    if config.kind in ("time", "spans"):
        settings["offset"] = _us(config.offset)
    if config.stay is not None:
        settings["lateness"] = _us(config.stay)
    board = sash.stream(SCHEMA, watermark=_us(config.delay), **settings)
    for each in questions:
        call = (spans_oracle.CALLS if config.kind == "spans" else MOST)[each.aggregate]
        windows = {
            "time": {"range": _us(each.length), "slide": _us(each.slide)},
            "spans": {"range": _us(each.length), "slide": _us(each.slide)},
            "session": {"range": _us(each.length), "slide": _us(each.slide)}
            if each.slide
            else {"range": sash.session(_us(each.length))},
            "count": {"range": each.length, "slide": each.slide},
            "delta": {"range": sash.delta("d", each.length), "slide": sash.delta("d", each.slide or 1)},
            "punctuation": {"range": sash.punctuation("v > 2")},
        }[config.kind]
        board = board.query(each.name, call, using=each.using, **windows)
    return board


@cache
def planned(number: int) -> tuple[Config, adapter.Asked, adapter.Asked | None]:
    """A board, as it is at first and with the queries that are added, if any can be."""
    whole = config(number)
    boards = [board_of(whole, whole.questions), board_of(whole, whole.questions + whole.added)]
    told = [described(board._scheme, whole.emit, whole.shards, {}) for board in boards]
    if whole.added:
        try:
            continued(told[0], told[1], 0)
        except sash.SashError:
            whole = replace(whole, added=())
    asked = [adapter.asked(board, whole.emit, whole.late, whole.shards) for board in boards]
    return whole, asked[0], asked[1] if whole.added else None
