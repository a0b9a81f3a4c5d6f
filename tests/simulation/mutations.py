"""Mistakes that one could make, put into Sash for the time of a test: a simulation that finds none proves nothing."""

from contextlib import contextmanager
from types import SimpleNamespace
from unittest.mock import patch

from sash.engine.streams import history, log, pieces, shard, shipping
from sash.engine.streams.logged import Logged
from sash.spark import shards
from simulation import adapter


def stale_memory():
    """A shard in memory is taken for the one that was kept, whatever the head says."""
    right = shards._shard

    def mistaken(processor, sent, label, watermark):
        found = shards._kept.get((processor.plan, label))
        return right(processor, sent, label, watermark) if found is None else found

    return patch.object(shards, "_shard", mistaken)


def tokens_that_repeat():
    """Two attempts at a batch give what they keep the same name."""
    right = shard.Shard._head

    def mistaken(self, core, writing):
        with patch.object(shard, "os", SimpleNamespace(urandom=lambda size: self.next.to_bytes(size, "big"))):
            return right(self, core, writing)

    return patch.object(shard.Shard, "_head", mistaken)


def chunks_dropped_too_early():
    """A run of the log goes when its first window has ended, not its last."""
    right = Logged.lapses

    def mistaken(self, entry):
        return right(self, entry) - 1000 if entry.num_rows else right(self, entry)

    return patch.object(Logged, "lapses", mistaken)


def chunks_never_dropped():
    """What was merged stays in the store."""
    return patch.object(log.Writing, "remove", lambda self, number: None)


def timers_not_registered_again():
    """A shard waits for the watermark once."""
    right = shards._wait

    def mistaken(processor, before, timer):
        if before is None:
            right(processor, before, timer)

    return patch.object(shards, "_wait", mistaken)


def late_rows_not_counted():
    """Rows that were folded before they came to the shard are not late."""
    right = shard.Shard._late_of

    def mistaken(self, tally):
        with patch.object(type(self.operator), "ended", None):
            return right(self, tally)

    return patch.object(shard.Shard, "_late_of", mistaken)


def heads_not_updated():
    """The head is written only where chunks were."""
    right = shards._keep

    def mistaken(processor, done):
        if done.put or done.drop or processor.head.get() is None:
            right(processor, done)

    return patch.object(shards, "_keep", mistaken)


def pieces_taken_for_the_same():
    """A piece as long as the one before it is not written."""
    return patch.object(pieces, "digest_of", lambda body: str(len(body))), patch.object(
        pieces, "unchanged", lambda body, digest, part: body
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


def runs_in_which_lapsed_rows_stay():
    """Merging forgets the older half of what it merges."""
    right = Logged.condensed

    def mistaken(self, entries):
        return right(self, entries[len(entries) // 2 :])

    return patch.object(Logged, "condensed", mistaken)


def merging_without_end():
    """Issue 19, 1: what was merged is cut into parts just below what is large, and these are merged again."""
    right = adapter.Limits.drawn

    def small(chance, width, early):
        from dataclasses import replace

        return replace(right(chance, width, early), run=4 * max(width, 1000), fan=2)

    return patch.object(adapter.Limits, "drawn", small)


MUTATIONS = [
    stale_memory, tokens_that_repeat, chunks_dropped_too_early, chunks_never_dropped, timers_not_registered_again,
    late_rows_not_counted, heads_not_updated, pieces_taken_for_the_same, answers_lost_in_the_last_part,
    rows_lost_between_tables, queries_added_from_the_beginning, runs_in_which_lapsed_rows_stay,
]  # fmt: skip


@contextmanager
def planted(mutation):
    """Sash with a mistake."""
    patches = mutation()
    first, *others = patches if isinstance(patches, tuple) else (patches,)
    with first:
        if others:
            with others[0]:
                yield
        else:
            yield
