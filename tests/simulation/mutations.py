"""Mistakes that one could make, put into Sash for the time of a test: a simulation that finds none proves nothing."""

from contextlib import ExitStack, contextmanager
from types import SimpleNamespace
from unittest.mock import patch

from sash.engine.streams import chunked_parts, history, log, revisions, shard, shipping, store
from sash.engine.streams.bucket import Bucket
from sash.engine.streams.logged import LoggedOperator
from sash.spark import shards


def stale_memory():
    """A shard in memory is taken for the one that was kept, whatever the head says."""
    right = shards._shard

    def mistaken(processor, sent, label, *others):
        found = shards._kept.get((processor.plan, label))
        return right(processor, sent, label, *others) if found is None else found

    return patch.object(shards, "_shard", mistaken)


def tokens_that_repeat():
    """Two attempts at a batch give what they keep the same name."""
    right = shard.Shard._close

    def mistaken(self, writer):
        with patch.object(shard, "os", SimpleNamespace(urandom=lambda size: writer.next.to_bytes(size, "big"))):
            right(self, writer)

    return patch.object(shard.Shard, "_close", mistaken)


def chunks_dropped_too_early():
    """A run of the log goes before its last window has ended."""
    right = LoggedOperator.lapses

    def mistaken(self, entry):
        return right(self, entry) - 1000 if entry.num_rows else right(self, entry)

    return patch.object(LoggedOperator, "lapses", mistaken)


def chunks_never_dropped():
    """What was merged stays in the store."""
    return patch.object(store.ChunkWriter, "remove", lambda self, number: None)


def chunks_dropped_with_the_next():
    """What a batch replaces goes, and what takes its place is not written where it waits."""
    right = store.ChunkWriter.flush

    def mistaken(self):
        if len(self._waiting) > 1:
            self._waiting.popitem()
        right(self)

    return patch.object(store.ChunkWriter, "flush", mistaken)


def timers_not_registered_again():
    """A shard waits for the watermark once."""
    right = shards._wait

    def mistaken(processor, before, timer):
        if before is None:
            right(processor, before, timer)

    return patch.object(shards, "_wait", mistaken)


def late_rows_not_counted():
    """Rows that were folded before they came to the shard are not late."""
    right = LoggedOperator._late_of

    def mistaken(self, tally):
        with patch.object(type(self), "shut", None):
            return right(self, tally)

    return patch.object(LoggedOperator, "_late_of", mistaken)


def heads_not_updated():
    """The head stays where no chunk was written."""
    right = shard.Shard._close

    def mistaken(self, writer):
        before, following = self.head, self.next
        right(self, writer)
        if before and following == self.next:
            self.head = before

    return patch.object(shard.Shard, "_close", mistaken)


def pieces_taken_for_the_same():
    """A piece as long as the one before it is not written."""
    return (
        patch.object(chunked_parts, "digest_of", lambda body: str(len(body))),
        patch.object(chunked_parts, "unchanged", lambda body, digest, part: body),
    )


def answers_lost_in_the_last_part():
    """Answers leave in parts, but for the last."""
    right = shards.cut

    def mistaken(table, *limits):
        parts = list(right(table, *limits))
        return parts[:-1] if len(parts) > 1 else parts

    return patch.object(shards, "cut", mistaken)


def rows_lost_between_tables():
    """A task sends what the last of its tables had."""
    right = shipping.Shipping.bodies

    def mistaken(self, tables):
        return right(self, list(tables)[-1:])

    return patch.object(shipping.Shipping, "bodies", mistaken)


def queries_added_from_the_beginning():
    """A query that is added answers windows of which it has not seen all rows."""
    right = history.continued

    def mistaken(before, now, start):
        return right(before, now, 0)

    return patch.object(shard, "continued", mistaken)


def merges_that_forget():
    """Merging loses the older half of what it merges."""
    right = LoggedOperator.condensed

    def mistaken(self, entries):
        return right(self, entries[len(entries) // 2 :])

    return patch.object(LoggedOperator, "condensed", mistaken)


def splits_that_forget():
    """A bucket that is split writes what one half has."""
    right = Bucket.split

    def mistaken(self, shards, writer):
        with patch.object(log.BucketLog, "rewrite", lambda *_: None):
            return right(self, shards, writer)

    return patch.object(Bucket, "split", mistaken)


def merging_without_end():
    """Issue 19, 1: what was merged is cut into parts that are not large, all of which are merged again."""
    right = log.BucketLog._write

    def mistaken(self, entries, level, writer, place):
        known = {run.number for run in self.runs}
        right(self, entries, level, writer, place)
        self.runs = [
            run._replace(level=level) if run.number not in known and run.size < self.limits.body else run
            for run in self.runs
        ]

    return patch.object(log.BucketLog, "_write", mistaken)


def ends_that_are_no_more_not_told():
    """A session that late rows joined to another is not given again as NULL."""
    right = revisions.Revisions.changed

    def mistaken(self, windows, positions, cells, *others):
        for given in right(self, windows, positions, cells, *others):
            standing = revisions._merged_of(positions, cells, self.noted)
            key, end, _ = revisions.union_of_windows([(revisions.NONE, revisions.NONE), *standing])
            grids = [assigner for assigner in positions.assigners if not assigner.merges]
            yield given if grids else given.take((revisions.matches(given.key, given.end, key, end) >= 0).nonzero()[0])

    return patch.object(revisions.Revisions, "changed", mistaken)


def merges_not_written():
    """Rows that joined an open session behind the watermark are added to the log, which is not written anew.

    That is seen where such a row is as near to a session that has ended, of which rows are in the log still, and the
    shard is read again before the open session ends: few histories have all of that.
    """
    right = log.BucketLog.compact

    def mistaken(self, writer):
        self.operator.joins_behind = False
        right(self, writer)

    return patch.object(log.BucketLog, "compact", mistaken)


MUTATIONS = [
    stale_memory, tokens_that_repeat, chunks_dropped_too_early, chunks_never_dropped, chunks_dropped_with_the_next,
    timers_not_registered_again, late_rows_not_counted, heads_not_updated, pieces_taken_for_the_same,
    answers_lost_in_the_last_part, rows_lost_between_tables, queries_added_from_the_beginning, merges_that_forget,
    splits_that_forget,
]  # fmt: skip


@contextmanager
def planted(mutation):
    """Sash with a mistake."""
    patches = mutation()
    with ExitStack() as stack:
        for each in patches if isinstance(patches, tuple) else (patches,):
            stack.enter_context(each)
        yield
