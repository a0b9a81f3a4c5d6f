"""Sketches: what they hold by the oracle, how far their estimates are off, and what they refuse."""

import math

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from oracle import oracle
from sash.algebra.catalogue import builtin
from sash.algebra.catalogue.max_entropy import CHUNK
from sash.algebra.catalogue.sketches import might_contain, mixed
from sash.errors import SashError
from sash.kernels.fifo import slide
from strategies import doubles

SKETCH = builtin("moment_sketch")
USING = ("two_stacks", "sba", "flatfat")
SHARES = (0.01, 0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99)
LONG = 1 << 63

numbers = st.floats(-1e3, 1e3, allow_subnormal=False)
columns = st.lists(numbers, min_size=1, max_size=40).map(lambda values: np.array(values, np.float64))
longs = st.integers(-LONG, LONG - 1)
long_columns = st.lists(longs, min_size=1, max_size=40).map(lambda values: np.array(values, np.int64))


def last(rows, size):
    """Frames of the last ``size`` rows at each row."""
    return [(max(0, end - size), end) for end in range(1, rows + 1)]


def flat(state):
    return [number for part in state for number in flat(part)] if isinstance(state, tuple | list) else [state]


def alike(a, b, *parts):
    """Whether two sketches are equal up to rounding, in proportion to the sketches they were made of."""
    a, b, *parts = (np.array(flat(state), np.float64) for state in (a, b, *parts))
    size = sum((np.abs(np.nan_to_num(part, posinf=0.0, neginf=0.0)) for part in parts), np.abs(np.nan_to_num(b)))
    with np.errstate(invalid="ignore"):
        close = np.abs(a - b) <= 1e-9 * size
    return bool(np.all(close | (a == b) | (np.isnan(a) & np.isnan(b))))


def fields(answers):
    """Sketches as Arrow gives them, each as a tuple in the order of a partial."""
    assert answers.type.field("count").type == pa.int64()
    assert answers.type.field("positive").type == pa.int64()
    return [tuple(struct.values()) for struct in answers.to_pylist()]


def magnitude(values):
    """The sketch of absolute values, and of absolute logarithms: what rounding is in proportion to."""
    logs = np.abs(np.log(values[values > 0]))
    ten = np.arange(1, 11)[:, None]
    return (0.0, 0.0, 0, tuple((np.abs(values) ** ten).sum(axis=1)), 0, tuple((logs**ten).sum(axis=1)))


def sketch(values):
    partials = [SKETCH.lift(float(value)) for value in values]
    made = partials[0]
    for partial in partials[1:]:
        made = SKETCH.combine(made, partial)
    return made


def estimate(values, p):
    """The estimated quantile of a column, by the sketch of a window that holds all of it."""
    values = np.asarray(values, np.float64)
    return float(slide(builtin("moment_quantile", p), values, lo=[0], hi=[len(values)], using="two_stacks").values[0])


def rank_error(values, answer, p):
    """How far p is from the share of values that are below the answer, or not above it."""
    return max(np.mean(values < answer) - p, p - np.mean(values <= answer), 0.0)


# moment_sketch


@pytest.mark.parametrize("using", USING)
@given(column=columns, size=st.integers(1, 9))
@settings(max_examples=15)
def test_sketches_of_windows_are_those_of_the_oracle(using, column, size):
    frames = last(len(column), size)
    got = fields(slide(SKETCH, column, size=size, using=using).values)
    for have, want, (lo, hi) in zip(got, oracle(SKETCH, [column.tolist()], frames), frames, strict=True):
        assert alike(have, want, magnitude(column[lo:hi]))


@given(column=st.integers(1, 12).flatmap(doubles), size=st.integers(1, 5))
@settings(max_examples=40)
def test_infinities_and_nan_are_those_of_the_oracle_too(column, size):
    got = fields(slide(SKETCH, column, size=size, using="two_stacks").values)
    want = oracle(SKETCH, [column.tolist()], last(len(column), size))
    assert all(map(alike, got, want))


@given(column=columns, size=st.integers(1, 9))
@settings(max_examples=30)
def test_a_sketch_compiled_and_in_plain_python_is_the_same(column, size):
    compiled, plain = (slide(a, column, size=size).values for a in (SKETCH, SKETCH.but(compiled=False)))
    assert compiled.type == plain.type
    for a, b, (lo, hi) in zip(fields(compiled), fields(plain), last(len(column), size), strict=True):
        assert alike(a, b, magnitude(column[lo:hi]))


