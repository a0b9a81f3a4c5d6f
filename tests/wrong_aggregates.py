"""Aggregates that raise, or give what they must not, and what is to be said of each; those that never return."""

from sash import Aggregate


def total(name, **other):
    return Aggregate(name, **{"lift": lambda x: x, "combine": lambda a, b: a + b} | other)


def picky(x):
    if x < 0:
        raise ValueError("no negatives")
    return x


def endless(x):
    while x < 0:
        x -= 1.0
    return x


def other_lines(s):
    raise KeyError("one line\nand another\n" * 50)


COMPILED = {
    "lift raises": (total("boom", lift=picky), "a function of the aggregate boom raised"),
    "combine raises": (total("boom", combine=lambda a, b: picky(min(a, b))), "a function of the aggregate boom raised"),
    "lower raises": (total("boom", lower=other_lines), "boom"),
    "lower gives a text": (total("text", lower=lambda s: "yes"), r"text: lower .* must return a number"),
    "lower gives a list": (total("listed", lower=lambda s: [s]), r"listed: lower .* cannot be compiled"),
    "lower gives two types": (total("mixed", lower=lambda s: s if s > 1 else (s, s)), r"mixed: lower .* cannot be"),
    "lift gives nothing": (total("none", lift=lambda x: None), r"none: lift .* must return a number"),
    "combine gives nothing": (total("none", combine=lambda a, b: None), r"none: combine .* must return a number"),
    "combine gives another shape": (
        total("shape", lift=lambda x: (x, 1), combine=lambda a, b: a[0]),
        r"shape: combine .* must return a state like lift's",
    ),
    "empty of another type": (total("empty", empty="none"), "empty: empty must be like the answers of lower"),
    "empty that would be rounded": (total("empty", lower=lambda s: 1, empty=0.5), "empty: empty must be like"),
}
PLAIN = {
    "two types": (total("two", lower=lambda s: s if s > 1 else "low"), "two: lower must give answers of one type"),
    "any object": (total("odd", lower=lambda s: object()), "odd: lower must give answers of one type"),
    "no number of 64 bits": (total("huge", lower=lambda s: 2**70), "huge: lower must give answers of one type"),
    "another shape": (total("torn", lower=lambda s: [s] if s > 1 else s), "torn: lower must give answers of one type"),
}
ROW = Aggregate("beyond", lift=lambda row: row, combine=lambda a, b: b, lower=lambda s: s + 2**33, rows=True,
                returns="row")  # fmt: skip
ENDLESS = total("endless", lift=endless)
