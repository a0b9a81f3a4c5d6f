"""Rows come into PostgreSQL once, whenever the connection is cut, the task tried again or the process killed."""

import re
import shutil
from pathlib import Path

import pytest

from sash.errors import SashError
from sash.spark import processes
from sash.spark.postgres import check, is_dead
from services.jobs import Job
from services.proxy import Proxy
from sessions import Cluster

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
    from sash.pipelines import connectors
    from sash.spark import flowing
    from sash.spark.writing import Target

    if numbers:
        spark.createDataFrame([(each,) for each in numbers], "id long").repartition(2).write.mode("append").json(
            f"{folder}/in"
        )
    frame = spark.readStream.schema("id long").json(f"{folder}/in").repartition(2)
    target = Target("out", "jdbc", None, table, "append", (), options)
    query = connectors.of(target).start(frame, target, flowing.StreamSettings(f"{folder}/checkpoint", flowing.NOW))
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


def test_an_odd_process_in_the_books_is_known_by_its_age():
    def dead(process, old, place="here"):
        return is_dead({"ended": False, "place": place, "process": process, "old": old}, "here")

    for odd in ("", "x", "12", "1 2 3", "-1 5", "12 ", "\u00b2 1"):
        assert [dead(odd, old) for old in (True, False)] == [True, False]
    assert dead("1 1", old=False)
    assert not dead(processes.own(), old=True)
    assert not dead("1 1", old=False, place="elsewhere")


def test_rows_that_came_in_are_in_although_no_attempt_was_told(postgres, proxy, job):
    cut = proxy.order("INSERT INTO untold", "during", times=4)
    assert job.ask(put, "untold", True, options(postgres, proxy)) is None
    assert cut.done == 4
    assert count(postgres, "untold") == {"n": ROWS, "different": ROWS}


def test_nothing_comes_in_after_a_write_has_failed(postgres, proxy, job):
    cut = proxy.order("INSERT INTO failing", "before", times=4)
    assert "I/O error" in job.ask(put, "failing", True, options(postgres, proxy))
    assert cut.done == 4
    assert postgres.rows("select to_regclass('failing') is null as missing") == [{"missing": True}]
    assert staging(postgres) == []
    assert job.ask(put, "failing", True, options(postgres, proxy)) is None
    assert count(postgres, "failing") == {"n": ROWS, "different": ROWS}


def test_what_cannot_be_known_is_said(postgres, proxy, job):
    proxy.order("INSERT INTO unknown", "during", down=True)
    told = job.ask(put, "unknown", True, options(postgres, proxy))
    token = re.search("they are in it if sash_writes says that ([0-9a-f]{32}) is committed", told)[1]
    assert postgres.rows(f"select state from sash_writes where token = '{token}'") == [{"state": "committed"}]
    assert count(postgres, "unknown") == {"n": ROWS, "different": ROWS}
    postgres.sql(f"delete from sash_writes where token = '{token}'; drop table sash_staging_{token}")


@pytest.mark.parametrize(("times", "last"), [(1, "INSERT INTO slow"), (4, "abandoned")], ids=["one", "all"])
def test_what_the_server_still_runs_without_a_client_is_waited_for(postgres, proxy, job, times, last):
    postgres.sql('drop table if exists slow; create table slow (id bigint, "a `name" text)')
    cut = proxy.order("INSERT INTO slow", "orphan", times=times)
    waiting = f"select 1 from pg_stat_activity where query like 'DO %{last}%' and wait_event_type = 'Lock'"
    with postgres.holding("lock table slow in access exclusive mode"):
        job.tell(put, "slow", True, options(postgres, proxy))
        # the orphan waits for us; the next attempt, or the question whether the rows are in, for the orphan
        job.wait_for(lambda: len(postgres.rows(waiting)) == (2 if times == 1 else 1))
    assert job.answer() is None
    assert cut.done == times
    assert count(postgres, "slow") == {"n": ROWS, "different": ROWS}


@pytest.mark.long
def test_options_that_do_no_harm(postgres, proxy, job):
    cut = proxy.order(STAGED, "during")
    harmless = {"batchsize": 7, "numPartitions": 1, "isolationLevel": "SERIALIZABLE", "queryTimeout": 60}
    assert job.ask(put, "harmless", True, options(postgres, proxy) | harmless) is None
    assert cut.done == 1
    assert count(postgres, "harmless") == {"n": ROWS, "different": ROWS}


@pytest.mark.parametrize(
    "option",
    [
        {"fetchSize": 1000},
        {"isolationLevel": "none"},
        {"truncate": True},
        {"cascadeTruncate": True},
        {"sessionInitStatement": "set role other"},
        {"createTableOptions": "tablespace fast"},
        {"tableComment": "ours"},
        {"query": "select 1"},
        {"prepareQuery": "set x = 1"},
        {"autosave": "always"},
        {"url": "jdbc:postgresql://db/shop?autosave=always"},
    ],
    ids=lambda option: next(iter(option)),
)
def test_options_that_change_transactions_are_refused(option):
    name = "autosave in its url" if "url" in option else next(iter(option))
    with pytest.raises(SashError, match=f"a PostgreSQL sink does not take (the option )?{name}"):
        check({"url": "jdbc:postgresql://db/shop"} | option, "delays")