@given(column=columns)
@settings(max_examples=50)
def test_a_sketch_holds_extremes_counts_and_sums_of_powers(column):
    low, high, count, sums, positive, log_sums = sketch(column)
    assert (low, high, count, positive) == (column.min(), column.max(), len(column), np.sum(column > 0))
    logs = np.log(column[column > 0])
    ten = np.arange(1, 11)[:, None]
    by_definition = (low, high, count, tuple((column**ten).sum(axis=1)), positive, tuple((logs**ten).sum(axis=1)))
    assert alike((low, high, count, sums, positive, log_sums), by_definition, magnitude(column))


def test_zeros_and_negative_values_do_not_enter_the_log_sums():
    assert sketch([-2.0, 0.0, -0.0, -math.inf])[4:] == (0, (0.0,) * 10)
    assert sketch([-2.0, 0.0, 3.0, 5.0])[4:] == sketch([3.0, 5.0])[4:]


def test_nan_is_the_largest_value_and_makes_every_sum_nan():
    low, high, count, sums, positive, log_sums = sketch([1.0, math.nan, -4.0])
    assert (low, count, positive) == (-4.0, 3, 2)
    assert all(map(math.isnan, (high, *sums, *log_sums)))
    assert math.isnan(sketch([math.nan, math.nan])[0])


@given(a=columns, b=columns, c=columns)
@settings(max_examples=50)
def test_sketches_merge_in_any_order_and_grouping(a, b, c):
    size = magnitude(np.concatenate([a, b, c]))
    a, b, c = map(sketch, (a, b, c))
    merge = SKETCH.combine
    assert alike(merge(merge(a, b), c), merge(a, merge(b, c)), size)
    assert merge(a, b) == merge(b, a)
    assert merge(a, SKETCH.identity) == a == merge(SKETCH.identity, a)


def test_a_nan_survives_the_merge_with_an_empty_sketch():
    nan = sketch([math.nan])
    assert alike(SKETCH.combine(nan, SKETCH.identity), nan)
    assert alike(SKETCH.combine(SKETCH.identity, nan), nan)


@pytest.mark.parametrize("compiled", [True, False])
def test_empty_frames_are_null_and_disturb_nothing(compiled):
    column, frames = np.array([1.0, 2.0]), {"lo": [0, 0, 2], "hi": [0, 2, 2], "using": "two_stacks"}
    answers = slide(SKETCH.but(compiled=compiled), column, **frames)
    assert answers.valid.tolist() == [False, True, False]
    assert fields(answers.values)[1][:3] == (1.0, 2.0, 2)
    median = slide(builtin("moment_quantile", 0.5).but(compiled=compiled), column, **frames)
    assert median.valid.tolist() == [False, True, False]
    assert 1.0 <= median.values[1] <= 2.0


# moment_quantile


