"""Windows that an algorithm holds between pushes: the answers of all rows, by as few combines as in the papers."""

import random
from math import ceil, log2

import pyarrow as pa
import pytest

import sash
from sash import functions as sf
from sash.engine.streams.forward_windows import ForwardWindows
from sash.kernels.fifo import ALGORITHMS

SCHEMA = pa.schema({"ts": pa.timestamp("us"), "k": pa.int64(), "v": pa.int64()})


def pair_of(body):
    return tuple(map(int, body.decode().split()))


PLAIN = {"compiled": False, "commutative": True}  # run as plain Python, so that nothing is compiled
BOTH = sash.Aggregate(
    "both", lift=lambda x: (x, 1), combine=lambda a, b: (a[0] + b[0], a[1] + b[1]), lower=lambda s: 100 * s[0] + s[1],
    inverse=lambda s, old: (s[0] - old[0], s[1] - old[1]), bulk=lambda values: (int(values.sum()), len(values)),
    pack=lambda s: b"%d %d" % s, unpack=pair_of, **PLAIN,
)  # fmt: skip
LARGEST = sash.Aggregate(
    "largest", lift=lambda x: x, combine=lambda a, b: max(a, b), lower=lambda s: s, selective=True,
    bulk=lambda values: int(values.max()),
    pack=lambda s: b"%d" % s, unpack=lambda body: int(body), **PLAIN,
)  # fmt: skip
CALLS = {
    "both": (BOTH("v"), lambda values: 100 * sum(values) + len(values)),
    "some": (
        BOTH("v").filter("v > 0"),
        lambda values: CALLS["both"][1](some) if (some := [v for v in values if v > 0]) else None,
    ),
    "largest": (LARGEST("v"), max),
}


def table(rows):
    at, keys, values = zip(*rows, strict=True)
    return pa.table([pa.array(at, pa.timestamp("us")), pa.array(keys), pa.array(values)], schema=SCHEMA)


