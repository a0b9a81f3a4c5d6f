"""The page of a running board: what it shows, to whom, and how it looks in a real Chromium."""

import json
import socket
import sys
import threading
import urllib.error
import urllib.request
from datetime import UTC, datetime, timedelta

import pyarrow as pa
import pytest

import sash
from chromium import BROWSER, browse
from sash import functions as sf
from sash.errors import SashError
from sash.watching.samples import KEYS, LAST, Wanted, sample
from sash.watching.sight import FAILED, Sight

START = datetime(2026, 11, 16, 8, tzinfo=UTC)


def loads(count=400, first=0, plugs=4):
    numbers = range(first, first + count)
    return pa.table(
        {
            "ts": pa.array([START + timedelta(seconds=10 * number) for number in numbers], pa.timestamp("us", "UTC")),
            "plug": [f"plug {number % plugs}" for number in numbers],
            "load": [float(number * 37 % 101) for number in numbers],
        }
    )


def board_of(source):
    return (
        sash.stream(source, time="ts", key="plug", watermark="10 seconds")
        .query("peak", sf.max("load"), range="15 minutes", slide="5 minutes")
        .query("n", sf.count(), range="10 minutes")
    )


def batches():
    """Three batches; of the second, a row is late, and another has no time."""
    old = pa.table({"ts": [START - timedelta(days=1), None], "plug": ["plug 0"] * 2, "load": [1.0] * 2})
    return [loads(), pa.concat_tables([loads(first=400), old.cast(loads().schema)]), loads(first=800)]


def points(answers, query):
    """By key, where windows end in milliseconds, and their answers."""
    lines = {}
    for row in answers.to_pylist():
        if row[query] is not None:
            lines.setdefault(row["plug"], {})[row["window_end"].timestamp() * 1000] = row[query]
    return lines


def test_a_page_has_the_answers_of_the_board_and_what_was_late_with_the_reasons():
    board = board_of(batches())
    with board.watch() as page:
        assert page.wait(60)
        sight = page._sight
    answers = pa.concat_tables(board.results())
    late = board.late()
    assert page.state == "ended"
    assert {query: sight.lines[query] for query in ("peak", "n")} == {
        query: points(answers, query) for query in ("peak", "n")
    }
    assert (sight.rows_in, sight.answers, sight.late) == (1202, answers.num_rows, 2)
    assert sight.reasons == dict.fromkeys(late["reason"].to_pylist(), 1)
    assert any("plug plug 0" in row for row in sight.rows_late)
    assert sight.watermark == START + timedelta(seconds=11_990 - 10)
    assert [batch.rows for batch in sight.batches] == [400, 402, 400]


def test_a_table_is_one_batch_of_which_nothing_is_late():
    board = board_of(batches()[1].slice(0, 400))
    with board.watch() as page:
        assert page.wait(60)
    assert page._sight.answers == board.results().num_rows
    assert not page._sight.late


def test_what_fails_while_it_runs_is_told_on_the_page():
    def broken():
        yield loads()
        raise OSError("the cable is out")

    with board_of(broken()).watch() as page:
        assert page.wait(60)
    assert page.state == FAILED
    assert page._sight.words == "the cable is out"


def test_many_keys_and_answers_are_shown_in_part():
    ends = pa.array([START + timedelta(minutes=place) for place in range(20_000)], pa.timestamp("us", "UTC"))
    answers = pa.table({"plug": [f"plug {place % 50:02}" for place in range(20_000)], "window_end": ends, "n": ends})
    answers = answers.set_column(2, "n", pa.array(range(20_000)))
    shown = sample(answers, Wanted(("plug",), ("n",)))["answers"]
    assert list(shown) == [f"plug {number:02}" for number in range(KEYS)]
    assert all(len(queries["n"]) == LAST for queries in shown.values())
    assert shown["plug 00"]["n"][-1] == [ends[19_950].as_py().timestamp() * 1000, 19_950.0]
    assert len(json.dumps(shown)) < 50_000


def test_keys_of_any_type_have_names_and_answers_that_are_no_numbers_no_lines():
    answers = pa.table(
        {"k": [1, None], "s": [{"a": 1}, {"a": 2}], "window_end": [5, 7], "n": [1, 2], "names": [["x"], ["y"]]}
    )
    shown = sample(answers, Wanted(("k", "s"), ("n", "names")))["answers"]
    assert shown == {"1, {'a': 1}": {"n": [[5, 1.0]]}, "NULL, {'a': 2}": {"n": [[7, 2.0]]}}
    assert list(sample(answers, Wanted((), ("n",)))["answers"]) == ["all"]


