"""The laws an aggregate promises, tried: a search for counter-examples, and a report of what it found.

Partials are folds of short runs of sampled rows, the simplest first; a counter-example is shrunk before
it is reported. The functions run as plain Python, where a division by zero raises; compiled, it gives
an infinity or NaN.
"""

from __future__ import annotations

import copy
import itertools
import math
import random
import reprlib
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Any

import numpy as np

from sash.algebra.aggregate import Aggregate, State
from sash.algebra.agreement import FLOATS, agree, exactly, is_number, leaves, same

TRIALS = 2000
SECONDS = 10.0  # a search that takes longer stops where it is
SHRINKS = 1000  # how many smaller cases are tried for one counter-example

Run = tuple[int, ...]  # rows of one partial, as indices into the samples


@dataclass(frozen=True)
class Finding:
    """What was found of one law: a sentence, and whether that is a counter-example."""

    law: str
    sentence: str
    broken: bool = False

    def __str__(self) -> str:
        return f"{self.law}: {'FAILS: ' if self.broken else ''}{self.sentence}"


@dataclass(frozen=True, repr=False)
class Report:
    """What ``sash.check`` found: true where there is no counter-example, and readable as a string."""

    name: str
    findings: tuple[Finding, ...]

    @property
    def counterexamples(self) -> dict[str, str]:
        """For each law that does not hold, the sentence that shows it."""
        return {finding.law: finding.sentence for finding in self.findings if finding.broken}

    def __bool__(self) -> bool:
        return not self.counterexamples

    def __str__(self) -> str:
        broken = list(self.counterexamples)
        verdict = "no counter-example found"
        if broken:
            verdict = f"counter-example found for {', '.join(broken)}"
        return "\n".join([f"{self.name}: {verdict}", *map(str, self.findings)])

    __repr__ = __str__


def try_laws(aggregate: Aggregate, samples: Sequence[tuple[Any, ...]], *, tolerance: float = 1e-9) -> Report:
    """Try the laws of an aggregate on samples: tuples of what ``lift`` takes, without the position.

    >>> difference = Aggregate("difference", lift=lambda x: x, combine=lambda a, b: a - b)
    >>> print(try_laws(difference, [(1,), (2,)]).counterexamples["associative"])
    combine(combine(a, b), c) = -1 but combine(a, combine(b, c)) = 1 for a = b = c = fold of [1]
    """
    search = _Search(aggregate, samples, tolerance)
    with np.errstate(all="ignore"):
        search.run()
    return Report(aggregate.name, tuple(search.findings()))


class _Broken(Exception):
    """A function of the aggregate raised, or gave what is no state; ``part`` says which."""

    def __init__(self, part: str, sentence: str) -> None:
        super().__init__(sentence)
        self.part = part


@dataclass
class _Law:
    """A promise about so many adjacent partials, and how it fared."""

    name: str
    operands: int
    refute: Callable[..., str | None] | None  # of the partials: a sentence where they break it; None: not given
    promised: bool = True
    when_true: str = "held"
    trials: int = 0
    sentence: str | None = None  # what showed that a law that is not promised does not hold


