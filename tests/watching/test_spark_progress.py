"""Batches of Spark are read in each of the forms in which Spark tells them."""

import json

import pytest
from pyspark.sql import Row

from sash.watching.sight import Sight
from sash.watching.spark_progress import COUNTS, SAMPLE, BatchReader

SAMPLED = json.dumps({"answers": {"a": {"n": [[5, 1.0]]}}, "late": {"late": 2}, "rows": ["late: ts 1"]})
COUNTED = {"late": 2, "answers": 7, "keys": 3, "size": 100}


def beside_its_schema(values):
    """As Spark Connect 4.1 gives an observation."""
    schema = {"type": "struct", "fields": [{"name": name, "type": "long"} for name in values]}
    return Row(values=list(values.values()), schema=schema)


@pytest.mark.parametrize("form", [lambda values: Row(**values), beside_its_schema], ids=["by name", "beside a schema"])
def test_counts_and_answers_of_a_batch(form):
    sight = Sight("n")
    batch = {
        "durationMs": {"triggerExecution": 20},
        "numInputRows": 9,
        "batchId": 0,
        "eventTime": {"watermark": "2026-11-16T10:00:00.000Z"},
        "observedMetrics": {SAMPLE + "n": form({"samples": [SAMPLED]}), COUNTS + "n": form(COUNTED)},
    }
    BatchReader(sight).take(batch)
    assert (sight.rows_in, sight.answers, sight.late, sight.keys, sight.size) == (9, 7, 2, 3, 100)
    assert sight.lines == {"n": {"a": {5: 1.0}}}
    assert dict(sight.reasons) == {"late": 2}
    assert str(sight.watermark) == "2026-11-16 10:00:00+00:00"
