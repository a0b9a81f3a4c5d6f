"""The oracle for window functions: each frame as a plain list of rows, each function as its definition says.

A row is a dictionary. Nothing here is shared with the engine.
"""

import math
from collections import Counter
from dataclasses import dataclass, field
from functools import reduce, total_ordering
from itertools import pairwise


def sort_key(value, descending=False, nulls_first=None):
    """A key by which Python sorts as Spark does: NULLs first or last, NaN above every number."""
    nulls_first = (not descending) if nulls_first is None else nulls_first
    if value is None:
        return (0 if nulls_first else 2, Ranked(0, False))
    return (1, Ranked(value, descending))


@total_ordering
class Ranked:
    """A value that compares as Spark compares it, backwards if need be."""

    def __init__(self, value, descending):
        nan = isinstance(value, float) and math.isnan(value)
        self.key, self.descending = (1, 0) if nan else (0, value), descending

    def __eq__(self, other):
        return self.key == other.key

    def __lt__(self, other):
        return other.key < self.key if self.descending else self.key < other.key

    def __hash__(self):
        return hash(self.key)


@dataclass
class Window:
    """A window in plain words: orders are (column, descending, nulls first), bounds are None for unbounded."""

    partition: tuple = ()
    order: tuple = ()
    kind: str = "range"
    start: object = None
    end: object = 0
    exclude: str = "no others"
    closed: str = "both"


@dataclass
class Call:
    """A function, its columns and constants, and how."""

    name: str
    columns: tuple = ()
    constants: tuple = ()
    condition: object = None  # a function of a row
    distinct: bool = False
    order: tuple = ()
    ignore_nulls: bool = False
    fold: object = field(default=None)  # (lift, combine, lower) of an aggregate
    weight: object = None  # how many times a row counts: a function of it


def keys_of(row, order):
    return tuple(sort_key(row[name], descending, nulls_first) for name, descending, nulls_first in order)


def partitions(rows, window):
    """The numbers of rows by partition, each in order; ties stay as they came."""
    found = {}
    for number, row in enumerate(rows):
        found.setdefault(tuple(keys_of(row, [(name, False, True) for name in window.partition])), []).append(number)
    return [sorted(numbers, key=lambda n: keys_of(rows[n], window.order)) for numbers in found.values()]


def frame(rows, part, i, window):
    """The places in a partition that are in the frame of place i."""
    keys = [keys_of(rows[n], window.order) for n in part]
    groups = [sum(a != b for a, b in pairwise(keys[: j + 1])) for j in range(len(part))]
    row = rows[part[i]]
    start, end = (row[bound] if isinstance(bound, str) else bound for bound in (window.start, window.end))

    def inside(j):
        if window.kind == "rows":
            return (start is None or i + start <= j) and (end is None or j <= i + end)
        if window.kind == "groups":
            return (start is None or groups[i] + start <= groups[j]) and (end is None or groups[j] <= groups[i] + end)
        starts, ends = window.closed in ("both", "left"), window.closed in ("both", "right")
        past_start = start is None or (not before(j, start) if starts else after(j, start))
        return past_start and (end is None or (not after(j, end) if ends else before(j, end)))

    def value(j):
        return rows[part[j]][window.order[0][0]]

    def shifted(offset):
        name, descending, _ = window.order[0]
        mine = row[name]
        if mine is None or offset == 0:
            return mine
        return mine - offset if descending else mine + offset

    def before(j, offset):
        if not window.order or offset == 0:
            return keys[j] < keys[i]
        return key(value(j)) < key(shifted(offset))

    def after(j, offset):
        if not window.order or offset == 0:
            return keys[i] < keys[j]
        return key(shifted(offset)) < key(value(j))

    def key(value):
        _, descending, nulls_first = window.order[0]
        return sort_key(value, descending, nulls_first)

    found = [j for j in range(len(part)) if inside(j)]
    if window.exclude == "current row":
        found = [j for j in found if j != i]
    elif window.exclude == "group":
        found = [j for j in found if keys[j] != keys[i]]
    elif window.exclude == "ties":
        found = [j for j in found if j == i or keys[j] != keys[i]]
    return found


RANKS = ("rank", "dense_rank", "row_number", "percent_rank", "cume_dist", "ntile")
SHIFTS = ("lead", "lag")


def answers(rows, window, call):
    """The answer of each row, in the order of the rows."""
    out = [None] * len(rows)
    for part in partitions(rows, window):
        for i, number in enumerate(part):
            whole = call.name in RANKS + SHIFTS and not call.order
            places = list(range(len(part))) if whole else frame(rows, part, i, window)
            if call.condition is not None:
                places = [j for j in places if call.condition(rows[part[j]])]
            order = call.order or window.order
            out[number] = answer(rows, part, i, places, order, call)
    return out


