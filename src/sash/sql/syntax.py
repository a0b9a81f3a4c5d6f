"""Window calls as they are written: ``name(…) … over …``, taken apart into places in the text."""

from __future__ import annotations

from dataclasses import dataclass, replace

from sash.sql.tokens import SYMBOL, WORD, Source

Span = tuple[int, int]  # tokens from the first up to the second

KINDS = ("ROWS", "RANGE", "GROUPS")
EXCLUSIONS = {"CURRENT ROW": "current row", "GROUP": "group", "TIES": "ties", "NO OTHERS": "no others"}
# words that look like functions where a bracket follows, but are none
OPERATORS = frozenset(
    "ALL AND AS BETWEEN BY CASE DISTINCT DIV ELSE END ESCAPE EXCEPT EXISTS FILTER FROM GROUP HAVING ILIKE IN "
    "INTERSECT INTO IS JOIN LIKE MINUS NOT NULL ON OR ORDER OVER PARTITION QUALIFY REGEXP RLIKE SELECT THEN "
    "UNION USING VALUES WHEN WHERE WINDOW WITH WITHIN".split()
)


@dataclass(frozen=True)
class Ordered:
    """One key of an order."""

    span: Span
    descending: bool = False
    nulls_first: bool = True


@dataclass(frozen=True)
class Edge:
    """A bound of a frame: ``way`` is preceding, following or current row, and ``span`` how far; all the way without."""

    way: str
    span: Span | None
    place: int

    @property
    def unbounded(self) -> bool:
        """Whether it reaches to the edge of the partition."""
        return self.span is None and self.way != "current row"


@dataclass(frozen=True)
class Framed:
    """The frame clause of a window."""

    kind: str
    start: Edge
    end: Edge
    exclude: str
    place: int


@dataclass(frozen=True)
class Windowed:
    """What OVER, or a definition after WINDOW, says; ``base`` is the place of the name it extends."""

    place: int
    base: int | None = None
    partition: tuple[Span, ...] = ()
    order: tuple[Ordered, ...] = ()
    frame: Framed | None = None

    @property
    def only_base(self) -> bool:
        """Whether it is another window as it is."""
        return self.base is not None and not self.partition and not self.order and self.frame is None


@dataclass(frozen=True)
class Called:
    """A window call."""

    span: Span
    name: str
    arguments: tuple[Span, ...]
    star: bool
    distinct: bool
    names: tuple[str | None, ...]  # of arguments such as offset => 1
    order: tuple[Ordered, ...]
    within: bool  # whether the order is that of WITHIN GROUP
    condition: Span | None
    nulls: str | None  # ignore or respect
    from_last: bool
    over: int  # the place of OVER
    window: Windowed


def is_call(source: Source, place: int, hi: int) -> bool:
    """Whether a function, windowed or not, is called at a place."""
    token = source.tokens[place]
    if place + 1 >= hi or source.word(place + 1) != "(" or not token.is_name:
        return False
    if token.word in ("ANY", "SOME"):  # those of LIKE ANY ('a', 'b') are none
        return source.word(place - 1) not in ("LIKE", "ILIKE")
    if token.word == "FILTER":  # that of sum(x) filter (where …) is none
        return source.word(place - 1) != ")"
    return token.kind != WORD or token.word not in OPERATORS


@dataclass(frozen=True)
class Said:
    """What stands after the parentheses of a call, and the place after it."""

    after: int
    within: tuple[Ordered, ...] | None = None
    condition: Span | None = None
    nulls: str | None = None
    from_last: bool = False


def said_after(source: Source, opened: int, hi: int) -> Said:
    """What WITHIN GROUP, FILTER, IGNORE NULLS and FROM LAST say after the parentheses that open at a place."""
    said = Said(source.after(opened))
    while said.after < hi:
        after = said.after
        word, following = source.word(after), source.word(after + 1)
        if word == "WITHIN" and following == "GROUP" and source.word(after + 2) == "(":
            if not source.words(after + 3, "ORDER", "BY"):
                raise source.error("WITHIN GROUP takes an ORDER BY", after + 3)
            order = ordered(source, after + 5, source.closing[after + 2])
            said = replace(said, after=source.after(after + 2), within=order)
        elif word == "FILTER" and following == "(":
            lo, end = _inside(source, after + 1)
            lo += source.word(lo) == "WHERE"
            if lo >= end:
                raise source.error("FILTER takes a condition", after)
            said = replace(said, after=source.after(after + 1), condition=(lo, end))
        elif word in ("IGNORE", "RESPECT") and following == "NULLS":
            said = replace(said, after=after + 2, nulls=word.lower())
        elif word == "FROM" and following in ("FIRST", "LAST"):
            said = replace(said, after=after + 2, from_last=following == "LAST")
        else:
            break
    return said


