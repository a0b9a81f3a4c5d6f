"""Bad input is named when the query is built, in one sentence."""

import pyarrow as pa
import pytest

import sash
from sash import functions as sf
from sash.errors import Refused, SashError

SCHEMA = pa.schema({"ts": pa.timestamp("us"), "k": pa.string(), "v": pa.int64(), "l": pa.list_(pa.int64())})


def stream(**settings):
    return sash.stream(SCHEMA, **{"time": "ts", **settings})


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda: sash.stream(3), "source must be a pyarrow Table, .* got int"),
        (lambda: sash.stream(iter([])), "source must have at least one batch"),
        (lambda: sash.stream([1]), "source must give Arrow batches, got int"),
        (lambda: stream(time="nope"), "there is no column 'nope'"),
        (lambda: stream(time="k"), "time must be a column of timestamps or dates, got k of type string"),
        (lambda: stream(key="nope"), "there is no column 'nope'"),
        (lambda: stream(key="l"), "key must be of numbers, strings, .* got l of type list"),
        (lambda: stream(key=["k", "k"]), "key must name different columns, got k, k"),
        (lambda: stream(watermark="-1 second"), "watermark must not be below zero"),
        (lambda: stream(watermark="1 month"), "watermark must have a fixed length"),
        (lambda: stream().query("q", sf.max("v"), range=3, slide="1 month"), "slide must have a fixed length"),
        (lambda: stream(watermark=5), "watermark must be an interval"),
        (lambda: stream(offset="1 parsec"), "offset takes whole numbers of year"),
        (lambda: stream(slicer="bread"), "slicer must be one of panes, pairs, cutty, got 'bread'"),
        (lambda: stream().query("q", sf.max("v"), range="0 seconds"), "range must be longer than zero"),
        (lambda: stream().query("q", sf.max("v"), range="1 hour", slide="-1 hour"), "slide must be longer than zero"),
        (lambda: stream().query("q", sf.max("v"), range=0), "range must be at least one row, got 0"),
        (lambda: stream().query("q", sf.max("v"), range=1.5), "range must be an interval such as"),
        (lambda: stream().query("q", sf.max("v"), range=True), "range must be an interval such as"),
        (lambda: stream().query("q", sf.max("v"), range=5, slide=1.5), "slide must be a number of rows or an interval"),
        (lambda: stream(time="ts").query("q", sf.max("v"), range="1 hour", slide=1.5), "slide must be an interval"),
        (lambda: sash.stream(SCHEMA).query("q", sf.max("v"), range=5, slide="1 hour"), "time must be given"),
        (lambda: sash.stream(SCHEMA).query("q", sf.max("v"), range="1 hour", slide=5), "time must be given"),
        (lambda: stream().query("q", sf.max("v"), range="1 month 1 day"), "of months and years alone"),
        (lambda: stream().query("q", sf.max("nope"), range="1 hour"), "there is no column 'nope'"),
        (lambda: stream().query("q", sf.sum("k"), range="1 hour"), "sum takes columns of numbers, got string"),
        (lambda: stream().query("q", sf.rank(), range="1 hour"), "rank answers each row of a frame"),
        (
            lambda: stream().query("q", sf.nth_value("v", sash.col("v")), range="1 hour"),
            "the place of nth_value must be a constant on a stream, got v",
        ),
        (lambda: stream().query("q", sf.lead("v"), range="1 hour"), "lead answers each row of a frame"),
        (lambda: stream().query("q", "max(v)", range="1 hour"), 'aggregate must be such as sf.max\\("load"\\), got'),
        (lambda: stream().query("", sf.max("v"), range="1 hour"), "the name of a query must be a non-empty string"),
        (lambda: stream().query("window_end", sf.max("v"), range=1), "must be its own, got 'window_end'"),
        (lambda: stream(time="ts", lateness="1 hour").query("revision", sf.max("v"), range="1 hour"),
         "must be its own, got 'revision'"),
        (
            lambda: sash.stream(
                SCHEMA.append(pa.field("revision", pa.int64())), time="ts", key="revision", lateness="1 hour"
            ).query("n", sf.count(), range="1 hour"),
            "key must not be named revision",
        ),
        (lambda: stream(key="k").query("k", sf.max("v"), range="1 hour"), "must be its own, got 'k', which is taken"),
        (lambda: stream().query({}, range="1 hour"), "at least one aggregate"),
        (lambda: stream().query({"a": sf.count()}, sf.count(), range="1 hour"), "got both"),
        (lambda: stream().query("q", sf.max("v"), range="1 hour", using="magic"), "using must be one of"),
        (lambda: sash.stream(SCHEMA).query("q", sf.max("v"), range="1 hour"), "time must be given for windows by time"),
        (lambda: sash.stream(SCHEMA, watermark="1 second").query("q", sf.max("v"), range=5), "watermark needs time="),
        (lambda: stream(offset="1 hour").query("q", sf.max("v"), range=5), "offset is for windows by time"),
        (lambda: sash.delta("v", 0), "size of a delta must be a number above zero, got 0"),
        (lambda: stream().query("q", sf.count(), range=sash.delta("k", 1)), "range by delta takes a column of numbers"),
        (lambda: stream().query("q", sf.count(), range=sash.delta("v", 1), slide="1 hour"), "slide must be sash.delta"),
        (lambda: stream().query("q", sf.count(), range=sash.punctuation("v"), slide=1), "slide cannot be given"),
        (lambda: stream().results(), "the board has no query"),
        (lambda: stream().query("q", sf.count(), range=sash.punctuation("v")), "punctuation takes a condition"),
        (lambda: stream().explain(), "the board has no query"),
        (lambda: stream().query("q", sf.max("v").over(sash.Window.orderBy("v")), range=1), "must be without a window"),
    ],
)  # fmt: skip
def test_bad_input_is_named(make, sentence):
    with pytest.raises(SashError, match=sentence):
        make()


def test_kinds_do_not_mix():
    board = stream().query("q", sf.max("v"), range="1 hour")
    with pytest.raises(SashError, match="windows of one kind, got time in q and count in r; use two streams"):
        board.query("r", sf.max("v"), range=5)
    with pytest.raises(SashError, match="must be its own, got 'q', which is taken"):
        board.query("q", sf.max("v"), range="1 hour")


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda: stream(slicer="cutty", watermark="1 second"), "cutty needs input in order, answered at each edge"),
        (lambda: stream(slicer="panes"), "panes needs windows of fixed length"),
    ],
)
def test_slicers_are_refused_by_name(make, sentence):
    with pytest.raises(Refused, match=sentence):
        make().query("q", sf.max("v"), range="1 month")


def test_cutty_refuses_a_table_that_goes_back():
    events = pa.table({"ts": pa.array([2, 1], pa.timestamp("us"))})
    with pytest.raises(Refused, match="cutty needs input in order; the times of this table go back"):
        sash.stream(events, time="ts", slicer="cutty").query("n", sf.count(), range="1 second").results()


def test_algorithms_refuse_what_they_cannot():
    with pytest.raises(Refused, match="max has no inverse"):
        stream().query("q", sf.max("v"), range="1 hour", using="subtract_on_evict")
    with pytest.raises(Refused, match="does not answer"):
        stream().query("q", sf.median("v"), range="1 hour", using="flatfit")
