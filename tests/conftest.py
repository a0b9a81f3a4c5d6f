import os
from collections import Counter

import pytest
from hypothesis import HealthCheck, settings

from services.kafka import kafka  # noqa: F401
from services.postgres import postgres  # noqa: F401
from sessions import as_shipped, cluster, connect, spark  # noqa: F401, fixtures for all tests

settings.register_profile(
    "sash",
    max_examples=int(os.environ.get("SASH_TEST_EXAMPLES", "30")),
    deadline=None,  # the first example compiles
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("sash")

ON_SPARK = {"spark", "cluster", "connect", "postgres", "kafka"}  # fixtures
ELSEWHERE = {"subprocess", "Job"}  # what files have that start processes


@pytest.hookimpl(trylast=True)  # when it is known which tests run
def pytest_collection_modifyitems(items):
    """Large files first, which compile what others need; then those that wait for Spark; small ones fill the end."""
    sizes = Counter(item.path for item in items)
    slow = {
        item.path
        for item in items
        if ON_SPARK.intersection(getattr(item, "fixturenames", ()))
        or ELSEWHERE.intersection(vars(getattr(item, "module", None) or object))
    }

    def turn(item):
        size = sizes[item.path]
        return (1 if item.path in slow else 0 if size >= 30 else 2), -size, str(item.path)

    items.sort(key=turn)