def call_at(source: Source, place: int, hi: int) -> Called | None:
    """The window call whose name stands at a place, or None."""
    if not is_call(source, place, hi):
        return None
    said = said_after(source, place + 1, hi)
    after = said.after
    if after >= hi or source.word(after) != "OVER":
        return None
    if after + 1 < hi and source.word(after + 1) == "(":
        window, end = windowed(source, *_inside(source, after + 1)), source.after(after + 1)
    elif after + 1 < hi and source.tokens[after + 1].is_name and source.word(after + 1) not in OPERATORS:
        window, end = Windowed(after + 1, base=after + 1), after + 2
    else:
        raise source.error("OVER takes a window in parentheses or the name of one", after)
    return _called(source, (place, end), said, window)


def aggregate_at(source: Source, lo: int, hi: int) -> Called | None:
    """The function call, without a window, that a piece of the text is, or None."""
    if lo >= hi or not is_call(source, lo, hi):
        return None
    said = said_after(source, lo + 1, hi)
    return _called(source, (lo, hi), said, Windowed(lo)) if said.after == hi else None


def _called(source: Source, span: Span, said: Said, window: Windowed) -> Called:
    """The call of these tokens, with what stands inside its parentheses."""
    place = span[0]
    lo, hi = _inside(source, place + 1)
    distinct = source.word(lo) == "DISTINCT" and lo < hi
    lo += distinct or (source.word(lo) == "ALL" and lo + 1 < hi)
    hi, inner = _nulls(source, lo, hi)
    begin = source.find(lo, hi, "ORDER", "BY")
    order = ordered(source, begin + 2, hi) if begin < hi else ()
    if said.within is not None and order:
        raise source.error("an order is given twice: in the call and in WITHIN GROUP", begin)
    last, also = _nulls(source, lo, begin)
    spans = source.parts(lo, last) if lo < last else []
    if len(spans) > 1 and spans[-1][0] >= spans[-1][1] and begin < hi:  # the paper's percentile_disc(0.99, order by x)
        spans.pop()
    for first, stop in spans:
        if first >= stop:
            raise source.error("an argument is missing", min(first, hi))
    named = [source.tokens[lo].is_name and source.word(lo + 1) == "=>" and lo + 2 < hi for lo, hi in spans]
    names = tuple(source.tokens[lo].name.lower() if has else None for (lo, _), has in zip(spans, named, strict=True))
    spans = [(lo + 2 * has, hi) for (lo, hi), has in zip(spans, named, strict=True)]
    star = len(spans) == 1 and source.cut(*spans[0]) == "*"
    orders = [each for each in (said.nulls, inner, also) if each]
    if len(orders) > 1:
        raise source.error("what to do with NULLs is said twice", place)
    return Called(
        span=span,
        name=source.tokens[place].name,
        arguments=() if star else tuple(spans),
        names=() if star else names,
        star=star,
        distinct=distinct,
        order=order if said.within is None else said.within,
        within=said.within is not None,
        condition=said.condition,
        nulls=orders[0] if orders else None,
        from_last=said.from_last,
        over=said.after,
        window=window,
    )


def _nulls(source: Source, lo: int, hi: int) -> tuple[int, str | None]:
    """Where tokens end without a trailing IGNORE NULLS or RESPECT NULLS, and which it is."""
    word = source.word(hi - 2)
    if hi - 2 >= lo and word in ("IGNORE", "RESPECT") and source.word(hi - 1) == "NULLS":
        return hi - 2, word.lower()
    return hi, None


def _inside(source: Source, place: int) -> Span:
    return place + 1, source.closing[place]


def ordered(source: Source, lo: int, hi: int) -> tuple[Ordered, ...]:
    """The keys of an order; as in Spark, NULLs are first when ascending and last when descending."""
    keys = []
    for start, stop in source.parts(lo, hi):
        end, first = stop, None
        if source.word(end - 2) == "NULLS" and source.word(end - 1) in ("FIRST", "LAST"):
            first, end = source.word(end - 1) == "FIRST", end - 2
        way = source.word(end - 1)
        end -= way in ("ASC", "DESC")
        if start >= end:
            raise source.error("an expression to order by is missing", min(start, hi))
        keys.append(Ordered((start, end), way == "DESC", way != "DESC" if first is None else first))
    return tuple(keys)