class _Search:
    """One search: the samples, the laws, and what has been found so far."""

    def __init__(self, aggregate: Aggregate, samples: Sequence[tuple[Any, ...]], tolerance: float) -> None:
        self.aggregate, self.tolerance = aggregate, tolerance
        distinct = {repr(sample): sample for sample in samples}.values()
        self.samples = sorted(distinct, key=lambda sample: tuple(map(_complexity, sample)))
        self.shape: Any = None
        self.near: Callable[[State], State] = exactly
        self.known: dict[tuple[int, Run], State] = {}
        self.broken: dict[str, str] = {}
        self.laws = self._laws()

    def run(self) -> None:
        """Lift every sample, then try the laws on runs of those that could be lifted."""
        self.samples = [self.samples[i] for i in range(len(self.samples)) if self._lifts(i)]
        end = time.monotonic() + SECONDS
        for runs in itertools.islice(_trials(len(self.samples)), TRIALS):
            self.known.clear()
            for law in self.laws:
                if law.refute is not None and law.sentence is None and law.name not in self.broken:
                    self._try(law, runs[: law.operands])
            if time.monotonic() > end:
                break

    def findings(self) -> Iterator[Finding]:
        """What is to be said of each law, in the order of the report."""
        if "lift" in self.broken:
            yield Finding("lift", self.broken["lift"], broken=True)
        else:
            shape = f"gives {_shape_in_words(self.shape)}" if self.aggregate.compiled else "raises nothing"
            yield Finding("lift", f"{shape} for each of {len(self.samples)} different samples")
        for law in self.laws:
            if law.name in self.broken:
                yield Finding(law.name, self.broken[law.name], broken=True)
            elif law.refute is None:
                yield Finding(law.name, "not given")
            elif not law.promised:
                looks = "; looks true" if law.trials and law.sentence is None else ""
                yield Finding(law.name, f"not promised{looks}")
            elif law.trials == 0:
                yield Finding(law.name, f"could not be tried, since {' and '.join(self.broken)} failed")
            else:
                yield Finding(law.name, f"{law.when_true} in {law.trials} trials")

    def _laws(self) -> list[_Law]:
        aggregate, combine, inverse, equation = self.aggregate, self.combine, self.inverse, self._equation
        associative = equation(
            "combine(combine(a, b), c)",
            lambda a, b, c: combine(combine(a, b), c),
            "combine(a, combine(b, c))",
            lambda a, b, c: combine(a, combine(b, c)),
        )
        undone = equation("inverse(combine(a, b), a)", lambda a, b: inverse(combine(a, b), a), "b", lambda a, b: b)
        swapped = equation("combine(a, b)", combine, "combine(b, a)", lambda a, b: combine(b, a))
        laws = [
            _Law(
                "combine", 2, self._combines, when_true="keeps that shape" if aggregate.compiled else "raised nothing"
            ),
            _Law("associative", 3, associative),
            _Law("identity", 1, None if aggregate.identity is None else self._changes_nothing),
            _Law("inverse", 2, None if aggregate.inverse is None else undone),
            _Law("commutative", 2, swapped, promised=aggregate.commutative),
            _Law("selective", 2, self._selects, promised=aggregate.selective),
            _Law("lower", 1, self._lowers, when_true="raised nothing"),
        ]
        # Partials that know where they stand change places only where that is promised to be harmless.
        return [law for law in laws if law.name != "commutative" or law.promised or not aggregate.rows]

    # The functions of the aggregate, watched.

    def lift(self, index: int, position: int) -> State:
        sample = self.samples[index]
        arguments = (position, *sample) if self.aggregate.rows else sample
        state = self._call("lift", self.aggregate.lift, *arguments)
        if self.aggregate.compiled and _shape(state) is None:
            raise _Broken("lift", f"lift gives {shown(state)} for {_row(arguments)}: {NO_STATE}")
        return state

    def combine(self, a: State, b: State) -> State:
        return self._state("combine", self.aggregate.combine, self.near(a), self.near(b))

    def inverse(self, s: State, old: State) -> State:
        assert self.aggregate.inverse is not None
        return self._state("inverse", self.aggregate.inverse, self.near(s), self.near(old))

    def _state(self, part: str, function: Callable[..., Any], *states: State) -> State:
        """What a function makes of two partials, which must be a partial too."""
        result = self._call(part, function, *states)
        if self.aggregate.compiled and _shape(result) != self.shape:
            passed = f"{part} gives {shown(result)} for {shown(states[0])} and {shown(states[1])}"
            raise _Broken(part, f"{passed}, but lift gives {_shape_in_words(self.shape)}")
        return result

    def _call(self, part: str, function: Callable[..., Any], *arguments: Any) -> Any:
        # A state that is a plain Python object can be changed in place, and is used again afterwards.
        passed = arguments if self.aggregate.compiled else copy.deepcopy(arguments)
        try:
            result = function(*passed)
        except Exception as error:
            what = " and ".join(map(shown, arguments)) or "nothing"
            raise _Broken(part, f"{part} raised {type(error).__name__} on {what}: {error}") from error
        if not self.aggregate.compiled and not same(passed, arguments):
            raise _Broken(
                part,
                f"{part} changed what it was given from {shown(arguments)} to {shown(passed)}; "
                "it must make a new state, since the old one is used again",
            )
        return result

    # The laws.

    def _equation(
        self, left_text: str, left: Callable[..., State], right_text: str, right: Callable[..., State]
    ) -> Callable[..., str | None]:
        """A law that two ways to compute a partial give the same."""

        def refute(*operands: State) -> str | None:
            x, y = left(*operands), right(*operands)

            def again(near: Callable[[State], State]) -> tuple[State, State]:
                self.near = near
                try:
                    return left(*operands), right(*operands)
                finally:
                    self.near = exactly

            if agree(x, y, operands, again, self.tolerance):
                return None
            return f"{left_text} = {shown(x)} but {right_text} = {shown(y)}"

        return refute

    def _combines(self, a: State, b: State) -> None:
        self.combine(a, b)

    def _changes_nothing(self, a: State) -> str | None:
        identity, combine = self.aggregate.identity, self.combine
        if self.aggregate.compiled and _shape(identity) != self.shape:
            return f"identity = {shown(identity)} but lift gives {_shape_in_words(self.shape)}"
        left = self._equation("combine(identity, a)", lambda a: combine(identity, a), "a", lambda a: a)
        right = self._equation("combine(a, identity)", lambda a: combine(a, identity), "a", lambda a: a)
        try:
            return left(a) or right(a)
        except _Broken as error:
            return f"{error};"

    def _selects(self, a: State, b: State) -> str | None:
        chosen = self.combine(a, b)
        if same(chosen, a) or same(chosen, b):
            return None
        return f"combine(a, b) = {shown(chosen)} is neither a = {shown(a)} nor b = {shown(b)}"

    def _lowers(self, a: State) -> str | None:
        answer = self._call("lower", self.aggregate.lower, a)
        if not self.aggregate.compiled or answer is None or _shape(answer) is not None:
            return None
        return f"lower gives {shown(answer)}, which is no number, tuple of numbers, or None,"

    # The search.

    def _lifts(self, index: int) -> bool:
        """Whether a sample can be lifted to a state of the shape that the others have."""
        try:
            state = self.lift(index, index)
        except _Broken as error:
            self.broken.setdefault(error.part, str(error))
            return False
        if not self.aggregate.compiled:
            return True
        if self.shape is None:
            self.shape, self.first = _shape(state), (index, state)
        elif _shape(state) != self.shape:
            other, expected = self.first
            self.broken.setdefault(
                "lift",
                f"lift gives {shown(expected)} for {_row(self.samples[other])} but {shown(state)} for "
                f"{_row(self.samples[index])}: a state must always have the same shape",
            )
            return False
        return True

    def _try(self, law: _Law, runs: tuple[Run, ...]) -> None:
        """Try a law on a case; where it breaks, or a function does, keep the smallest case that shows it."""
        broken = self._attempt(law, runs)
        if broken is None:
            law.trials += 1
            return
        name, sentence = broken
        if not law.promised:
            law.sentence = sentence
        elif name not in self.broken:
            self.broken[name] = self._shrunk(law, name, runs, sentence)

    def _attempt(self, law: _Law, runs: tuple[Run, ...]) -> tuple[str, str] | None:
        """The name of the law that a case breaks, and how; or None."""
        starts = itertools.accumulate(map(len, runs), initial=0)
        try:
            partials = [self._fold(start, run) for start, run in zip(starts, runs, strict=False)]
            sentence = law.refute(*partials) if law.refute else None
        except _Broken as error:
            return error.part, str(error)
        return None if sentence is None else (law.name, f"{sentence} for {self._operands(runs)}")

    def _fold(self, start: int, run: Run) -> State:
        if not self.aggregate.rows:
            start = 0
        key = start, run
        if key not in self.known:
            self.known[key] = reduce(self.combine, (self.lift(i, start + k) for k, i in enumerate(run)))
        return self.known[key]

    def _shrunk(self, law: _Law, name: str, runs: tuple[Run, ...], sentence: str) -> str:
        """The sentence of a case as small as can be found that breaks the law of this name too."""
        cases = _smaller(runs)
        for _ in range(SHRINKS):
            smaller = next(cases, None)
            if smaller is None:
                break
            broken = self._attempt(law, smaller)
            if broken is not None and broken[0] == name:
                sentence, cases = broken[1], _smaller(smaller)
        return sentence

    def _operands(self, runs: tuple[Run, ...]) -> str:
        """Which rows the operands are folds of: ``a = fold of [3.0], b = c = fold of [1.0, 2.0]``."""
        position, texts = itertools.count(), []
        for run in runs:
            rows = [(next(position), *self.samples[i]) if self.aggregate.rows else self.samples[i] for i in run]
            texts.append(f"fold of [{', '.join(map(_row, rows))}]")
        named = [(text, "abc"[k]) for k, text in enumerate(texts)]
        groups = itertools.groupby(named, key=lambda pair: pair[0])
        return ", ".join(f"{' = '.join(name for _, name in group)} = {text}" for text, group in groups)


