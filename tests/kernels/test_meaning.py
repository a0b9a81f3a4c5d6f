"""A function's meaning is what it computes: not where it stands, which object it is, or in which process."""

import enum
import math
import os
import subprocess
import sys
import textwrap
import types
from collections import namedtuple
from contextlib import suppress

import cloudpickle
import numba
import numpy as np
import pytest

import sash
from sash.algebra.catalogue import FUNCTIONS, builtin
from sash.errors import NotCompilable
from sash.kernels.compiling import KERNELS
from sash.kernels.compiling.meaning import Unclear, digest
from sash.kernels.fifo import ALGORITHMS, slide

PARTS = ("lift", "combine", "lower", "inverse")

SOURCES = {  # each defines f
    "a lambda": "f = lambda x: x + 1",
    "a closure": """
        def scaled(k):
            def inner(x):
                return x * k
            return inner
        f = scaled(2.5)
        """,
    "a default": "f = lambda x, k=(1, 2.0): x + k[0]",
    "globals": """
        import math
        import numpy as np
        TABLE = np.array([1.0, 2.0])
        KIND = np.dtype("f4")
        ONE = np.float32(1)
        def helper(x): return math.sqrt(x) * TABLE[0] + ONE
        f = lambda x: helper(x) if KIND is not None else np.exp(x)
        """,
    "a set": "f = lambda x: x in {'sun', 'moon', 'stars', 'sky', 'earth', 1, 2.0}",
    "recursion": """
        def f(n): return 1 if n < 2 else n * f(n - 1)
        """,
    "mutual recursion": """
        def even(n): return True if n == 0 else odd(n - 1)
        def odd(n): return False if n == 0 else even(n - 1)
        f = lambda x: even(x)
        """,
    "a function in a function": """
        WIDTH = 3
        def f(x):
            def inner(y): return y % WIDTH
            return inner(x)
        """,
    "an enumeration": """
        import enum
        class Side(enum.Enum):
            LEFT = 1
            RIGHT = 2
        f = lambda x: x * Side.LEFT.value
        """,
}


def define(source, **given):
    """What a piece of source defines as f, as if typed in a program of its own."""
    scope = {"__name__": "__main__", **given}
    exec(textwrap.dedent(source), scope)
    return scope["f"]


def elsewhere(script, *arguments, seed):
    """What a fresh process prints."""
    environment = {**os.environ, "PYTHONHASHSEED": str(seed)}
    command = [sys.executable, "-c", textwrap.dedent(script), *arguments]
    return subprocess.run(command, env=environment, check=True, capture_output=True, text=True, timeout=60).stdout


def test_a_lambda_typed_again_means_the_same():
    here = digest(lambda x: max(x, 0.5))
    there = digest(
        lambda x: max(x, 0.5),
    )
    assert here == there == digest(define("f = lambda x: max(x, 0.5)"))


@pytest.mark.parametrize("source", SOURCES.values(), ids=SOURCES)
def test_a_function_moved_down_the_file_means_the_same(source):
    assert digest(define(source)) == digest(define("import sys\n\n\n" + textwrap.dedent(source)))


@pytest.mark.parametrize("source", SOURCES.values(), ids=SOURCES)
def test_a_pickled_function_means_the_same(source):
    f = define(source)
    assert digest(cloudpickle.loads(cloudpickle.dumps(f))) == digest(f)


def test_processes_agree_whether_a_function_is_typed_there_or_sent_there():
    script = """
        import pickle, sys, textwrap
        from sash.kernels.compiling.meaning import digest

        for typed, sent in pickle.loads(bytes.fromhex(sys.argv[1])):
            scope = {"__name__": "__main__"}
            exec(textwrap.dedent(typed), scope)
            print(digest(scope["f"]), digest(pickle.loads(sent)))
        """
    functions = [(source, cloudpickle.dumps(define(source))) for source in SOURCES.values()]
    here = [digest(define(source)) for source in SOURCES.values()]
    for seed in (1, 2):
        there = elsewhere(script, cloudpickle.dumps(functions).hex(), seed=seed).split()
        assert there[::2] == here
        assert there[1::2] == here


def test_processes_agree_on_every_algorithm_and_every_built_in():
    script = """
        import sys
        from contextlib import suppress
        from sash.algebra.catalogue import FUNCTIONS, builtin
        from sash.kernels.compiling import KERNELS
        from sash.kernels.compiling.meaning import digest
        import sash.kernels.fifo

        print("numba" in sys.modules)
        for kernel in KERNELS.values():
            print(kernel.name, digest(kernel.make))
        for name in FUNCTIONS:
            with suppress(TypeError):  # it takes parameters
                aggregate = builtin(name)
                if getattr(aggregate, "compiled", False):
                    print(name, digest(*(getattr(aggregate, part) for part in ("lift", "combine", "lower", "inverse"))))
        """
    first, second = (elsewhere(script, seed=seed).splitlines() for seed in (1, 2))
    assert first == second
    here = {each.name: digest(each.kernel.make) for each in ALGORITHMS.values()}
    for name in FUNCTIONS:
        with suppress(TypeError):
            aggregate = builtin(name)
            if getattr(aggregate, "compiled", False):
                here[name] = digest(*(getattr(aggregate, part) for part in PARTS))
    assert first[0] == "False"
    assert len(here) > len(ALGORITHMS)
    there = dict(line.split() for line in first[1:])
    assert {name: there[name] for name in here} == here
    assert set(there) - set(here) <= set(KERNELS)


