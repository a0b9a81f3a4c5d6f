"""What an expression can be asked for by name: the functions that the room evaluates, as methods."""

from __future__ import annotations

from typing import Any, Generic, TypeVar

Answer = TypeVar("Answer")


class Methods(Generic[Answer]):
    """The functions of an expression, by their names in Spark; other operands are columns, or values as they are.

    >>> from sash import col
    >>> col("price").round(2), col("name").upper(), col("qty").coalesce(0), col("ts").year()
    (round(price, 2), upper(name), coalesce(qty, 0), year(ts))
    """

    __slots__ = ()

    def _applied(self, name: str, *others: Any, first: bool = True) -> Answer:
        """A function of this expression and others; it comes last where not ``first``."""
        raise NotImplementedError

    def abs(self) -> Answer:
        """The number without its sign."""
        return self._applied("abs")

    def round(self, digits: int = 0) -> Answer:
        """The number rounded to so many digits, halves away from zero."""
        return self._applied("round", digits)

    def ceil(self) -> Answer:
        """The least whole number that is not below."""
        return self._applied("ceil")

    def floor(self) -> Answer:
        """The largest whole number that is not above."""
        return self._applied("floor")

    def sign(self) -> Answer:
        """-1, 0 or 1."""
        return self._applied("sign")

    def sqrt(self) -> Answer:
        """The square root; NaN of what is below zero."""
        return self._applied("sqrt")

    def exp(self) -> Answer:
        """E to the power of the number."""
        return self._applied("exp")

    def ln(self) -> Answer:
        """The natural logarithm."""
        return self._applied("ln")

    def log(self, base: Any) -> Answer:
        """The logarithm to a base."""
        return self._applied("log", base, first=False)

    def pow(self, exponent: Any) -> Answer:
        """The number to a power."""
        return self._applied("pow", exponent)

    def isnan(self) -> Answer:
        """Whether it is NaN."""
        return self._applied("isnan")

    def coalesce(self, *others: Any) -> Answer:
        """The value, or where it is NULL the first of the others that is not."""
        return self._applied("coalesce", *others)

    def nullif(self, other: Any) -> Answer:
        """The value, or NULL where it equals another."""
        return self._applied("nullif", other)

    def greatest(self, *others: Any) -> Answer:
        """The largest of it and others; NULLs are passed over."""
        return self._applied("greatest", *others)

    def least(self, *others: Any) -> Answer:
        """The least of it and others; NULLs are passed over."""
        return self._applied("least", *others)

    def upper(self) -> Answer:
        """The text in capitals."""
        return self._applied("upper")

    def lower(self) -> Answer:
        """The text in small letters."""
        return self._applied("lower")

    def length(self) -> Answer:
        """How many letters the text has."""
        return self._applied("length")

    def substring(self, start: Any, length: Any = None) -> Answer:
        """The text from a letter on, counted from 1, or from the end where negative; so many letters of it."""
        return self._applied("substring", start, *([] if length is None else [length]))

    def concat(self, *others: Any) -> Answer:
        """The text, and others after it."""
        return self._applied("concat", *others)

    def like(self, pattern: str) -> Answer:
        """Whether the text is such as a pattern, where % is any letters and _ one."""
        return self._applied("like", pattern)

    def date_trunc(self, unit: str) -> Answer:
        """The time at which its year, month, day, hour, … began."""
        return self._applied("date_trunc", unit, first=False)

    def datediff(self, start: Any) -> Answer:
        """How many days have passed since another date."""
        return self._applied("datediff", start)

    def year(self) -> Answer:
        """The year of a date or a time."""
        return self._applied("year")

    def month(self) -> Answer:
        """The month, 1 to 12."""
        return self._applied("month")

    def day(self) -> Answer:
        """The day of the month."""
        return self._applied("day")

    def hour(self) -> Answer:
        """The hour of a time."""
        return self._applied("hour")

    def minute(self) -> Answer:
        """The minute of a time."""
        return self._applied("minute")

    def second(self) -> Answer:
        """The second of a time."""
        return self._applied("second")
