"""The store that paths without a scheme are in: the files of this machine, unless Spark was told otherwise."""

from __future__ import annotations

import re
import uuid
from typing import Any
from weakref import WeakKeyDictionary

SETTINGS = ("fs.defaultFS", "spark.hadoop.fs.defaultFS")  # of the session, which Spark looks at first; of all
LOCAL = "file:"
_known: WeakKeyDictionary[Any, str] = WeakKeyDictionary()


def default_store(spark: Any) -> str:
    """The store of paths without a scheme, such as hdfs://name:8020, or file:, as far as Spark tells.

    Where no setting of Spark names it, but Hadoop's own files, Spark still says whole paths where it finds nothing.
    """
    setting = next((str(each) for name in SETTINGS if (each := spark.conf.get(name, None))), None)
    if setting is not None:
        return setting.rstrip("/")
    if spark not in _known:
        _known[spark] = _file_system(spark)
    return _known[spark]


def _file_system(spark: Any) -> str:
    name = f"sash-{uuid.uuid4().hex}"
    try:
        spark.read.text(f"/{name}")
    except Exception as error:  # a store that cannot be reached does not say its name
        match = re.search(rf"([A-Za-z][\w+.-]*:(?://[^/\s]+)?)/+{name}", str(error))
        return match[1] if match else LOCAL
    return LOCAL
