"""A compiled kernel gives what plain Python gives, or says why it cannot."""

import math
import os
import subprocess
import sys
import textwrap
import threading

import llvmlite.binding as llvm
import numpy as np
import pytest

from sash import Aggregate, SashError
from sash.errors import NotCompilable
from sash.kernels.compiling import disk, native, numba_backend, specialise
from sash.kernels.fifo import ALGORITHMS, slide


def add(a, b):
    return a + b


def answers(aggregate, *columns, using="two_stacks", size=3):
    """Each answer as a Python value, None where it is NULL."""
    values, valid = slide(aggregate, *columns, size=size, using=using)
    return [value if ok else None for value, ok in zip(values.tolist(), valid.tolist(), strict=True)]


def flat(answer):
    return tuple(leaf for part in answer for leaf in flat(part)) if isinstance(answer, tuple) else (answer,)


DOUBLES = np.array([3.0, -1.0, 4.0, 1.0, -5.0, 9.0, 2.5])
INTEGERS = np.array([3, -1, 4, 1, -5, 9, 2])
STATES = {
    "a number": (Aggregate("total", lift=lambda x: x, combine=add), DOUBLES),
    "an integer": (Aggregate("total", lift=lambda x: x, combine=add), INTEGERS),
    "a boolean": (Aggregate("any", lift=lambda x: x > 3, combine=lambda a, b: a or b), DOUBLES),
    "a tuple": (
        Aggregate(
            "avg",
            lift=lambda x: (x, 1),
            combine=lambda a, b: (a[0] + b[0], a[1] + b[1]),
            lower=lambda s: s[0] / s[1],
        ),
        DOUBLES,
    ),
    "a tuple of one": (Aggregate("total", lift=lambda x: (x,), combine=lambda a, b: (a[0] + b[0],)), DOUBLES),
    "a nested tuple": (
        Aggregate(
            "nested",
            lift=lambda x: ((x, x > 0), (1, (x, -x))),
            combine=lambda a, b: (
                (max(a[0][0], b[0][0]), a[0][1] and b[0][1]),
                (a[1][0] + b[1][0], (a[1][1][0], b[1][1][1])),
            ),
        ),
        DOUBLES,
    ),
    "a tuple of integers and booleans": (
        Aggregate(
            "rising",
            lift=lambda x: (x, x, True),
            combine=lambda a, b: (a[0], b[1], a[2] and b[2] and a[1] < b[0]),
            lower=lambda s: s[2],
        ),
        INTEGERS,
    ),
    "a position": (Aggregate("newest", lift=lambda row, x: (row, x), combine=lambda a, b: b, rows=True), DOUBLES),
    "an answer of two": (
        Aggregate(
            "range",
            lift=lambda x: (x, x),
            combine=lambda a, b: (min(a[0], b[0]), max(a[1], b[1])),
            lower=lambda s: (s[1] - s[0], s[0] < 0),
        ),
        DOUBLES,
    ),
    "sometimes NULL": (
        Aggregate("if_positive", lift=lambda x: x, combine=add, lower=lambda s: s if s > 0 else None),
        DOUBLES,
    ),
    "sometimes a tuple": (
        Aggregate("both", lift=lambda x: x, combine=add, lower=lambda s: (s, s > 5) if s > 0 else None),
        INTEGERS,
    ),
}


@pytest.mark.parametrize(("aggregate", "column"), STATES.values(), ids=STATES)
def test_compiled_is_as_plain_python(aggregate, column):
    compiled = answers(aggregate, column)
    plain = answers(aggregate.but(compiled=False), column)
    assert [flat(answer) for answer in compiled] == [flat(answer) for answer in plain]


def test_lower_that_gives_none_is_null():
    aggregate, column = STATES["sometimes NULL"]
    assert answers(aggregate, column) == [3.0, 2.0, 6.0, 4.0, None, 5.0, 6.5]


@pytest.mark.parametrize(
    ("kind", "state"),
    [
        ("i1", "i8"),
        ("u4", "u8"),
        ("u8", "u8"),
        ("f4", "f4"),
        *(
            pytest.param(*kinds, marks=pytest.mark.long)
            for kinds in (("i2", "i8"), ("i4", "i8"), ("u1", "u8"), ("u2", "u8"))
        ),
    ],
)
def test_sums_of_small_numbers_are_exact(kind, state):
    most = 2**20 if kind == "f4" else np.iinfo(kind).max // (4 if kind == "u8" else 1)
    column = np.array([most, most - 1, most, 1, 0, most], kind)
    aggregate = Aggregate("total", lift=lambda x: x, combine=add)
    made = specialise(ALGORITHMS["two_stacks"].kernel, aggregate, (column.dtype,), "size")
    assert (made.state, made.answer) == (np.dtype(state), np.dtype(state))
    assert answers(aggregate, column) == [sum(column[max(i - 2, 0) : i + 1].tolist()) for i in range(len(column))]