def test_running_a_function_does_not_change_its_meaning():
    f = define("def f(x): return x + x.real if x else math.sqrt(x)", math=math)
    before = digest(f)
    for _ in range(1000):  # Python rewrites the bytecode of what runs often
        f(1.0)
    assert digest(f) == before


def test_a_global_that_only_shares_the_name_of_an_attribute_does_not_matter():
    source = "f = lambda x: x.real"
    assert digest(define(source, real=1)) == digest(define(source, real=object())) == digest(define(source))


def closing(k):
    return lambda x: x + k


def defaulting(k):
    return lambda x, k=k: x + k


def reading(k):
    return define("f = lambda x: x + K", K=k)


Point, Flipped = namedtuple("Point", "x y"), namedtuple("Point", "y x")
Colour = enum.Enum("Colour", {"RED": 1, "BLUE": 2})
Other = enum.Enum("Colour", {"RED": 3, "BLUE": 2})
LEVELS = [  # all different, though some are equal to Python
    *(1, 1.0, True, np.int64(1), np.float64(1), np.float32(1), np.int32(1), 1 + 0j, "1", b"1", (1,), (1.0,), [1], {1}),
    *(0.0, -0.0, np.float64(-0.0), math.nan, math.inf, None, ..., {1: 2}, {1: 3}, {2: 2}),
    *(np.dtype("f8"), np.dtype("f4"), np.dtype("i8"), np.dtype([("a", "f8")]), np.dtype([("b", "f8")])),
    *(np.float64, np.float32, float, int, ValueError, KeyError),
    *(np.array([1, 2]), np.array([2, 1]), np.array([[1, 2]]), np.array([1.0, 2.0]), np.arange(2000), -np.arange(2000)),
    *(math, np, math.log, math.exp, np.log, np.exp, max, min, abs, np.abs),
    *(Point(1, 2), Flipped(1, 2), Point, Flipped, Colour, Other, Colour.RED, Colour.BLUE, Other.RED, Other.BLUE),
    *(lambda x: x, lambda x: -x, lambda x: x + 1, lambda x: x + 1.0, lambda x: x + True),
]


@pytest.mark.parametrize("made", [closing, defaulting, reading])
def test_another_value_is_another_meaning(made):
    digests = [digest(made(level)) for level in LEVELS]
    repeated = [LEVELS[i] for i, found in enumerate(digests) if found in digests[:i]]
    assert repeated == []
    assert digests == [digest(made(level)) for level in LEVELS]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (lambda x: x + 1, lambda x: x + 2),
        (lambda x: x + 1, lambda x: x + 1.0),
        (lambda x: x + 1, lambda x: x + True),
        (lambda x: x + 0.0, lambda x: x + -0.0),
        (lambda x: x + (1, 2.0)[0], lambda x: x + (1.0, 2)[0]),
        (lambda x: math.log(x), lambda x: math.exp(x)),
        (lambda x, y: x - y, lambda y, x: x - y),
        (lambda x: (lambda y: y + 1)(x), lambda x: (lambda y: y + 2)(x)),
        (lambda x: min(x, 1), lambda x: max(x, 1)),
    ],
)
def test_another_body_is_another_meaning(one, other):
    assert digest(one) != digest(other)


@pytest.mark.parametrize(
    ("source", "change"),
    [
        ("def helper(x): return x + 1\nf = lambda x: helper(x)", ("x + 1", "x + 2")),
        ("def deep(x): return x + 1\ndef helper(x): return deep(x)\nf = lambda x: helper(x)", ("x + 1", "x - 1")),
        ("K = 1\ndef helper(x): return x + K\nf = lambda x: helper(x)", ("K = 1", "K = 1.0")),
        ("def helper(x, *, k=1): return x + k\nf = lambda x: helper(x)", ("k=1", "k=2")),
        ("K = 1\nf = lambda x: (lambda y: y + K)(x)", ("K = 1", "K = 2")),
        ("def f(n): return 1 if n < 2 else n * f(n - 1)", ("n * f", "n + f")),
        (SOURCES["mutual recursion"], ("return False", "return True")),
        (SOURCES["an enumeration"], ("LEFT = 1", "LEFT = 3")),
        ("def a(x): return x\ndef b(x): return -x\nf = lambda x: a(b(x)) + a(x)", ("+ a(x)", "+ b(x)")),
    ],
)
def test_a_change_further_down_is_another_meaning(source, change):
    changed = source.replace(*change)
    assert changed != source
    assert digest(define(source)) != digest(define(changed))


