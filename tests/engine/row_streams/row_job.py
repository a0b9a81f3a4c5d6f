"""Columns beside the rows of a stream, as Spark runs them."""

from engine.streams.test_shards import Job
from sash.engine.row_streams.row_shards import RowShardPlan


class RowJob(Job):
    """Shards of rows, with a store in memory for each."""

    def __init__(self, scheme, shards=2, limits=None):
        super().__init__(scheme, shards if scheme.key else 1, scheme.emit, True, limits)

    def asked(self, scheme):
        self.scheme = scheme
        told = tuple((name, str(over)) for name, over in scheme.columns.items())
        self.plan_is(RowShardPlan(scheme, len(self.stores), told))