def test_only_who_knows_the_address_sees_the_page_and_only_on_this_machine():
    with board_of(loads()).watch() as page:
        assert page.address.startswith("http://127.0.0.1:")
        port = int(page.address.split(":")[2].split("/")[0])
        for elsewhere in ("/", "/static/js/bokeh.min.js", "/guess/", "/ws"):
            with pytest.raises(urllib.error.HTTPError, match="404"):
                urllib.request.urlopen(f"http://127.0.0.1:{port}{elsewhere}")
        with urllib.request.urlopen(page.address) as answer:
            assert answer.status == 200
        outward = next((each for each in own_addresses() if not each.startswith("127.")), None)
        if outward:
            with pytest.raises(OSError, match="refused"):
                socket.create_connection((outward, port), timeout=5)
        with board_of(loads()).watch() as other:
            assert other.address.split("/")[3] != page.address.split("/")[3]
    with pytest.raises(OSError, match="refused"):
        socket.create_connection(("127.0.0.1", port), timeout=5)


def own_addresses():
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(("192.0.2.1", 9))  # sends nothing
        except OSError:
            return []
        return [probe.getsockname()[0]]


@pytest.mark.parametrize("port", [-1, 70_000, True, "8080"])
def test_a_port_that_is_none_is_refused(port):
    with pytest.raises(SashError, match=f"port must be a whole number below 65536, .* got {port!r}"):
        board_of(loads()).watch(port=port)


def test_a_port_that_is_taken_is_refused():
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        with pytest.raises(SashError, match=r"port must be free on 127\.0\.0\.1, got"):
            board_of(loads()).watch(port=other.getsockname()[1])


def test_without_bokeh_the_error_says_what_to_install(monkeypatch):
    for name in [each for each in sys.modules if each.partition(".")[0] == "bokeh" or each == "sash.watching.page"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "bokeh", None)
    with pytest.raises(SashError, match=r"the page needs bokeh: pip install 'sash\[watch\]'"):
        board_of(loads()).watch()


def test_what_cannot_be_run_for_a_page_is_refused():
    with pytest.raises(SashError, match="a stream of a schema has no rows to run"):
        board_of(loads().schema).watch()
    with pytest.raises(SashError, match="query must be a streaming query of Spark, of a board on Spark; got 5"):
        board_of(loads()).watch(5)


def test_the_plan_is_drawn_with_a_box_for_each_query():
    drawn = board_of(loads()).explain().diagram()
    assert drawn.count("<rect") == 4
    for words in ("peak = max(load)", "n = count()", "cut by panes"):
        assert words in drawn
    few = board_of(loads()).query("few", sf.count().filter("load < 5"), range="5 minutes").explain()
    assert "&lt;" in few.diagram()
    assert few._repr_html_().startswith("<svg")  # what notebooks show


@pytest.mark.skipif(BROWSER is None, reason="no chromium on PATH")
@pytest.mark.parametrize(("width", "dark"), [(1200, False), (1200, True), (390, False)])
def test_a_browser_shows_a_board_while_it_runs(tmp_path, width, dark):
    more, stop = threading.Event(), threading.Event()

    def rows():
        yield from batches()
        more.wait(60)
        yield loads(first=1200)
        stop.wait(60)

    board = board_of(rows())
    texts = "Bokeh.documents[0].roots().filter(r => r.text).map(r => r.text).join(' ')"
    paper = "getComputedStyle(document.body).backgroundColor"

    async def look(tab):
        await tab.until("window.Bokeh && Bokeh.documents.length && Bokeh.documents[0].is_idle")
        await tab.until(f"{texts}.includes('1,202')")
        more.set()
        await tab.until(f"{texts}.includes('1,602')")  # it lives
        shown = await tab.value(texts)
        for words in ("running", "late rows", "watermark", "ts is NULL", "peak = max(load)", "plug 3"):
            assert words in shown
        lines = "Bokeh.documents[0].roots().filter(r => r.renderers).map(r => r.renderers[0].data_source.data.xs)"
        assert await tab.value(f"{lines}[0].length") == 4  # a line for each key
        inner, needed = await tab.value("[innerWidth, document.documentElement.scrollWidth]")
        assert needed <= inner  # nothing is wider than the page
        assert await tab.value(paper) == ("rgb(22, 24, 27)" if dark else "rgb(253, 253, 251)")
        assert tab.complaints() == []
        assert {each.split("/")[2] for each in tab.asked_for()} == {page.address.split("/")[2]}
        stop.set()
        await tab.until(f"{texts}.includes('ended')")

    with board.watch() as page:
        try:
            browse(page.address, look, tmp_path / "profile", width=width, dark=dark)
        finally:
            more.set()
            stop.set()


def test_early_answers_are_replaced_and_old_ones_let_go():
    sight = Sight("board")
    sight.sampled({"answers": {"a": {"n": [[1, 5.0]]}}, "late": {}, "rows": []})
    sight.sampled({"answers": {"a": {"n": [[1, 6.0]]}}, "late": {}, "rows": []})
    assert sight.lines == {"n": {"a": {1: 6.0}}}
    sight.sampled({"answers": {f"k{k}": {"n": [[1, 1.0]]} for k in range(20)}, "late": {}, "rows": []})
    assert sight.labels() == sorted(["a", *(f"k{k}" for k in range(20))])[:KEYS]