def test_a_batch_that_is_another_one_is_refused_and_the_same_one_is_in_once(postgres, job, tmp_path):
    checkpoint, older, newest = (tmp_path / name for name in ("checkpoint", "older", "newest"))

    def flow(*numbers):
        return job.ask(streamed, "public.flowing", str(tmp_path), options(postgres), list(numbers))

    def restore(copy):
        shutil.rmtree(checkpoint)
        shutil.copytree(copy, checkpoint)

    def total():
        return postgres.rows("select sum(id) as total, count(*) as n from flowing")[0]

    assert flow(1, 2) is None
    shutil.copytree(checkpoint, older)
    assert flow(10, 20) is None
    shutil.copytree(checkpoint, newest)
    restore(older)  # from which batch 1 is planned again, with more files
    told = flow(100)
    assert "batch 1 of this stream is another one than the batch 1 that is in public.flowing" in told
    assert "Go on with the newest checkpoint, restore public.flowing and public.sash_commits to the time" in told
    assert total() == {"total": 33, "n": 4}

    restore(newest)
    forget(checkpoint, 1)  # as if killed before Spark knew of it: the same batch comes again
    assert flow() is None
    assert total() == {"total": 133, "n": 5}

    postgres.sql("delete from sash_commits where target = 'flowing' and batch > 0; delete from flowing where id > 2")
    told = flow(1000)  # the table was restored, and not the checkpoint
    assert "public.flowing has the batches of this stream up to 0, and the checkpoint goes on with 3" in told
    postgres.sql(re.search("DELETE FROM public.sash_commits WHERE [^;]*?'flowing'", told)[0])
    assert flow() is None
    assert total() == {"total": 1003, "n": 3}


def test_what_an_older_sash_wrote_goes_on_or_is_refused(postgres, job, tmp_path):
    checkpoint = tmp_path / "checkpoint"

    def flow(*numbers):
        return job.ask(streamed, "upgraded", str(tmp_path), options(postgres), list(numbers))

    def downgrade(batch):
        postgres.sql(f"""
            create table if not exists sash_batches (query text primary key, batch bigint);
            insert into sash_batches select distinct query, {batch} from sash_commits where target = 'upgraded'
            on conflict (query) do update set batch = {batch};
            delete from sash_commits where target = 'upgraded'
        """)

    assert flow(1) is None
    downgrade(0)
    assert flow(2) is None
    downgrade(1)
    forget(checkpoint, 1)
    told = flow()
    assert "batch 1 of this stream was written to upgraded by an older Sash" in told
    postgres.sql(re.search("UPDATE sash_commits SET plan = .*? AND batch = 1", told)[0])
    assert flow(3) is None
    assert postgres.rows("select id from upgraded order by id") == [{"id": 1}, {"id": 2}, {"id": 3}]
    postgres.sql("drop table sash_batches")  # other tests look at what Sash leaves there


def forget(checkpoint, batch):
    """Have Spark hold a batch for planned, and not for done."""
    (checkpoint / "commits" / str(batch)).unlink()
    Path(checkpoint, "commits", f".{batch}.crc").unlink(missing_ok=True)


@pytest.mark.long
def test_what_a_killed_write_left_is_swept_and_that_of_a_living_one_is_not(postgres, proxy, job, tmp_path):
    ours = "select 1 from pg_stat_activity where application_name like 'PostgreSQL JDBC%'"

    def sweep():
        assert job.ask(put, "beside", True, options(postgres)) is None
        return len(staging(postgres))

    with Job(tmp_path / "killed", postgres.conf) as killed:
        cut = proxy.order("INSERT INTO killed", "wait")
        killed.tell(put, "killed", True, options(postgres, proxy))
        killed.wait_for(lambda: cut.done == 1)
        assert sweep() == 1
        postgres.sql("update sash_writes set began = now() - interval '8 days'")
        assert sweep() == 1  # old, and its process lives
        postgres.sql("update sash_writes set place = 'another machine'")
        assert sweep() == 0
        proxy.release()
        assert "was taken for left behind, and removed; write them again" in killed.answer()

        cut = proxy.order(STAGED, "hold")
        killed.tell(put, "killed", True, options(postgres, proxy))
        killed.wait_for(lambda: cut.done == 1)
        assert sweep() == 1
        assert killed.kill()
    job.wait_for(lambda: postgres.rows(ours) == [])
    assert sweep() == 0
    assert postgres.rows("select * from sash_writes") == []
    assert postgres.rows("select to_regclass('killed') is null as missing") == [{"missing": True}]


@pytest.mark.long
@pytest.mark.parametrize("what", ["staged", "moved"])
def test_rows_are_in_once_when_tasks_run_twice_at_a_time(postgres, proxy, speculating, what):
    table = f"speculated_{what}"
    cut = proxy.order(STAGED if what == "staged" else f"INSERT INTO {table}", "hold")
    assert speculating.run(put, table, True, options(postgres, proxy)) is None
    assert cut.done == 1
    assert count(postgres, table) == {"n": ROWS, "different": ROWS}


@pytest.fixture(scope="module")
def speculating(postgres, tmp_path_factory):
    """A cluster on two hosts, which runs a task a second time where the first takes long."""
    speculation = {
        "spark.speculation": "true",
        "spark.speculation.task.duration.threshold": "2s",
        "spark.speculation.efficiency.enabled": "false",
    }
    hosts = ("127.0.0.1", "127.0.0.2")
    place = Cluster(tmp_path_factory.mktemp("hosts"), postgres.conf | speculation, hosts=hosts)
    try:
        place.start()
        yield place
    finally:
        place.stop()


def through_connect(spark, folder, options):
    return [put(spark, "connected", True, options), streamed(spark, "connected_stream", folder, options, [1, 2])]


@pytest.mark.long
def test_rows_are_in_once_through_connect(postgres, proxy, connect, tmp_path):
    cut = proxy.order("INSERT INTO connected", "during", times=2)
    assert connect.run(through_connect, str(tmp_path), options(postgres, proxy), conf=postgres.conf) == [None, None]
    assert cut.done == 2
    assert count(postgres, "connected") == {"n": ROWS, "different": ROWS}
    assert count(postgres, "connected_stream") == {"n": 2, "different": 2}
