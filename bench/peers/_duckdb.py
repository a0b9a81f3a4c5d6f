"""DuckDB with a table of its own, two threads, and a limit of seconds for each query."""

from __future__ import annotations

import threading

import duckdb

from bench.harness import Stopped

THREADS = 2


class Duck:
    """A table in DuckDB."""

    def __init__(self, name, data, limit=20.0):
        self.limit = limit
        self.connection = duckdb.connect(config={"threads": THREADS})
        self.connection.register("given", data)
        self.connection.execute(f"create table {name} as select * from given")

    def answer(self, query):
        """The answer as an Arrow table; ``Stopped`` where it takes longer than the limit."""
        timer = threading.Timer(self.limit, self.connection.interrupt)
        timer.start()
        try:
            return self.connection.sql(query).to_arrow_table()  # execute would copy it once more
        except duckdb.InterruptException:
            raise Stopped(self.limit) from None
        finally:
            timer.cancel()
