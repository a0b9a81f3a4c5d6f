"""The oracle of streams: each window recomputed from all events, in plain Python."""

import math
import statistics
from collections import Counter, defaultdict


def known(rows, name):
    return [row[name] for row in rows if row[name] is not None]


def first_of_most(values):
    """The most frequent value, the smallest of several."""
    counts = Counter(values)
    return min((-count, value) for value, count in counts.items())[1] if values else None


def deviation(values):
    return statistics.stdev(values) if len(values) > 1 else None


def digits(values):
    """What the tests' own aggregate gives: the values one after the other, modulo a prime; order counts."""
    total = None
    for value in values:
        total = value % 1009 if total is None else (total * 31 + value) % 1009
    return total


def largest_by(rows):
    best = None
    for row in rows:
        if row["v"] is not None and (best is None or row["v"] > best["v"]):
            best = row
    return None if best is None else best["w"]


ANSWERS = {  # of the rows of a window, in order of time and then of arrival
    "count": len,
    "count_v": lambda rows: len(known(rows, "v")),
    "sum": lambda rows: sum(known(rows, "v")) if known(rows, "v") else None,
    "avg": lambda rows: statistics.fmean(known(rows, "v")) if known(rows, "v") else None,
    "max": lambda rows: max(known(rows, "v"), default=None),
    "stddev": lambda rows: deviation(known(rows, "v")),
    "positive": lambda rows: (
        sum(v for v in known(rows, "v") if v > 0) if any(v > 0 for v in known(rows, "v")) else None
    ),
    "median": lambda rows: statistics.median(known(rows, "v")) if known(rows, "v") else None,
    "distinct": lambda rows: len(set(known(rows, "v"))),
    "mode": lambda rows: first_of_most(known(rows, "v")),
    "first": lambda rows: rows[0]["w"] if rows else None,
    "last": lambda rows: rows[-1]["w"] if rows else None,
    "best": largest_by,
    "list": lambda rows: known(rows, "v"),
    "top": lambda rows: sorted(known(rows, "v"), reverse=True)[:2],
    "digits": lambda rows: digits(known(rows, "v")),
    "max_text": lambda rows: max(known(rows, "w"), default=None),
}


def by_key(rows, ordered):
    """The rows of each key, in order of time, where there is one, and then of arrival."""
    found = defaultdict(list)
    for row in sorted(rows, key=lambda row: row["ts"]) if ordered else rows:
        found[row["k"]].append(row)
    return found


def time_answers(rows, queries, offset=0):
    """Answers by key and end, of queries by name: (aggregate, range, slide), over integer times."""
    found = {}
    for key, events in by_key([row for row in rows if row["ts"] is not None], True).items():
        ends = set()
        for _, length, slide in queries.values():
            for event in events:
                k = (event["ts"] - offset) // slide
                while offset + k * slide + length > event["ts"]:
                    ends.add(offset + k * slide + length)
                    k -= 1
        for end in ends:
            held = {}
            some = False
            for name, (aggregate, length, slide) in queries.items():
                if (end - length - offset) % slide:
                    held[name] = None
                    continue
                inside = [event for event in events if end - length <= event["ts"] < end]
                some = some or bool(inside)
                held[name] = ANSWERS[aggregate](inside)
            if some:
                found[key, end] = held
    return found


def count_answers(rows, queries, ordered=False):
    """Answers by key and row count."""
    found = {}
    for key, events in by_key(rows, ordered).items():
        for end in range(1, len(events) + 1):
            due = {name: query for name, query in queries.items() if end % query[2] == 0}
            if due:
                found[key, end] = {
                    name: ANSWERS[query[0]](events[max(end - query[1], 0) : end]) if name in due else None
                    for name, query in queries.items()
                }
    return found


def same(mine, theirs):
    """Whether two answers are the same, floats nearly so."""
    if mine is None or theirs is None:
        return mine is None and theirs is None
    if isinstance(mine, float) or isinstance(theirs, float):
        return math.isclose(mine, theirs, rel_tol=1e-9, abs_tol=1e-9)
    return mine == theirs