def answers_of(batches, delay, queries):
    """What each push gives: rows are in all of their windows that have not ended when they come."""
    windows, watermark, given = {}, -(10**9), []
    for batch in batches:
        for at, key, value in batch:
            for name, (_, size, slide) in queries.items():
                for start in range((at - size) // slide * slide + slide, at + 1, slide):
                    if start + size > watermark:
                        windows.setdefault((key, start + size, name), []).append(value)
        watermark = max(watermark, max(at for at, _, _ in batch) - delay)
        due = [each for each in windows if each[1] <= watermark]
        given.append({each: CALLS[queries[each[2]][0]][1](windows.pop(each)) for each in due})
    return given


def shown(answers, names):
    ends = answers["window_end"].cast(pa.int64()).to_pylist()
    rows = zip(ends, answers.to_pylist(), strict=True)
    return {(row["k"], end, name): row[name] for end, row in rows for name in names if row[name] is not None}


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("using", [name for name in ALGORITHMS if name != "flatfat"])
def test_pushes_give_what_rows_give(using, seed):
    """Rows come late for some of their windows, keys come and go, and operators are restarted."""
    chance = random.Random(f"{using} {seed}")
    calls = ["largest"] if using == "slick_deque" else ["both", "some"]
    queries = {f"q{k}": (chance.choice(calls), *size) for k, size in enumerate([(40, 5), (chance.randrange(6, 30), 3)])}
    delay, reached, batches = chance.choice([0, 8]), 0, []
    for _ in range(40):
        reached += chance.choice([1, 2, 7, 60])
        late = chance.choice([0, 0, 12, 35])
        batches.append(
            [(reached - chance.randrange(late + 1), chance.randrange(3), chance.randrange(-5, 6)) for _ in range(5)]
        )
    board = sash.stream(SCHEMA, time="ts", key="k", watermark=f"{delay} microseconds")
    for name, (call, size, slide) in queries.items():
        board = board.query(
            name, CALLS[call][0], range=f"{size} microseconds", slide=f"{slide} microseconds", using=using
        )
    operator, restarts = board.open(), chance.random() < 0.5
    for batch, expected in zip(batches, answers_of(batches, delay, queries), strict=True):
        assert shown(operator.push(table(batch)), queries) == {k: v for k, v in expected.items() if v is not None}
        held = operator.state.cells.forest
        assert held is None or {type(each) for each in held.forward.values()} <= {ForwardWindows}
        if restarts and chance.random() < 0.3:
            kept, operator = operator.snapshot(), board.open()
            operator.restore(kept)


class Counted:
    """A list of rows as an aggregate, which counts how often two are joined."""

    def __init__(self, invertible=False, **promises):
        self.combines = 0
        inverse = {"inverse": lambda s, old: self.count(s[len(old) :])} if invertible else {}
        self.aggregate = sash.Aggregate(
            "rows", lift=lambda x: (x,), combine=lambda a, b: self.count(a + b), lower=lambda s: len(s) * 1000 + s[0],
            compiled=False, bulk=lambda values: tuple(values.tolist()), pack=lambda s: repr(s).encode(), **inverse,
            unpack=lambda body: tuple(map(int, body.decode().strip("(),").split(","))), **promises,
        )  # fmt: skip

    def count(self, joined):
        self.combines += 1
        return joined


def per_push(using, size, pushes, keys=1, slide=1):
    """How many combines each push of so many rows of each key takes, once windows are full."""
    counted = Counted(using == "subtract_on_evict")
    schema = pa.schema({"k": pa.int64(), "v": pa.int64()})
    board = sash.stream(schema, key="k").query("q", counted.aggregate("v"), range=size, slide=slide, using=using)
    operator, counts, row = board.open(), [], 0
    for _ in range(size // slide + pushes):
        before = counted.combines
        values = [row + k for k in range(slide)]
        row += slide
        answers = operator.push(pa.table([[k for k in range(keys) for _ in values], values * keys], schema=schema))
        counts.append(counted.combines - before)
        assert answers["q"].to_pylist() == [min(row, size) * 1000 + max(row - size, 0)] * keys
    return counts[-pushes:]


@pytest.mark.parametrize("size", [4, 7, 16])
@pytest.mark.parametrize(
    ("using", "amortised", "worst"),
    [
        ("two_stacks", lambda n: 3, lambda n: n),
        ("daba", lambda n: 8, lambda n: 8),
        ("sba", lambda n: 4, lambda n: n + 1),
        ("slide_side", lambda n: 3, lambda n: n),
        ("flatfit", lambda n: 3, lambda n: n - 1),
        ("subtract_on_evict", lambda n: 2, lambda n: 2),
        ("b_int", lambda n: 1 + 2 * ceil(log2(n)), lambda n: 3 * ceil(log2(n)) + 1),
        ("flatfat", lambda n: 3 * ceil(log2(n)), lambda n: max(n, 3 * ceil(log2(n)))),  # n: its segment is full
    ],
)
def test_a_push_of_one_slice_takes_as_many_combines_as_a_slide(using, amortised, worst, size):
    counts = per_push(using, size, 12 * (size + 1))
    assert max(counts) <= worst(size)
    assert sum(counts) / len(counts) <= amortised(size)


@pytest.mark.parametrize("size", [4, 16])
def test_a_deque_takes_less_than_two(size):
    chance, combines = random.Random(size), []
    counted = LARGEST.but(combine=lambda a, b: combines.append(0) or max(a, b))
    schema = pa.schema({"v": pa.int64()})
    operator = sash.stream(schema).query("q", counted("v"), range=size, slide=1, using="slick_deque").open()
    rows = [chance.randrange(1000) for _ in range(200)]
    for end, row in enumerate(rows, start=1):
        answers = operator.push(pa.table([[row]], schema=schema))
        assert answers["q"].to_pylist() == [max(rows[max(end - size, 0) : end])]
    assert len(combines) < 2 * len(rows) + size


def seconds(*at):
    times = pa.array([second * 1_000_000 for second in at], pa.timestamp("us"))
    return pa.table({"ts": times, "v": pa.array([1] * len(at), pa.int64())})


@pytest.mark.parametrize("behind", [1, 2, 7, 60])
@pytest.mark.parametrize("using", [None, "two_stacks"])
def test_a_late_slice_changes_a_path_of_a_tree_but_has_a_window_made_anew(using, behind):
    size, counted = 64, Counted(commutative=True)
    board = sash.stream(seconds().schema, time="ts", watermark="0 seconds")
    operator = board.query("q", counted.aggregate("v"), range=f"{size} seconds", slide="1 second", using=using).open()
    for now in range(3 * size):
        operator.push(seconds(now))
    for now in range(3 * size, 4 * size):
        before = counted.combines
        answers = operator.push(seconds(now - behind, now))
        rows = size + min(now - 3 * size, size - behind) + 1  # of each slice one, and those that were late
        assert answers["q"].to_pylist() == [1000 * rows + 1]
        levels = ceil(log2(2 * size))
        most = levels + 2 + 2 * levels if using is None else 2 * size  # a path, and a range; all slices of the key
        assert counted.combines - before <= 2 + most


def test_each_key_takes_as_many_as_one():
    assert [3 * each for each in per_push("two_stacks", 8, 30)] == per_push("two_stacks", 8, 30, keys=3)


@pytest.mark.parametrize(
    ("using", "kept"),
    [(None, "flatfat"), ("two_stacks", "two_stacks"), ("pba", "sba"), ("flatfat", "flatfat"), ("prefix", "nothing")],
)
def test_a_plan_says_what_is_kept_between_pushes(using, kept):
    schema = pa.schema({"v": pa.int64()})
    plan = sash.stream(schema).query("q", sf.sum("v"), range=100, slide=1, using=using).explain()
    assert [step.between.split(",")[0].split(" ")[0] for step in plan.steps] == [kept]