@pytest.mark.parametrize("source", ["f = lambda x: rates.RATE * x", "f = lambda x: getattr(rates, 'RATE') * x"])
def test_what_is_read_of_a_module_is_part_of_the_meaning_and_the_rest_is_not(source):
    def rates(**defined):
        module = types.ModuleType("rates")
        vars(module).update(defined)
        return module

    before = digest(define(source, rates=rates(RATE=1.5, unread=1)))
    assert before == digest(define(source, rates=rates(RATE=1.5, unread=object())))
    assert before != digest(define(source, rates=rates(RATE=2.5, unread=1)))


def test_nan_means_itself():
    assert digest(closing(float("nan"))) == digest(closing(math.inf - math.inf))
    assert digest(define("f = lambda x: x + (1e999 - 1e999)")) == digest(define("f = lambda x: x + (1e999 - 1e999)"))


def test_a_function_met_twice_means_the_same_as_two_alike():
    def used(first, second):
        return lambda x: first(x) + second(x)

    one, two = (define("f = lambda x: x + 1") for _ in range(2))
    assert digest(used(one, one)) == digest(used(one, two))


def test_recursion_ends_whatever_it_goes_through():
    itself = []
    itself.append(itself)
    table = {"again": itself}
    table["table"] = table
    found = digest(closing(table))
    table["more"] = 1
    assert digest(closing(table)) != found


def test_a_closure_may_be_read_before_it_is_filled():
    def early():
        inner = lambda x: x + later  # noqa: E731
        before = digest(inner)
        later = 1
        return before, digest(inner)

    before, after = early()
    assert before != after


def test_a_list_that_has_changed_is_another_meaning():
    weights = [1.0, 2.0]
    before = digest(closing(weights))
    weights.append(3.0)
    assert digest(closing(weights)) != before


def test_a_jitted_helper_means_its_python_function():
    def helper(x):
        return x / 3

    def using(helper):
        return lambda x: helper(x)

    plain = digest(using(helper))
    assert digest(using(numba.njit(helper))) == plain
    assert digest(using(numba.njit(nogil=True)(helper))) == plain


def test_options_and_signatures_of_a_jitted_helper_are_part_of_its_meaning():
    def helper(x):
        return x / 3

    jitted = [
        numba.njit(helper),
        numba.njit(fastmath=True)(helper),
        numba.njit(fastmath={"nnan", "ninf", "nsz"})(helper),
        numba.njit(error_model="numpy")(helper),
        numba.njit("float32(float32)")(helper),
        numba.njit("float64(float64)")(helper),
    ]
    assert len({digest(each) for each in jitted}) == len(jitted)


class Thing:
    rate = 2.0

    def lift(self, x):
        return x * self.rate

    def __repr__(self):
        return "Thing()"  # does not tell two things apart


@pytest.mark.parametrize(
    ("value", "called"),
    [
        (object(), "k is of type object"),
        (Thing(), "k is of type Thing"),
        (Thing().lift, "k is of type method"),
        (Thing, "k is the class Thing"),
        (types.SimpleNamespace(k=1), "k is of type SimpleNamespace"),
        ([].append, "k is of type builtin_function_or_method"),
        (np.array([1, "a", None], object), "k is of type ndarray of objects"),
        (np.arange(1_000_000), "k is of type ndarray .* 8000000 bytes"),
        (np.arange(10)[::2], "k is of type ndarray that is not contiguous"),
        ((1, Thing()), "k is of type Thing"),
        ({"a": [Thing()]}, "a of k is of type Thing"),
        ((numba.njit(lambda x: x),), "k is of type CPUDispatcher in a tuple"),
    ],
    ids=lambda value: value if isinstance(value, str) else type(value).__name__,
)
def test_what_another_process_could_not_check_has_no_meaning(value, called):
    with pytest.raises(Unclear, match=called):
        digest(closing(value))


def test_an_aggregate_that_reads_an_object_is_refused_by_name():
    thing = Thing()

    def scaled(x):
        return x * thing.rate

    aggregate = sash.Aggregate("scaled", lift=lambda x: scaled(x), combine=lambda a, b: a + b)
    with pytest.raises(
        NotCompilable, match=r"scaled cannot be compiled: thing of scaled of lift is of type Thing; .*=False"
    ):
        slide(aggregate, np.array([1.0, 2.0]), size=2)
    assert slide(aggregate.but(compiled=False), np.array([1.0, 2.0]), size=2).values.tolist() == [2.0, 6.0]
