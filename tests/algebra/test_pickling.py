"""Expressions that go to another process: built-ins stay what they are, and nothing is compiled twice."""

import json
import math
import os
import pickle
import subprocess
import sys
import textwrap

import cloudpickle
import pytest

from every_function import every_call
from sash import Window, col
from sash import functions as sf
from sash.algebra.catalogue.positions import LAST
from sash.algebra.catalogue.sums import COUNT

WINDOW = Window.partitionBy("p").orderBy("i", sf.desc("q")).rowsBetween(-2, col("ahead"))
CALLS = every_call("q", "i")
OVERS = {name: call.filter("flag").over(WINDOW) for name, call in CALLS.items()}

TABLE = {
    "p": [1, 1, 1, 2],
    "i": [1, 2, 3, 4],
    "q": [3, 1, 2, 5],
    "ahead": [0, 1, 1, 0],
    "flag": [True, True, False, True],
}

# What of each expression must be the same in every process.
DESCRIBE = """
    import sys
    import numpy as np
    from sash.algebra import Aggregate
    from sash.algebra.catalogue import builtin
    from sash.kernels.compiling.specialise import _key
    from sash.kernels.structures.prefix import prefix

    def describe(over):
        function = over.call.aggregate
        text = f"{over!r} {function!r}"
        if not isinstance(function, Aggregate):
            return text
        dtypes = (np.dtype(np.int64),) * function.inputs
        digest = _key(prefix, function.of(dtypes), dtypes, "bounds") if function.compiled else "as Python"
        same = bool(function.origin) and len(function.origin) == 1 and builtin(*function.origin) is function
        return f"{text} {function.origin} {same} {digest}"
    """


def elsewhere(script, data, folder=None):
    """What a script prints in a new process, which has ``things``; data are handed over as bytes."""
    lines = "import pickle, sys\nthings = pickle.loads(sys.stdin.buffer.read())\n" + textwrap.dedent(script)
    environment = dict(os.environ) | ({} if folder is None else {"SASH_CACHE_DIR": str(folder)})
    done = subprocess.run([sys.executable, "-c", lines], input=data, capture_output=True, env=environment, check=False)
    assert done.returncode == 0, done.stderr.decode()
    return json.loads(done.stdout)


def dumped(things, pickler):
    return pytest.importorskip(pickler).dumps(things)


@pytest.mark.parametrize("pickler", ["cloudpickle", "pyspark.cloudpickle"])
def test_every_function_is_the_same_in_another_process(pickler):
    here = {}
    exec(textwrap.dedent(DESCRIBE), here)
    report = DESCRIBE + "\n    import json\n    print(json.dumps({n: describe(o) for n, o in things.items()}))"
    there = elsewhere(report, dumped(OVERS, pickler))
    assert there == {name: here["describe"](over) for name, over in OVERS.items()}
    assert " True " in there["count"]
    assert " True " in there["any_value"]


@pytest.mark.parametrize("name", sorted(CALLS))
def test_a_built_in_is_pickled_by_its_name(name):
    function = CALLS[name].aggregate
    data = pickle.dumps(function)  # knows no lambda
    assert len(data) < 300
    again = pickle.loads(data)
    assert again is function or again == function or again.origin == function.origin


def test_a_built_in_that_was_changed_is_no_longer_that_built_in():
    changed = COUNT.but(lower=lambda s: s * 10)
    again = cloudpickle.loads(cloudpickle.dumps(changed))
    assert again.origin is None
    assert again.lower(1) == 10
    assert again.lift is COUNT.lift
    assert again.combine is COUNT.combine
    assert cloudpickle.loads(cloudpickle.dumps(LAST.but(name="final"))).combine is LAST.combine


DRIVER = """
    import math, sys
    import cloudpickle
    import pyarrow as pa
    from sash import Aggregate, Window, functions as sf
    from sash.engine.evaluating import evaluate

    SCALE = 3

    def larger(a, b):
        return a if a > b else b

    def clipped(floor):
        return Aggregate(
            "clipped",
            lift=lambda x: math.sqrt(max(x * SCALE, floor)),
            combine=larger,
            lower=lambda s: (s, s / 2),
            finish=lambda answers: answers["f1"] * 2,
        )

    window = Window.orderBy("i").rowsBetween(-1, 0)
    overs = {
        "mine": clipped(things["q"][0])("q").over(window),
        "second": sf.ith_smallest("q", 2).over(window),
        "best": sf.max_by("p", "q").over(window),
        "count": sf.count("q").distinct().over(window),
    }
    evaluate(pa.table(things), overs)
    assert "numba" in sys.modules  # so it was compiled here
    print(repr(cloudpickle.dumps((things, overs)).hex()).replace("'", '"'))
    """

WORKER = """
    import json, sys
    import pyarrow as pa
    from sash.engine.evaluating import evaluate

    table, overs = things
    found = evaluate(pa.table(table), overs).select(list(overs)).to_pydict()
    assert "numba" not in sys.modules
    print(json.dumps(found))
    """


def test_what_one_process_compiled_another_takes(tmp_path):
    folder = tmp_path / "kernels"
    overs = bytes.fromhex(elsewhere(DRIVER, pickle.dumps(TABLE), folder=folder))
    kernels = {name for name in os.listdir(folder) if name.endswith(".kernel")}
    found = elsewhere(WORKER, overs, folder=folder)
    assert {name for name in os.listdir(folder) if name.endswith(".kernel")} == kernels
    assert found.pop("mine") == pytest.approx([math.sqrt(3 * q) for q in (3, 3, 2, 5)])
    assert found == {"second": [None, 3, 2, 5], "best": [1, 1, 1, 2], "count": [1, 2, 2, 2]}