def answer(rows, part, i, places, order, call):
    """One answer, of the places of a frame."""
    if call.name in RANKS:
        return rank(rows, part, i, places, order, call)
    column = call.columns[0] if call.columns else None
    if call.ignore_nulls:
        places = [j for j in places if rows[part[j]][column] is not None]
    if call.order:
        places = sorted(places, key=lambda j: (keys_of(rows[part[j]], order), j))
    if call.name in SHIFTS:
        return shift(rows, part, i, places, order, call)
    found = [rows[part[j]] for j in places]
    if call.name in ("first_value", "last_value", "nth_value"):
        k = {"first_value": 0, "last_value": len(found) - 1}.get(call.name)
        if k is None:
            n, from_last = call.constants
            k = len(found) - n if from_last else n - 1
        return found[k][column] if 0 <= k < len(found) else None
    found = [row for row in found if all(row[name] is not None for name in call.columns)]
    if call.weight:
        found = [row for row in found for _ in range(call.weight(row))]
    if call.distinct:
        seen, kept = set(), []
        for row in found:
            value = tuple(sort_key(row[name]) for name in call.columns)
            if value not in seen:
                seen.add(value)
                kept.append(row)
        found = kept
    if call.fold:
        return folded(found, call)
    return holistic([row[column] for row in found] if column else found, found, call)


def rank(rows, part, i, places, order, call):
    """Rank functions; a row that is not in its frame is put there."""
    size = len(places)
    inside = i in places
    mine = keys_of(rows[part[i]], order)
    theirs = [(keys_of(rows[part[j]], order), j) for j in places]
    below = sum(key < mine for key, _ in theirs)
    number = sum((key, j) < (mine, i) for key, j in theirs)
    if call.name == "rank" and call.constants:
        upto = sum(key <= mine for key, _ in theirs) + (not inside)
        dense = len({key for key, _ in theirs if key < mine}) + 1
        by_method = {"min": below + 1, "max": upto, "average": (below + 1 + upto) / 2, "dense": dense}
        return by_method.get(call.constants[0], number + 1)
    if call.name == "rank":
        return below + 1
    if call.name == "row_number":
        return number + 1
    if call.name == "dense_rank":
        return len({key for key, _ in theirs if key < mine}) + 1
    if size == 0:
        return None
    total = size + (not inside)
    if call.name == "percent_rank":
        return below / (total - 1) if total > 1 else 0.0
    if call.name == "cume_dist":
        return (sum(key <= mine for key, _ in theirs) + (not inside)) / total
    tiles, done = call.constants[0], 0
    for tile in range(tiles):
        done += total // tiles + (tile < total % tiles)
        if number < done:
            return tile + 1
    raise AssertionError("more rows than tiles hold")


def shift(rows, part, i, places, order, call):
    """lead and lag; a row that is not in its frame is put there."""
    offset, default = call.constants
    ahead = offset if call.name == "lead" else -offset
    inside = i in places
    everyone = sorted({*places, i}, key=lambda j: (keys_of(rows[part[j]], order), j))
    k = everyone.index(i) + ahead
    if ahead == 0 and not inside:
        return None if call.ignore_nulls and rows[part[i]][call.columns[0]] is None else default
    return rows[part[everyone[k]]][call.columns[0]] if 0 <= k < len(everyone) else default


def folded(found, call):
    """An aggregate by its definition."""
    lift, combine, lower = call.fold
    partials = [lift(*(row[name] for name in call.columns)) for row in found]
    if not partials:
        return 0 if call.name == "count" else None
    return lower(reduce(combine, partials))


def middle(values):
    values = sorted(values, key=sort_key)
    half = len(values) // 2
    if len(values) % 2 or values[half - 1] == values[half]:
        return values[half]
    return (values[half - 1] + values[half]) / 2


def holistic(values, found, call):
    """Functions of all values of a frame."""
    if call.name == "count_distinct":
        return len({tuple(sort_key(row[name]) for name in call.columns) for row in found})
    if call.name in ("collect_list", "collect_set"):
        return values
    if not values:
        return None
    ordered = sorted(values, key=sort_key)
    if call.name == "median":
        return float(middle(values))
    if call.name == "mad":
        centre = middle(values)
        return float(middle([abs(value - centre) for value in values]))
    if call.name == "percentile_disc":
        share = call.constants[0]
        place = next(k for k in range(len(ordered)) if (k + 1) / len(ordered) >= share - 1e-12)
        return ordered[place]
    if call.name == "percentile_cont":
        at = call.constants[0] * (len(ordered) - 1)
        low = math.floor(at)
        if at == low or ordered[low] == ordered[low + 1]:
            return float(ordered[low])
        return (low + 1 - at) * ordered[low] + (at - low) * ordered[low + 1]
    counts = Counter(sort_key(value) for value in values)
    if call.name == "mode":
        most = max(counts.values())
        return min((value for value in values if counts[sort_key(value)] == most), key=sort_key)
    if call.name == "entropy":
        return -sum(c / len(values) * math.log2(c / len(values)) for c in counts.values())
    if call.name == "listagg":
        return call.constants[0].join(values)
    if call.name in ("min", "max"):
        return (min if call.name == "min" else max)(values, key=sort_key)
    raise AssertionError(call.name)