NO_STATE = "a state must be a number or a tuple of numbers; compiled=False allows any state"


def _trials(samples: int) -> Iterator[tuple[Run, ...]]:
    """Cases to try: three runs of rows each, the simplest first, without an end."""
    if not samples:
        return
    yield from (((i,), (j,), (k,)) for i, j, k in itertools.product(range(min(samples, 8)), repeat=3))
    chance = random.Random(0)
    for trial in itertools.count():
        longest = min(2 + trial // 200, 8)
        lengths = [chance.randint(1, longest) for _ in range(3)]
        yield tuple(tuple(chance.randrange(samples) for _ in range(length)) for length in lengths)


def _smaller(runs: tuple[Run, ...]) -> Iterator[tuple[Run, ...]]:
    """The cases a step simpler: one row dropped, or one sample replaced by a simpler one."""
    for which, run in enumerate(runs):
        if len(run) > 1:
            for k in range(len(run)):
                yield (*runs[:which], (*run[:k], *run[k + 1 :]), *runs[which + 1 :])
    for which, run in enumerate(runs):
        for k, index in enumerate(run):
            for simpler in range(min(index, 16)):
                yield (*runs[:which], (*run[:k], simpler, *run[k + 1 :]), *runs[which + 1 :])


def _complexity(value: Any) -> tuple[int, int, bool, float, bool, str]:
    """A key that puts simple samples first: short numbers, whole ones, small ones, positive ones."""
    if not is_number(value):
        return 3, len(repr(value)), False, 0.0, False, repr(value)
    if isinstance(value, FLOATS) and not math.isfinite(value):
        return 1 + math.isnan(value), 0, False, 0.0, bool(value < 0), ""
    value = float(value) if isinstance(value, FLOATS) else int(value)
    negative = str(value).startswith("-")  # true of -0.0 too
    return 0, len(str(abs(value))), value != int(value), abs(value), negative, ""


def _shape(state: Any) -> Any:
    """``"number"`` for a number, a tuple of shapes for a tuple, None for what is no state."""
    if isinstance(state, tuple):
        inner = tuple(map(_shape, state))
        return None if not inner or None in inner else inner
    return "number" if is_number(state) else None


def _shape_in_words(shape: Any) -> str:
    if not isinstance(shape, tuple):
        return "a number"
    text = repr(shape).replace("'", "")
    return text if len(text) <= 80 else f"tuples of {len(leaves(shape))} numbers"


# What is shown.

_short = reprlib.Repr()
_short.maxtuple = _short.maxlist = _short.maxset = _short.maxdict = 12
_short.maxother = _short.maxstring = _short.maxlong = 80


def shown(value: Any) -> str:
    """A state, an answer or a list of samples as it stands in a sentence: in full where it is short."""
    return _short.repr(_plain(value))


def _plain(value: Any) -> Any:
    """The value with NumPy's scalars as Python's, which are easier to read."""
    if type(value) in (tuple, list):
        return type(value)(map(_plain, value))
    return value.item() if isinstance(value, np.generic) else value


def _row(arguments: tuple[Any, ...]) -> str:
    """What lift was given for one row."""
    return shown(arguments[0] if len(arguments) == 1 else arguments)
