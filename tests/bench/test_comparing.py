"""What counts as moved between two results."""

from bench.harness.comparing import compare as compared

STEADY = [1.0, 1.02, 1.05, 0.98, 1.01]


def result(full=True, **measured):
    given = {name: {"unit": unit, "values": values} for name, (unit, values) in measured.items()}
    return {"peers.x": {"full": full, "measured": {name.replace("_", " "): each for name, each in given.items()}}}


def compare(before, after):
    found = compared(before, after)
    return found.moves, found.drift, found.count


def times(values, factor):
    return [value * factor for value in values]


def test_noise_is_no_move():
    moves, drift, count = compare(result(Sash=("s", STEADY)), result(Sash=("s", times(STEADY, 1.04))))
    assert (moves, drift, count) == ([], None, 1)


def test_what_does_not_overlap_has_moved_and_the_largest_comes_first():
    before = result(a=("s", STEADY), b=("s", STEADY), c=("s", STEADY))
    after = result(a=("s", times(STEADY, 1.5)), b=("s", STEADY), c=("s", times(STEADY, 0.4)))
    moves, _, _ = compare(before, after)
    assert [move.name for move in moves] == ["peers.x: c", "peers.x: a"]
    assert round(moves[1].ratio, 2) == 1.5


def test_a_difference_within_a_spread_is_no_move():
    moves, _, _ = compare(result(a=("s", [1.0, 1.0, 1.0, 1.0, 2.0])), result(a=("s", [1.9] * 5)))
    assert moves == []


def test_a_slower_machine_is_seen_by_the_peers():
    peers = {f"Polars_{k}": ("s", STEADY) for k in range(4)}
    slower = {name: (unit, times(values, 2)) for name, (unit, values) in peers.items()}
    same, drift, _ = compare(result(Sash=("s", STEADY), **peers), result(Sash=("s", times(STEADY, 2)), **slower))
    assert (same, drift) == ([], 2.0)
    moved, _, _ = compare(result(Sash=("s", STEADY), **peers), result(Sash=("s", STEADY), **slower))
    assert [round(move.ratio, 2) for move in moved] == [0.5]


def test_counts_move_by_little():
    moves, _, _ = compare(result(a=("instructions", [100.0])), result(a=("instructions", [102.0])))
    assert [move.ratio for move in moves] == [1.02]
    moves, _, _ = compare(result(a=("instructions", [100.0])), result(a=("instructions", [100.5])))
    assert moves == []


def test_quick_and_full_results_have_nothing_in_common():
    assert compare(result(True, a=("s", STEADY)), result(False, a=("s", STEADY))) == ([], None, 0)


def test_fewer_values_than_five_say_nothing_of_times():
    assert compare(result(a=("s", [1.0] * 3)), result(a=("s", [2.0] * 3)))[0] == []


def test_exponents_move_by_a_difference():
    assert compare(result(a=("exponent", [0.02])), result(a=("exponent", [0.03])))[0] == []
    assert len(compare(result(a=("exponent", [1.0])), result(a=("exponent", [1.2])))[0]) == 1


def test_what_is_no_longer_measured_is_named():
    found = compared(result(a=("s", STEADY), b=("s", STEADY)), result(b=("s", STEADY), c=("s", STEADY)))
    assert [name[2] for name in found.gone] == ["a"]
    assert [name[2] for name in found.new] == ["c"]


def test_a_machine_that_is_busy_during_one_experiment_is_seen_by_its_own_peers():
    calm = {f"Polars_{k}": ("s", STEADY) for k in range(3)} | {"Sash": ("s", STEADY)}
    busy = {name: (unit, times(values, 2)) for name, (unit, values) in calm.items()}
    before, after = result(**calm), result(**busy)
    before["peers.y"], after["peers.y"] = (result(**calm)["peers.x"] for _ in range(2))
    assert compare(before, after)[0] == []


def test_other_machines_and_versions_are_named():
    before, after = result(a=("s", STEADY)), result(a=("s", STEADY))
    before["peers.x"]["machine"] = {"cores": 2, "commit": "a", "versions": {"polars": "1"}}
    after["peers.x"]["machine"] = {"cores": 2, "commit": "b", "versions": {"polars": "2"}}
    assert compared(before, after).elsewhere == ["polars: 1, then 2"]
