import os

from hypothesis import HealthCheck, settings

from services.kafka import kafka  # noqa: F401
from services.postgres import postgres  # noqa: F401
from sessions import cluster, connect, spark  # noqa: F401, fixtures for all tests

settings.register_profile(
    "sash",
    max_examples=int(os.environ.get("SASH_TEST_EXAMPLES", "50")),
    deadline=None,  # the first example compiles
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("sash")
