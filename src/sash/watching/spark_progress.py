"""What Spark tells of a streaming query's batches, read for a page."""

from __future__ import annotations

import json
from datetime import datetime
from typing import Any

from sash.watching.sight import Sight

SAMPLE = "sash: answers of "  # before the name of a query: the metric that carries answers for a page
COUNTS = "sash "  # the same of the metric of counts


class BatchReader:
    """Takes in each batch of a query once."""

    def __init__(self, sight: Sight) -> None:
        self.sight = sight
        self._seen = ""

    def look(self, query: Any) -> None:
        """Take in what is new, and whether the query has ended."""
        active = query.isActive
        for batch in query.recentProgress:
            if batch["timestamp"] > self._seen:  # numbers are told twice where a stream was idle
                self._seen = batch["timestamp"]
                self.take(batch)
        if not active:
            error = query.exception()
            self.sight.ended(None if error is None else str(error).strip().split("\n")[0])

    def take(self, batch: Any) -> None:
        """Take in one batch."""
        sight = self.sight
        took = float((batch["durationMs"] or {}).get("triggerExecution", 0))
        rows = batch["numInputRows"]
        if rows is None:  # on Connect
            rows = sum(source["numInputRows"] or 0 for source in batch["sources"] or ())
        sight.took(rows, took, batch["batchId"])
        for name, row in (batch["observedMetrics"] or {}).items():
            metrics = _by_name(row)
            if name.startswith(SAMPLE):
                for text in metrics.get("samples") or ():
                    sight.sampled(json.loads(text))
            elif name.startswith(COUNTS):
                sight.late = (sight.late or 0) + (metrics.get("late") or 0)
                sight.answers = (sight.answers or 0) + (metrics.get("answers") or 0)
                if metrics.get("size") is not None:  # none where no shard had anything to do
                    sight.keys, sight.size = metrics.get("keys"), metrics["size"]
        mark = (batch["eventTime"] or {}).get("watermark")
        if mark and not mark.startswith("1970-01-01T00:00:00"):
            sight.watermark = datetime.fromisoformat(mark)


def _by_name(row: Any) -> dict[str, Any]:
    """The metrics of an observation; on Connect, without what is NULL or empty, or as values beside a schema."""
    metrics: dict[str, Any] = row.asDict(recursive=True)
    if metrics.keys() == {"values", "schema"}:
        names = [each["name"] for each in metrics["schema"]["fields"]]
        return dict(zip(names, metrics["values"], strict=True))
    return metrics