def windowed(source: Source, lo: int, hi: int) -> Windowed:
    """What stands between the parentheses of a window."""
    begin, place = lo - 1, lo
    base = None
    if lo < hi and source.tokens[lo].is_name and not _clause(source, lo, lo, hi):
        base, place = lo, lo + 1
    starts = [at for at in places_outside(source, place, hi) if _clause(source, at, lo, hi)]
    if place < hi and (not starts or starts[0] != place):
        raise source.error("a window is made of PARTITION BY, ORDER BY and a frame, in this order", place)
    partition: tuple[Span, ...] = ()
    order: tuple[Ordered, ...] = ()
    frame, reached = None, 0
    lost = source.find(place, hi, "EXCLUDE")
    framed_at = any(source.word(at) in KINDS for at in starts)
    if lost < hi and source.word(lost + 1) in ("CURRENT", "GROUP", "TIES", "NO") and not framed_at:
        raise source.error("EXCLUDE takes rows out of a frame: ROWS, RANGE or GROUPS must stand before it", lost)
    for at, end in zip(starts, [*starts[1:], hi], strict=False):
        word = source.word(at)
        clause = 1 if word in ("PARTITION", "DISTRIBUTE") else 2 if word in ("ORDER", "SORT") else 3
        if clause <= reached:
            raise source.error("a window is made of PARTITION BY, ORDER BY and a frame, in this order", at)
        reached = clause
        if clause == 1:
            partition = tuple(source.parts(at + 2, end))
            for first, stop in partition:
                if first >= stop:
                    raise source.error("an expression to partition by is missing", min(first, hi))
        elif clause == 2:
            order = ordered(source, at + 2, end)
        else:
            frame = framed(source, at, end)
    return Windowed(begin, base, partition, order, frame)


def places_outside(source: Source, lo: int, hi: int) -> list[int]:
    """The places that are in no brackets."""
    places, place = [], lo
    while place < hi:
        places.append(place)
        place = source.after(place)
    return places


def _clause(source: Source, place: int, lo: int, hi: int) -> bool:
    """Whether a clause of a window begins at a place."""
    word, following = source.word(place), source.word(place + 1)
    if word in ("PARTITION", "ORDER", "DISTRIBUTE", "SORT") and following == "BY":
        return True
    if word not in KINDS:
        return False
    before = source.tokens[place - 1]
    column = place > lo and (before.word in (",", "BY", ".") or (before.kind == SYMBOL and before.word not in ")]"))
    return not column and (place + 1 >= hi or following not in (",", ".", "ASC", "DESC", "NULLS"))


def framed(source: Source, lo: int, hi: int) -> Framed:
    """The frame that begins with ROWS, RANGE or GROUPS."""
    exclude, end = "no others", hi
    at = source.find(lo, hi, "EXCLUDE")
    if at < hi:
        words = " ".join(source.word(place) for place in range(at + 1, hi))
        if words not in EXCLUSIONS:
            raise source.error("EXCLUDE takes CURRENT ROW, GROUP, TIES or NO OTHERS", min(at + 1, hi - 1))
        exclude, end = EXCLUSIONS[words], at
    kind, place = source.word(lo).lower(), lo + 1
    between = source.word(place) == "BETWEEN"
    start, place = _edge(source, place + between, end)
    last = Edge("current row", None, place)
    if between:
        if place >= end or source.word(place) != "AND":
            raise source.error("BETWEEN takes two bounds with AND between them", min(place, end - 1))
        last, place = _edge(source, place + 1, end)
    if place < end:
        raise source.error("this is not part of a frame", place)
    _check(source, start, last, between)
    return Framed(kind, start, last, exclude, lo)


def _edge(source: Source, lo: int, hi: int) -> tuple[Edge, int]:
    """A bound, and the place after it."""
    if source.words(lo, "CURRENT", "ROW") and lo + 1 < hi:
        return Edge("current row", None, lo), lo + 2
    place = lo
    while place < hi and source.word(place) not in ("PRECEDING", "FOLLOWING"):
        place = source.after(place)
    if place >= hi or place == lo:
        raise source.error(
            "a bound is CURRENT ROW, or ends with PRECEDING or FOLLOWING", min(lo, len(source.tokens) - 1)
        )
    span = None if source.word(lo) == "UNBOUNDED" and place == lo + 1 else (lo, place)
    return Edge(source.word(place).lower(), span, lo), place + 1


def _check(source: Source, start: Edge, end: Edge, between: bool) -> None:
    """Refuse bounds that are in the wrong order whatever the rows."""
    if start.unbounded and start.way == "following":
        raise source.error("a frame cannot start with UNBOUNDED FOLLOWING", start.place)
    if between and end.unbounded and end.way == "preceding":
        raise source.error("a frame cannot end with UNBOUNDED PRECEDING", end.place)
    ways = ("preceding", "current row", "following")
    if ways.index(start.way) > ways.index(end.way):
        at = end.place if between else start.place
        raise source.error(f"a frame that starts with {start.way.upper()} cannot end with {end.way.upper()}", at)
