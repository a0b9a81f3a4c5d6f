"""Window calls that Spark and Sash both answer, in SQL: who is faster (``make bench-sql``, or ``python -m bench.sql``).

What ``sash.sql`` leaves to Spark follows from these figures. Whole queries as in ``bench.spark``, Spark's segment tree
on; ratios are of median times of runs that take turns.
"""

from __future__ import annotations

import sys

from bench import spark as bench
from bench.timing import machine, table

WINDOWS = {
    f"{bench.FEW} keys": "partition by few order by at",
    f"{bench.MANY:,} keys": "partition by many order by at",
    "no PARTITION BY": "order by at",
}
CALLS = {
    "row_number": "row_number() over ({w})",
    "rank": "rank() over ({w})",
    "lag": "lag(price) over ({w})",
    "running sum": "sum(price) over ({w} rows unbounded preceding)",
    "running max": "max(price) over ({w} rows unbounded preceding)",
    "first_value": "first_value(price) over ({w})",
    "max of 10 rows": "max(price) over ({w} rows 9 preceding)",
    "max of 1,000 rows": "max(price) over ({w} rows 999 preceding)",
    "total": "sum(price) over ({w} rows between unbounded preceding and unbounded following)",
}


def by_sash(expression):
    """The query with every call answered by Sash, whatever ``sash.sql`` would leave to Spark."""
    from sash.sql import who
    from sash.sql.running import sql

    def asked(frame, _):
        kept, who.is_left = who.is_left, lambda *_: False
        try:
            return sql(f"select *, {expression} as answer from trades", trades=frame)
        finally:
            who.is_left = kept

    return asked


def by_spark(expression):
    def asked(frame, _):
        return frame.selectExpr("*", f"{expression} as answer")

    return asked


def main():
    print(f"{machine()}, {bench.ROWS:,} rows")
    for place, window in WINDOWS.items():
        lines = []
        for name, call in CALLS.items():
            expression = call.format(w=window)
            found = bench.measured({"Sash": by_sash(expression), "Spark": by_spark(expression)}, None)
            mine, theirs = found["Sash"].median, found["Spark"].median
            lines.append([name, mine, theirs, theirs / mine])
            print(f"  {place}, {name}: {mine:.2f} s, Spark {theirs:.2f} s", file=sys.stderr, flush=True)
        table(place, ["call", "Sash s", "Spark s", "Spark over Sash"], lines)


if __name__ == "__main__":
    main()
