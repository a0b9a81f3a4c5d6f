"""What a measurement is: turns, limits, exponents, peaks of memory."""

import math
import time

import pytest
from bench.harness import Bench, Stopped, growth, peak_memory
from bench.harness.measuring import alternating


def test_tasks_take_turns_after_one_run_each_to_warm_up():
    ran = []
    timings = alternating({"a": lambda: ran.append("a"), "b": lambda: ran.append("b")}, repeat=3)
    assert "".join(ran) == "ab" + "ab" * 3
    assert [len(timing.values) for timing in timings.values()] == [3, 3]


def test_what_takes_too_long_or_is_stopped_is_left_out_after_one_run():
    ran = []

    def stopped():
        ran.append("stopped")
        raise Stopped(1)

    timings = alternating({"slow": lambda: time.sleep(0.05), "stopped": stopped, "fast": int}, patience=0.02)
    assert list(timings) == ["fast"]
    assert ran == ["stopped"]


def test_what_is_stopped_in_a_later_round_is_left_out():
    calls = []

    def stopped_at_last():
        calls.append(1)
        if len(calls) == 3:
            raise Stopped(1)

    assert list(alternating({"one": stopped_at_last, "other": int}, repeat=4)) == ["other"]
    assert len(calls) == 3


@pytest.mark.parametrize("exponent", [0.0, 0.5, 1.0, 2.0])
def test_growth_is_the_exponent(exponent):
    assert growth({n: 3 * n**exponent for n in (10, 100, 1000, 10_000)}) == pytest.approx(exponent)


def test_growth_needs_four_sizes():
    with pytest.raises(ValueError, match="at least four sizes, not 3"):
        growth({1: 1, 2: 2, 3: 3})


def test_memory_is_the_peak_of_a_fresh_process():
    small, large = (min(peak_memory("numpy:ones", count, repeat=1)) for count in (1, 25_000_000))
    assert 190_000_000 < large - small < 220_000_000


def test_a_line_ends_where_its_task_takes_too_long():
    bench = Bench("x", full=True)
    tasks = lambda point: {"even": int, "growing": lambda: time.sleep(point)}  # noqa: E731
    lines = bench.sweep([0.0, 0.05, 0.0], tasks, lambda point, seconds: point, patience=0.03)
    assert list(lines["even"]) == [0.0, 0.05]
    assert list(lines["growing"]) == [0.0]
    assert bench.measured["even @ 0.05"]["unit"] == "s"


def test_what_all_rows_take_follows_from_two_shares_and_one_that_is_stopped_gives_its_limit():
    bench = Bench("peers.x", full=True)

    def stopped():
        raise Stopped(7)

    some = lambda: time.sleep(0.1 + 0.1), lambda: time.sleep(0.1 + 0.05)  # 0.1 s for any, 0.4 s for all rows
    bench.duel("t", lambda: time.sleep(0.01), {"some": some, "never": stopped}, share=1 / 4)
    some, never = bench.duels
    assert some["mark"] == "~"
    assert 0.4 < some["theirs"] < 0.6
    assert (never["mark"], never["theirs"]) == (">", 7)


def test_no_claim_is_judged_at_toy_sizes():
    quick, full = Bench("x", full=False), Bench("x", full=True)
    for bench in (quick, full):
        for holds in (True, False, None):
            bench.claim("a", "b", holds)
    assert [claim["holds"] for claim in quick.claims] == [None] * 3
    assert [claim["holds"] for claim in full.claims] == [True, False, None]


def test_what_is_kept_can_be_written_as_json():
    bench = Bench("x", full=True)
    bench.lines("t", {"p": {"a": {1: 2.0, 4: math.pi}}}, "x", "y")
    bench.grid("g", {(1, "b"): 1.0}, "x", "y")
    kept = bench.kept()
    assert kept["figures"][0]["panels"] == {"p": {"a": [[1, 2.0], [4, 3.142]]}}
    assert kept["figures"][1]["values"] == [[1, "b", 1.0]]
    assert "claims" not in kept
