"""Numbering: the place of each row in its key, by count, by punctuation or by a column that grows.

Rows come in the order that counts. What a key has reached is kept by its number.

time    one step a row
space   8 bytes a key for each thing that is kept
"""

from __future__ import annotations

from sash.kernels.compiling import routine


@routine
def count_rows(codes, reached, out):  # type: ignore[no-untyped-def]
    """Number the rows of each key."""
    for i in range(len(codes)):
        key = codes[i]
        out[i] = reached[key]
        reached[key] += 1
    return 0


@routine
def count_punctuations(codes, ends, reached, out):  # type: ignore[no-untyped-def]
    """Number the rows of each key by how many punctuations come before them."""
    for i in range(len(codes)):
        key = codes[i]
        out[i] = reached[key]
        if ends[i] != 0:
            reached[key] += 1
    return 0


@routine
def grows(codes, values, known, last, started, out):  # type: ignore[no-untyped-def]
    """Say which rows do not go back behind their key's last; 0 where one does, or is not known."""
    for i in range(len(codes)):
        key = codes[i]
        out[i] = 0
        if known[i] != 0 and (started[key] == 0 or values[i] >= last[key]):
            out[i], last[key], started[key] = 1, values[i], 1
    return 0


@routine
def moved(codes, values, step, last_ends, started, out):  # type: ignore[no-untyped-def]
    """Say at which rows a key has moved by a step since it was last told; ``step`` is an array of one."""
    for i in range(len(codes)):
        key = codes[i]
        out[i] = 0
        apart = values[i] - last_ends[key]  # below zero where it overflows, since values only grow
        if started[key] == 0 or apart >= step[0] or apart < 0:
            out[i], last_ends[key], started[key] = 1, values[i], 1
    return 0


@routine
def near(keys, at, values, window_keys, tops, reach, starts):  # type: ignore[no-untyped-def]
    """Find the first row of each window: rows are sorted by key and number, windows by key and end."""
    first = 0
    for i in range(len(window_keys)):
        while keys[first] < window_keys[i]:
            first += 1
        apart = tops[i] - values[first]  # below zero where it overflows, since values only grow
        while apart > reach[0] or apart < 0:
            first += 1
            apart = tops[i] - values[first]
        starts[i] = at[first]
    return 0