@pytest.mark.parametrize("rows", [1_000, 4_000])
@pytest.mark.parametrize("name", ["normal", "uniform", "exponential", "lognormal", "logistic"])
def test_estimated_quantiles_of_smooth_distributions_are_off_by_little(name, rows):
    values = getattr(np.random.default_rng(1), name)(size=4 * rows)
    hi = np.arange(rows, 4 * rows + 1, rows // 2)
    errors = []
    for p in SHARES:
        answers = slide(builtin("moment_quantile", p), values, lo=hi - rows, hi=hi, using="two_stacks").values
        errors += [rank_error(values[end - rows : end], a, p) for a, end in zip(answers, hi, strict=True)]
    assert np.mean(errors) < 0.01
    assert np.max(errors) < 0.05


def test_two_modes_and_heavy_tails_are_seen():
    chance = np.random.default_rng(2)
    modes = np.concatenate([chance.normal(0, 1, 600), chance.normal(12, 1, 1_400)])
    tails = chance.pareto(1.0, 2_000) + 1.0
    for values in (modes, tails):
        assert np.mean([rank_error(values, estimate(values, p), p) for p in SHARES]) < 0.02


@pytest.mark.parametrize(("offset", "error"), [(1e2, 0.01), (1e4, 0.02), (1e6, 0.02), (1e9, 0.15), (1e15, 0.5)])
def test_far_from_zero_accuracy_fades_but_answers_stay(offset, error):
    values = offset + np.random.default_rng(3).normal(size=2_000)
    answers = [estimate(values, p) for p in SHARES]
    assert np.mean([rank_error(values, a, p) for a, p in zip(answers, SHARES, strict=True)]) < error
    assert values.min() <= min(answers) <= max(answers) <= values.max()


@pytest.mark.parametrize("scale", [1e-300, 1e-40, 1e40, 1e300])
def test_magnitudes_whose_powers_overflow_are_estimated_by_their_logarithms(scale):
    values = scale * np.random.default_rng(4).lognormal(size=2_000)
    assert np.mean([rank_error(values, estimate(values, p), p) for p in SHARES]) < 0.02


def test_few_different_values_are_found_again():
    values = np.repeat([1.0, 2.0, 7.0], [30, 50, 20])
    for p, value in ((0.1, 1.0), (0.25, 1.0), (0.5, 2.0), (0.7, 2.0), (0.9, 7.0)):
        assert estimate(values, p) == pytest.approx(value, abs=0.05)


@given(st.floats(-1e300, 1e300), st.floats(-1e300, 1e300), st.sampled_from(SHARES))
@settings(max_examples=30)
def test_one_value_is_its_own_quantile_and_of_two_it_is_one_or_the_other(x, y, p):
    assert estimate([x], p) == x == estimate([x] * 5, p)
    assert estimate([x, y], p) == (min(x, y) if p <= 0.5 else max(x, y))


def test_of_two_different_values_each_has_its_share():
    values = [2.0] * 30 + [9.0] * 70
    assert [estimate(values, p) for p in (0.1, 0.29, 0.31, 0.9)] == [2.0, 2.0, 9.0, 9.0]


@given(
    values=st.lists(
        st.one_of(
            st.floats(allow_nan=False, allow_infinity=False),
            st.sampled_from((0.0, 1.0, 1.0000001, -3.0, 5e-324, 1e-200, 1e200, 1.7e308, -1.7e308)),
        ),
        min_size=1,
        max_size=12,
    ),
    p=st.floats(0, 1),
)
@example(values=[0.0, 5e-324], p=0.5)
@example(values=[-1.7e308, 0.0, 1.7e308], p=0.5)
@example(values=[1.0, math.nextafter(1.0, 2.0), 1.0], p=0.3)
@settings(max_examples=200)
def test_an_estimate_of_finite_values_is_between_the_smallest_and_the_largest(values, p):
    assert min(values) <= estimate(values, p) <= max(values)


@given(values=st.lists(numbers, min_size=3, max_size=30))
@settings(max_examples=15)
def test_a_larger_share_has_no_smaller_quantile(values):
    answers = [estimate(values, p) for p in (0.0, *SHARES, 1.0)]
    assert answers == sorted(answers)
    assert (answers[0], answers[-1]) == (min(values), max(values))


def test_a_quantile_of_values_that_are_not_finite_is_nan():
    assert math.isnan(estimate([1.0, math.nan, 2.0], 0.5))
    assert math.isnan(estimate([1.0, math.inf, 2.0], 0.5))
    assert (estimate([1.0, math.inf], 0.0), estimate([1.0, math.inf], 1.0)) == (1.0, math.inf)
    assert estimate([math.inf, math.inf], 0.5) == math.inf


@pytest.mark.parametrize("compiled", [True, False])
@pytest.mark.parametrize("using", USING)
def test_every_algorithm_estimates_the_same_quantiles(using, compiled):
    values = np.random.default_rng(5).exponential(size=60)
    answers = slide(builtin("moment_quantile", 0.5).but(compiled=compiled), values, size=20, using=using).values
    assert answers.dtype == np.float64
    alone = [estimate(values[lo:hi], 0.5) for lo, hi in last(60, 20)]
    assert np.allclose(answers[20:], alone[20:], rtol=1e-3)


def test_an_answer_does_not_depend_on_how_many_are_asked_for():
    values = np.random.default_rng(6).normal(size=CHUNK + 100)
    answers = slide(builtin("moment_quantile", 0.9), values, size=50, using="two_stacks").values
    for row in (60, CHUNK - 1, CHUNK, CHUNK + 99):
        assert answers[row] == pytest.approx(estimate(values[row - 49 : row + 1], 0.9), rel=1e-3)


@pytest.mark.parametrize("p", [-0.1, 1.1, math.nan, "half", None, True])
def test_a_share_that_is_no_number_between_0_and_1_is_refused(p):
    with pytest.raises(SashError, match=r"^p must be a number between 0 and 1, got "):
        builtin("moment_quantile", p)


# bloom_filter


@pytest.mark.parametrize("using", USING)
@given(column=long_columns, size=st.integers(1, 9))
@settings(max_examples=15)
def test_filters_of_windows_are_those_of_the_oracle(using, column, size):
    bloom = builtin("bloom_filter")
    got = slide(bloom, column, size=size, using=using).values
    want = oracle(bloom, [column.tolist()], last(len(column), size))
    assert got.to_pylist() == [np.array(words, "<i8").tobytes() for words in want]


@pytest.mark.parametrize(
    ("bits", "hashes"), [(64, 1), pytest.param(192, 8, marks=pytest.mark.long), (512, 4), (4096, 8)]
)
@given(column=long_columns, size=st.integers(1, 9))
@example(column=np.array([0, -1, 1, LONG - 1, -LONG]), size=2)
@settings(max_examples=10)
def test_a_filter_compiled_and_in_plain_python_has_the_same_bits(bits, hashes, column, size):
    bloom = builtin("bloom_filter", bits, hashes)
    compiled = slide(bloom, column, size=size).values
    assert compiled.type == pa.binary()
    assert compiled.equals(slide(bloom.but(compiled=False), column, size=size).values)


@given(column=long_columns, size=st.integers(1, 9))
@settings(max_examples=30)
def test_a_filter_knows_every_value_of_its_window(column, size):
    filters = slide(builtin("bloom_filter"), column, size=size).values.to_pylist()
    for (lo, hi), filter_bytes in zip(last(len(column), size), filters, strict=True):
        assert all(might_contain(filter_bytes, value) for value in column[lo:hi])


@pytest.mark.parametrize(("bits", "hashes", "held"), [(512, 4, 60), (512, 1, 60), (1024, 6, 100), (192, 2, 40)])
@pytest.mark.parametrize("stride", [1, 1 << 40])
def test_false_positives_are_as_rare_as_theory_has_it(bits, hashes, held, stride):
    bloom = builtin("bloom_filter", bits, hashes).but(compiled=False)  # the bits are the same, and nothing compiles
    made = slide(bloom, np.arange(held) * stride, size=held, using="two_stacks").values[-1].as_py()
    others = range(held, held + 4_000)
    rate = sum(might_contain(made, other * stride, hashes) for other in others) / len(others)
    theory = (1 - (1 - 1 / bits) ** (hashes * held)) ** hashes
    assert 0.6 * theory < rate < 1.5 * theory


@given(a=longs, b=longs, c=longs)
def test_filters_merge_in_any_order_and_grouping(a, b, c):
    bloom = builtin("bloom_filter")
    a, b, c = map(bloom.lift, (a, b, c))
    assert bloom.combine(bloom.combine(a, b), c) == bloom.combine(a, bloom.combine(b, c))
    assert bloom.combine(a, b) == bloom.combine(b, a)
    assert bloom.combine(a, bloom.identity) == a == bloom.combine(bloom.identity, a) == bloom.combine(a, a)


def test_the_hash_is_the_published_one():
    """The first numbers that SplitMix64 gives from the seed 0, as in its reference implementation."""
    states = [0, 0x9E3779B97F4A7C15, 0x3C6EF372FE94F82A]
    wanted = [0xE220A8397B1DCDAF, 0x6E789E6AA1B965F4, 0x06C45D188009454F]
    assert [mixed(state) % (1 << 64) for state in states] == wanted


def test_filters_of_other_integer_types_are_the_same():
    values = [3, 1, 4, 1, 5]
    as_longs = slide(builtin("bloom_filter"), np.array(values), size=3).values
    for dtype in (np.int32, np.uint8, np.uint32):
        assert slide(builtin("bloom_filter"), np.array(values, dtype), size=3).values.equals(as_longs)
    with pytest.raises(SashError, match="push takes a column of int64, got uint64"):  # which would wrap around
        slide(builtin("bloom_filter"), np.array(values, np.uint64), size=3)


def test_an_empty_frame_has_no_filter():
    for compiled in (True, False):
        bloom = builtin("bloom_filter").but(compiled=compiled)
        answers = slide(bloom, np.array([7]), lo=[0, 0], hi=[0, 1], using="two_stacks")
        assert answers.valid.tolist() == [False, True]
        assert might_contain(answers.values[1].as_py(), 7)


@pytest.mark.parametrize("bits", [0, 100, 4160, -64, 64.0, "512", True])
def test_a_number_of_bits_that_does_not_make_words_is_refused(bits):
    with pytest.raises(SashError, match=r"^bits must be a multiple of 64, at least 64 and at most 4096, got "):
        builtin("bloom_filter", bits)


@pytest.mark.parametrize("hashes", [0, 9, 2.0, None])
def test_a_number_of_hashes_out_of_range_is_refused(hashes):
    with pytest.raises(SashError, match=r"^hashes must be a whole number, at least 1 and at most 8, got "):
        builtin("bloom_filter", 512, hashes)
    with pytest.raises(SashError, match=r"^hashes must be "):
        might_contain(bytes(64), 1, hashes)


def test_what_is_no_filter_or_no_integer_is_refused():
    with pytest.raises(SashError, match=r"^filter_bytes must be the bytes of a bloom_filter, got None"):
        might_contain(None, 1)
    with pytest.raises(SashError, match=r"^the bits of filter_bytes must be a multiple of 64, .* got 24"):
        might_contain(b"abc", 1)
    with pytest.raises(SashError, match=r"^value must be an integer, got 1\.5 of type float"):
        might_contain(bytes(64), 1.5)
