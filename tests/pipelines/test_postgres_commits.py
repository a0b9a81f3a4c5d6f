"""Rows come into PostgreSQL once, whenever the connection is cut, the task tried again or the process killed."""

import pytest

from services.jobs import Job
from services.proxy import Proxy

ROWS = 100
STAGED = "COMMIT\0"  # of a partition, into the table beside
CUTS = [(moment, what) for moment in ("before", "during", "after") for what in ("staged", "moved")]


def put(spark, table, append, options):
    """Rows of two partitions, as a batch; what that fails with."""
    from sash.spark import postgres

    rows = spark.range(ROWS).selectExpr("id", "cast(id as string) as `a ``name`").repartition(2)
    try:
        postgres.write(rows, options, table, append=append)
    except Exception as error:
        return str(error)


def streamed(spark, table, folder, options, numbers):
    """A stream of files, to which one with these numbers is added; what it fails with."""
    from sash.spark import flowing
    from sash.spark.writing import Target

    if numbers:
        spark.createDataFrame([(each,) for each in numbers], "id long").repartition(2).write.mode("append").json(
            f"{folder}/in"
        )
    frame = spark.readStream.schema("id long").json(f"{folder}/in").repartition(2)
    target = Target("out", "jdbc", None, table, "append", (), options)
    query = flowing.start(frame, target, f"{folder}/checkpoint", flowing.NOW, False)
    try:
        query.awaitTermination()
    except Exception as error:
        return str(error)


def long(*values):
    return pytest.param(*values, marks=pytest.mark.long)


@pytest.fixture(scope="module")
def job(postgres, tmp_path_factory):
    retrying = {"spark.master": "local[2,4]"}
    with Job(tmp_path_factory.mktemp("job"), postgres.conf | retrying) as job:
        yield job


@pytest.fixture
def proxy(postgres):
    with Proxy(postgres.port) as proxy:
        yield proxy


def options(server, proxy=None):
    return {"url": proxy.url(server) if proxy else server.url, "user": server.user, "password": server.password}


def count(postgres, table):
    return postgres.rows(f"select count(*) as n, count(distinct id) as different from {table}")[0]


def staging(postgres):
    return postgres.rows("select tablename as name from pg_tables where tablename ~ '^sash_(staging_)?[0-9a-f]+$'")


@pytest.mark.parametrize(
    ("moment", "what", "append"),
    [
        ("during", "staged", True),
        ("before", "moved", True),
        ("during", "moved", True),
        ("after", "moved", True),
        ("during", "moved", False),
        *(long("before", "staged", each) for each in (True, False)),
        *(long("after", "staged", each) for each in (True, False)),
        *(long(each, "moved", False) for each in ("before", "after")),
        long("during", "staged", False),
    ],
)
def test_a_batch_is_in_once_whenever_the_connection_is_cut(postgres, proxy, job, moment, what, append):
    table = f"cut_{moment}_{what}_{append}".lower()
    postgres.sql(f'create table {table} (id bigint, "a `name" text); insert into {table} values (-1)')
    cut = proxy.order(STAGED if what == "staged" else f"INSERT INTO {table}", moment)
    assert job.ask(put, table, append, options(postgres, proxy)) is None
    assert cut.done == 1
    assert count(postgres, table) == {"n": ROWS + append, "different": ROWS + append}
    assert staging(postgres) == []


@pytest.mark.parametrize(
    ("moment", "what"),
    [("during", "moved"), *(long(m, w) for m, w in CUTS if (m, w) != ("during", "moved"))],
)
def test_a_batch_of_a_stream_is_in_once_whenever_the_connection_is_cut(postgres, proxy, job, tmp_path, moment, what):
    table = f"stream_{moment}_{what}"
    cut = proxy.order(STAGED if what == "staged" else f"INSERT INTO {table}", moment)
    assert job.ask(streamed, table, str(tmp_path), options(postgres, proxy), list(range(ROWS))) is None
    assert cut.done == 1
    assert count(postgres, table) == {"n": ROWS, "different": ROWS}
    assert staging(postgres) == []