def test_a_state_of_doubles_over_single_precision_keeps_its_precision():
    column = np.array([1e8, 1.0, 1.0], "f4")
    widened = Aggregate("total", lift=lambda x: x + 0.0, combine=add)
    assert answers(widened, column) == [1e8, 1e8 + 1, 1e8 + 2]


def refuses_large(x):
    if x > 4:
        raise ValueError("larger than 4")
    return x


def test_compiled_arithmetic_is_the_processors():
    ends = np.array([2**63 - 1, 1])
    assert answers(Aggregate("total", lift=lambda x: x, combine=add), ends) == [2**63 - 1, -(2**63)]
    share = Aggregate("share", lift=lambda x: (x, 0.0), combine=lambda a, b: a, lower=lambda s: s[0] / s[1])
    found = answers(share, np.array([1.0, -1.0, 0.0]), size=1)
    assert found[:2] == [math.inf, -math.inf]
    assert math.isnan(found[2])
    whole = Aggregate("whole", lift=lambda x: (x, 0), combine=lambda a, b: a, lower=lambda s: s[0] // s[1])
    assert answers(whole, np.array([7, -7]), size=1) == [0, 0]


@pytest.mark.parametrize("part", ["lift", "combine", "lower"])
def test_what_raises_says_to_run_it_as_plain_python_which_shows_the_exception(part):
    parts = {"lift": lambda x: x, "combine": lambda a, b: max(a, b), "lower": lambda s: s}
    parts |= {"combine": lambda a, b: refuses_large(max(a, b))} if part == "combine" else {part: refuses_large}
    aggregate = Aggregate("bounded", **parts)
    assert answers(aggregate, DOUBLES[:4]) == [3.0, 3.0, 4.0, 4.0]
    with pytest.raises(SashError, match="a function of the aggregate bounded raised; compiled=False runs it as plain"):
        answers(aggregate, DOUBLES)
    with pytest.raises(ValueError, match="larger than 4"):
        answers(aggregate.but(compiled=False), DOUBLES)


def test_an_error_names_the_aggregate_that_ran_not_one_of_the_same_meaning():
    first, second = (Aggregate(name, lift=refuses_large, combine=max_of) for name in ("first", "second"))
    answers(first, DOUBLES[:4])
    with pytest.raises(SashError, match="the aggregate second raised"):
        answers(second, DOUBLES)


def max_of(a, b):
    return a if a > b else b


SCALE = 3


def scaled(x):
    return x * SCALE


def shifted(x):
    return scaled(x) + 1


def test_helpers_are_compiled_too_wherever_they_are():
    def local(x):
        return shifted(x) - offset

    offset = 0.5
    double = lambda x: 2 * x  # noqa: E731
    aggregate = Aggregate(
        "helped",
        lift=lambda x: local(double(x)),
        combine=lambda a, b: max_of(a, b),
        lower=lambda s: (lambda y: shifted(y))(s),
    )
    expected = [3 * (3 * 2 * max(DOUBLES[max(i - 2, 0) : i + 1]) + 0.5) + 1 for i in range(len(DOUBLES))]
    assert answers(aggregate, DOUBLES) == expected
    assert answers(aggregate.but(compiled=False), DOUBLES) == expected


def test_other_input_types_are_other_kernels():
    aggregate = Aggregate("total", lift=lambda x: x, combine=add)
    kinds = {
        specialise(ALGORITHMS["two_stacks"].kernel, aggregate, (kind,)).state.str for kind in ("f4", "f8", "i8", "u8")
    }
    assert kinds == {"<f4", "<f8", "<i8", "<u8"}


@pytest.mark.filterwarnings("ignore:SASH_CACHE_DIR")
def test_two_threads_that_ask_at_once_compile_once(monkeypatch):
    built = []

    def build(*arguments):
        built.append(threading.get_ident())
        return real(*arguments)

    real = numba_backend.build
    monkeypatch.setattr(numba_backend, "build", build)
    monkeypatch.setenv("SASH_CACHE_DIR", __file__)  # no folder, and so no lock between processes to help
    together, got = threading.Barrier(2), []

    def ask():
        aggregate = Aggregate("asked", lift=lambda x: x - 12345, combine=add)
        together.wait()
        got.append(answers(aggregate, INTEGERS, size=1, using="recalc"))

    threads = [threading.Thread(target=ask) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert got == [[x - 12345 for x in INTEGERS.tolist()]] * 2
    assert len(built) == 1


def object_that_calls(name):
    """Object code of a function that calls another by name, in the convention of kernels."""
    module = llvm.parse_assembly(f"""
        declare i64 @{name}()
        define i32 @kernel(ptr %result, ptr %error) {{
            %got = call i64 @{name}()
            store i64 %got, ptr %result
            ret i32 0
        }}
        """)
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    machine = llvm.Target.from_default_triple().create_target_machine(jit=True, codemodel="jitdefault")
    return machine.emit_object(module)


@pytest.mark.parametrize("name", ["no_such_function", "Py_IsInitialized", "NRT_MemInfo_call_dtor", "numba_gamma"])
def test_object_code_that_would_not_link_or_would_run_python_is_refused(name):
    code = object_that_calls(name)
    assert native.unresolved(code) == [name]
    with pytest.raises(SashError, match=f"it calls {name}, which this process does not have"):
        native.load(code, "kernel", 0)


def test_object_code_that_calls_the_c_library_is_linked():
    code = object_that_calls("getpid")
    assert native.undefined(code) == {"getpid"}
    assert native.load(code, "kernel", 0)() == (0, os.getpid())


@pytest.mark.parametrize(
    "array", [np.arange(3), np.zeros(2, [("f0", "f8"), ("f1", "i8")]), np.arange(9)[4:], np.zeros(0)]
)
def test_data_is_where_the_header_of_an_array_says(array):
    assert native._header_address(array) == array.__array_interface__["data"][0]
    assert native._address is native._header_address


def test_an_aggregate_that_needs_numba_at_run_time_is_refused_and_not_stored(tmp_path, monkeypatch):
    monkeypatch.setenv("SASH_CACHE_DIR", str(tmp_path / "kernels"))
    aggregate = Aggregate("gammas", lift=lambda x: math.gamma(x), combine=add)
    with pytest.raises(NotCompilable, match=r"gammas cannot be compiled: it calls numba_gamma.*compiled=False"):
        answers(aggregate, np.array([1.0, 5.0]), using="recalc")
    assert answers(aggregate.but(compiled=False), np.array([1.0, 5.0]), using="recalc") == [1.0, 25.0]
    assert disk.clear() == 0


def forking(body):
    """Run a script whose forked child must end well; a child that hangs ends with the time."""
    script = f"""
        import os, threading
        import numpy as np
        from sash import Aggregate
        from sash.kernels.fifo import slide

        def largest(k, using="sba"):
            combine = lambda a, b: a if a > b else b
            column = np.arange(5000.0)
            values = slide(Aggregate("largest", lift=lambda x: x + k, combine=combine), column, size=100, using=using)
            assert np.array_equal(values.values, column + k)
    {textwrap.indent(textwrap.dedent(body), "    " * 2)}
        if child == 0:
            os._exit(0)
        assert os.waitpid(child, 0)[1] == 0
        """
    command = [sys.executable, "-c", textwrap.dedent(script)]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, start_new_session=True)
    try:
        assert process.wait(timeout=60) == 0, process.stderr.read()
    finally:
        if process.poll() is None:
            os.killpg(process.pid, 9)  # the child too
        process.communicate()


def test_a_forked_child_runs_kernels_and_has_a_second_thread_of_its_own():
    forking("""
        largest(0.0, using="pba")
        child = os.fork()
        if child == 0:
            largest(0.0, using="pba")
            largest(0.0)
    """)


def test_a_process_may_fork_while_another_of_its_threads_compiles(tmp_path, monkeypatch):
    monkeypatch.setenv("SASH_CACHE_DIR", str(tmp_path))
    forking("""
        from sash.kernels.compiling import numba_backend
        begun, build = threading.Event(), numba_backend.build

        def beginning(*arguments):
            begun.set()
            return build(*arguments)

        numba_backend.build = beginning
        compiling = threading.Thread(target=largest, args=(0.0,))
        compiling.start()
        begun.wait()
        child = os.fork()
        if child == 0:
            largest(0.0)
            largest(1.0, using="recalc")
        else:
            compiling.join()
    """)
