"""PBA's second thread: the same answers with and without it, whatever it does, and it is gone when a call returns."""

import os
import threading
import time

import numpy as np
import pyarrow as pa
import pytest

import sash
from kernels.fifo.test_agreement import AFFINE
from sash import Window
from sash import functions as sf
from sash.algebra.catalogue import builtin
from sash.kernels import threads
from sash.kernels.fifo import Sliding, forward_folding, parallel_boundary
from sash.kernels.fifo.parallel_boundary import Helped

ROWS = 20_000
SIZES = [1, 2, 3, 5, 8, 64, 1000, 7000]
BATCHES = {"one": [ROWS], "uneven": [7, 13_000, 64, 63, 6866], "even": [ROWS // 10] * 10}


@pytest.fixture
def helped(monkeypatch):
    """A helper for every batch, however short; it tells when one is asked for, and on which thread one works.

    One that is asked for may come too late to work.
    """
    calls, help, helpers = [], Helped.help, threads.helpers

    def asked():
        calls.append("asked")
        return helpers()

    def counted(self, *arguments):
        calls.append(threading.get_ident())
        help(self, *arguments)

    monkeypatch.setattr(parallel_boundary, "LEAST", 1)
    monkeypatch.setattr(parallel_boundary, "MANY", 1)
    monkeypatch.setattr(Helped, "help", counted)
    monkeypatch.setattr(parallel_boundary, "helpers", asked)
    monkeypatch.setattr(threads, "load", lambda: 0.0)
    monkeypatch.setenv("SASH_THREADS", "2")
    return calls


def pushed(aggregate, column, size, lengths, **making):
    """The answers of windows of one size, row batch by row batch."""
    window = Sliding(aggregate, column.dtype, size=size, **making)
    ends = np.cumsum(lengths)
    return np.concatenate([window.push(column[end - n : end]).values for n, end in zip(lengths, ends, strict=True)])


@pytest.mark.parametrize("lengths", BATCHES.values(), ids=BATCHES)
@pytest.mark.parametrize("size", SIZES)
def test_any_chunk_gives_the_answers_of_two_stacks_with_a_helper(helped, size, lengths):
    column = np.random.default_rng(size).integers(0, 1000, ROWS)
    expected = pushed(AFFINE, column, size, [ROWS], using="two_stacks")
    for chunk in (None, 1, max(size // 2, 1), max(3 * size // 4, 1), size, 2 * size):
        np.testing.assert_array_equal(pushed(AFFINE, column, size, lengths, using="pba", chunk=chunk), expected)
    assert helped
    assert threading.get_ident() not in helped


@pytest.mark.parametrize("size", SIZES)
def test_a_nan_here_and_there_with_a_helper(helped, size):
    random, largest = np.random.default_rng(size), builtin("max")
    column = random.normal(size=ROWS)
    column[random.integers(0, ROWS, 5)] = np.nan
    expected = pushed(largest, column, size, [ROWS], using="two_stacks")
    for lengths in BATCHES.values():
        np.testing.assert_array_equal(pushed(largest, column, size, lengths, using="pba"), expected)


def test_a_helper_that_comes_late_or_not_at_all_is_not_waited_for(helped, monkeypatch):
    column = np.arange(ROWS)
    expected = pushed(AFFINE, column, 100, [ROWS], using="two_stacks")
    late, busy = Helped.help, threading.Event()

    def later(self, *arguments):
        time.sleep(0.2)
        late(self, *arguments)

    monkeypatch.setattr(Helped, "help", later)
    np.testing.assert_array_equal(pushed(AFFINE, column, 100, [ROWS], using="pba"), expected)
    blocking = [threads.helpers().submit(busy.wait) for _ in range(threads.threads())]
    try:
        np.testing.assert_array_equal(pushed(AFFINE, column, 100, [ROWS], using="pba"), expected)
    finally:
        busy.set()
        for each in blocking:
            each.result()


def test_an_error_of_the_helper_reaches_the_caller_and_stops_the_loop(helped, monkeypatch):
    def failing(self, values, base, ring, words):
        words[parallel_boundary.TAKEN] = 10**6  # as if it had taken all jobs
        words[parallel_boundary.STOPPED] = 1
        raise sash.SashError("the helper broke")

    monkeypatch.setattr(Helped, "help", failing)
    window = Sliding(AFFINE, np.int64, size=100, using="pba")

    def push_until_it_begins():  # the loop may be done before the helper begins
        for _ in range(1000):
            window.push(np.arange(ROWS))

    with pytest.raises(sash.SashError, match="the helper broke"):
        push_until_it_begins()
    with pytest.raises(sash.SashError, match="raised in an earlier push"):
        window.push(np.arange(5))


def test_an_error_of_the_aggregate_reaches_the_caller_whoever_meets_it(helped):
    def lift(x):
        if x == 12_345:
            raise ValueError
        return x

    picky = sash.Aggregate("picky", lift=lift, combine=lambda a, b: max(a, b))
    window = Sliding(picky, np.int64, size=100, using="pba")
    with pytest.raises(sash.SashError, match="a function of the aggregate picky raised"):
        window.push(np.arange(ROWS))


def test_many_windows_at_once_share_the_helpers(helped):
    column = np.random.default_rng(5).integers(0, 1000, ROWS)
    expected = pushed(AFFINE, column, 500, [ROWS], using="two_stacks")
    got = [None] * 8

    def fill(k):
        got[k] = pushed(AFFINE, column, 500, BATCHES["even"], using="pba")

    all_ = [threading.Thread(target=fill, args=(k,)) for k in range(len(got))]
    for each in all_:
        each.start()
    for each in all_:
        each.join()
    assert all(np.array_equal(each, expected) for each in got)


def test_nobody_helps_on_one_thread_as_in_a_spark_task(helped, monkeypatch):
    monkeypatch.setenv("SASH_THREADS", "1")
    column = np.random.default_rng(5).integers(0, 1000, ROWS)
    expected = pushed(AFFINE, column, 500, [ROWS], using="two_stacks")
    np.testing.assert_array_equal(pushed(AFFINE, column, 500, [ROWS], using="pba"), expected)
    assert not helped


def test_nobody_helps_where_all_cores_are_busy(helped, monkeypatch):
    monkeypatch.setattr(threads, "load", lambda: threads.usable_cores() + 1.0)
    column = np.random.default_rng(5).integers(0, 1000, ROWS)
    expected = pushed(AFFINE, column, 500, [ROWS], using="two_stacks")
    np.testing.assert_array_equal(pushed(AFFINE, column, 500, [ROWS], using="pba"), expected)
    assert not helped


def test_a_state_taken_with_a_helper_goes_on_without_one(helped, monkeypatch):
    column = np.random.default_rng(6).integers(0, 1000, ROWS)
    expected = pushed(AFFINE, column, 300, [ROWS], using="two_stacks")
    first, second = (Sliding(AFFINE, np.int64, size=300, using="pba") for _ in range(2))
    got = first.push(column[:12_345]).values
    second.restore(first.state())
    monkeypatch.setenv("SASH_THREADS", "1")
    np.testing.assert_array_equal(np.concatenate([got, second.push(column[12_345:]).values]), expected)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_a_forked_child_has_helpers_of_its_own(helped):
    column = np.random.default_rng(7).integers(0, 1000, ROWS)
    expected = pushed(AFFINE, column, 300, [ROWS], using="pba")
    child = os.fork()
    if child == 0:
        os._exit(0 if np.array_equal(pushed(AFFINE, column, 300, [ROWS], using="pba"), expected) else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


@pytest.mark.parametrize("workers", ["2", "4"])
def test_long_columns_are_cut_alike_whatever_the_threads(helped, monkeypatch, workers):
    """Each stretch has a helper of its own; floats are added in the same order."""
    monkeypatch.setenv("SASH_THREADS", workers)
    monkeypatch.setattr(forward_folding, "STRETCH", 1000)
    values = np.random.default_rng(8).normal(size=ROWS)
    window = Window.orderBy("t").rowsBetween(-99, 0)
    table = pa.table({"t": np.arange(ROWS), "x": values})
    asked = {name: sf.avg("x").over(window, using=name) for name in ("pba", "two_stacks")}
    answers = sash.withColumns(table, asked)
    np.testing.assert_allclose(answers["pba"], answers["two_stacks"], rtol=1e-12, atol=1e-12)
    assert helped
    monkeypatch.setenv("SASH_THREADS", "1")
    assert sash.withColumns(table, asked)["pba"].equals(answers["pba"])


def test_the_planner_takes_it_for_long_windows_where_a_core_is_free(monkeypatch):
    table = pa.table({"t": np.arange(100_000), "x": np.random.default_rng(9).random(100_000)})
    asked = {"most": sf.max("x").over(Window.orderBy("t").rowsBetween(-9_999, 0))}
    short = {"most": sf.max("x").over(Window.orderBy("t").rowsBetween(-9, 0))}
    monkeypatch.setenv("SASH_THREADS", "2")
    monkeypatch.setattr(threads, "load", lambda: 0.0)
    assert sash.explain(table, asked).chosen == {"most": "pba"}
    assert sash.explain(table, short).chosen == {"most": "sba"}
    most = sash.withColumns(table, asked)["most"]
    monkeypatch.setattr(threads, "load", lambda: 8.0)  # others keep all cores busy
    assert sash.explain(table, asked).chosen == {"most": "sba"}
    monkeypatch.setattr(threads, "load", lambda: 0.0)
    monkeypatch.setenv("SASH_THREADS", "1")  # as in a Spark task
    assert sash.explain(table, asked).chosen == {"most": "sba"}
    assert sash.withColumns(table, asked)["most"].equals(most)
