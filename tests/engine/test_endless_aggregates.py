"""Aggregates of users that never return: the process can be stopped, and no other process notices."""

import os
import signal
import subprocess
import sys
import textwrap

import pytest

pytestmark = pytest.mark.long
START = """
    import sys
    import pyarrow as pa
    import sash
    import wrong_aggregates as wrong
    from sash import Window

    def ask(aggregate, values, window=Window.orderBy("x").rowsBetween(-1, 0)):
        print("asked", flush=True)
        return sash.withColumns(pa.table({"x": values}), {"c": aggregate("x").over(window)})["c"].to_pylist()

    def answer():
        assert ask(wrong.ENDLESS, [1.0, 2.0, 3.0]) == [1.0, 3.0, 5.0]
        print("answered", "numba" in sys.modules, flush=True)
    """
TELLING = """
    def told(x):
        if x < 0:
            print("looping", flush=True)
        return wrong.endless(x)

    TOLD = wrong.ENDLESS.but(lift=told)
    PLAIN = TOLD.but(compiled=False)
    """
INTERRUPTED = """
    try:
        {}
    except KeyboardInterrupt:
        print("stopped", flush=True)
    answer()
    """


@pytest.fixture
def start(tmp_path):
    started = []

    def start(*lines):
        process = subprocess.Popen(
            [sys.executable, "-c", "\n".join(textwrap.dedent(line) for line in (START, *lines))],
            env={
                **os.environ,
                "SASH_CACHE_DIR": str(tmp_path / "kernels"),
                "PYTHONPATH": os.path.dirname(os.path.dirname(__file__)),
            },
            stdout=subprocess.PIPE,
            text=True,
        )
        started.append(process)
        return process

    yield start
    for process in started:
        process.kill()
        process.communicate()


def busy(process, seconds=2.0):
    """Wait until the process has computed for so long since now, by its own clock."""
    ticks = seconds * os.sysconf("SC_CLK_TCK")

    def used():
        with open(f"/proc/{process.pid}/stat") as file:
            return sum(map(int, file.read().rpartition(")")[2].split()[11:13]))

    begun = used()
    while used() - begun < ticks:
        assert process.poll() is None
        signal.sigtimedwait([], 0.05)


@pytest.mark.skipif(sys.platform != "linux", reason="looks at /proc")
@pytest.mark.parametrize("end", [signal.SIGTERM, signal.SIGKILL], ids=str)
def test_a_compiled_one_is_killed_and_leaves_nothing_half_done(start, tmp_path, end):
    """Survived by the next process: it finds the kernel whole, and answers where the loop ends."""
    victim = start("answer()", "ask(wrong.ENDLESS, [1.0, -1.0, 3.0])")
    assert [victim.stdout.readline() for _ in range(3)] == ["asked\n", "answered True\n", "asked\n"]
    busy(victim)
    victim.send_signal(end)
    assert victim.wait(timeout=60) == -end
    assert {file.suffix for file in (tmp_path / "kernels").iterdir()} <= {".kernel", ".lock"}
    assert start("answer()").communicate(timeout=120)[0] == "asked\nanswered False\n"


@pytest.mark.parametrize(
    "asked",
    ["ask(PLAIN, [1.0, -1.0])", "sash.check(PLAIN, [1.0, -1.0])", "sash.check(TOLD, [1.0, -1.0])"],
    ids=["plain", "check", "check of a compiled one"],
)
def test_ctrl_c_stops_plain_python(start, asked):
    """Survived a loop without end in plain Python and in ``sash.check``: Ctrl-C stops it, and the process goes on."""
    victim = start(TELLING, INTERRUPTED.format(asked))
    while (said := victim.stdout.readline()) != "looping\n":
        assert said == "asked\n"
    victim.send_signal(signal.SIGINT)
    assert victim.communicate(timeout=120)[0] == "stopped\nasked\nanswered True\n"
    assert victim.returncode == 0
