"""What goes wrong in a Spark worker reaches the user as one Sash error, without the traces of Python and Java.

The action that fails is the user's own, such as ``collect``; so this stands where PySpark turns what the JVM
or the Connect server reports into an exception.
"""

from __future__ import annotations

import functools
import logging
import re
import sys
from collections.abc import Callable
from types import ModuleType
from typing import Any

from pyspark.errors import PySparkException, PythonException

from sash import errors
from sash.algebra.catalogue.sums import TOO_LARGE
from sash.errors import SashError
from sash.spark.hidden import plain, readable
from sash.spark.interpreters import REMEDY, check_workers

# Where PySpark looks the converter up when it raises: for a JVM of its own, and for Connect.
CONVERTERS = ["pyspark.errors.exceptions.captured", "pyspark.sql.connect.client.core"]
HEADER = "Traceback (most recent call last):\n"
END = r"(?=\n\s*\n|\n\s+at |\n\s*SQLSTATE: |\n\s*Driver stacktrace|\s*\Z)"  # then the JVM goes on, or nothing does
RAISED = re.compile(r"^sash\.errors\.(\w+): (.*?)" + END, re.DOTALL | re.MULTILINE)
OFFSET = re.compile(r"\[USER_RAISED_EXCEPTION\] (the offset of a frame must be [^\n]*?)\s*(?:SQLSTATE|\n|$)")
OVERFLOW = re.compile(r"\[USER_RAISED_EXCEPTION\] (.*?" + re.escape(TOO_LARGE) + ")", re.DOTALL)
FRAMES = re.compile(r"(?:[ \t].*\n)*")
NEEDED_FIRST = ("sash", "pyarrow")  # what a worker imports before any code of Sash runs
MISSING = re.compile(r"^ModuleNotFoundError: No module named '(\w+)[\w.]*'", re.MULTILINE)
# what Spark says of a checkpoint whose state was kept by another operator: ours of 0.1.0.dev0
OLDER = "Stateful operators in the metadata: [(OperatorId: 0 -> OperatorName: transformWithStateInPySparkExec"
OLDER_ADVICE = (
    "the checkpoint is of Sash 0.1.0.dev0 or another stateful query, and this Sash cannot go on with it: start with a "
    "new checkpointLocation, from offsets before the windows that were open"
)


def install() -> None:
    """Make PySpark raise Sash errors as such; once is enough, and a PySpark made otherwise is left alone.

    Scripts print them without the frames of Spark, which would be most of what is printed.
    """
    errors.show_short()
    logger = logging.getLogger("SQLQueryContextLogger")
    if logger.level == logging.NOTSET:  # it prints pages of Java for each error that is raised here, too
        logger.setLevel(logging.CRITICAL)
    for name in CONVERTERS:
        module = sys.modules.get(name)
        if module is not None:
            _wrap(module)


def foresee(spark: Any) -> None:
    """The same for the workers of a session, which is refused where they are certain to fail."""
    install()
    check_workers(spark)


def _wrap(module: ModuleType) -> None:
    original: Callable[..., Any] | None = getattr(module, "convert_exception", None)
    if original is None or hasattr(original, "of_sash"):
        return

    @functools.wraps(original)
    def convert_exception(*args: Any, **kwargs: Any) -> Any:
        converted = original(*args, **kwargs)
        return recognised(converted) or readable(converted)

    convert_exception.of_sash = True  # type: ignore[attr-defined]
    module.convert_exception = convert_exception  # type: ignore[attr-defined]


def recognised(error: Any) -> SashError | None:
    """The Sash error that a worker raised, if an exception of PySpark tells of one."""
    cause = getattr(error, "_cause", None)  # already converted
    if isinstance(error, SashError) or isinstance(cause, SashError):
        return error if isinstance(error, SashError) else cause
    try:
        text = str(error)
    except Exception:  # asks the JVM, which may be gone
        return None
    offset = OFFSET.search(text)
    if offset is not None:
        return error_of("SashError", offset[1])
    overflow = OVERFLOW.search(text)
    if overflow is not None:
        return error_of("Overflow", overflow[1])
    if OLDER in text:
        return error_of("SashError", OLDER_ADVICE)
    last = text.rfind(HEADER)
    if last < 0:  # with spark.sql.execution.pyspark.udf.hideTraceback.enabled
        raised = RAISED.search(text) if isinstance(error, PythonException) else None
    else:
        frames = FRAMES.match(text, last + len(HEADER))
        raised = RAISED.match(text, frames.end()) if frames else None
    if raised is not None:
        return error_of(raised[1], raised[2].strip())
    missing = MISSING.search(text)
    if missing is not None and (missing[1] in NEEDED_FIRST or re.search(r'File "[^"\n]*[/\\]sash[/\\]', text)):
        return error_of("SashError", _advice(missing[1]))
    return None


def error_of(name: str, sentence: str, stands_for: Any = PythonException) -> SashError:
    """A Sash error of a class named so, which is also the exception of PySpark that it stands for."""
    return _both(name, stands_for)(plain(sentence))


@functools.cache
def _both(name: str, stands_for: Any) -> type[SashError]:
    error_type = getattr(errors, name, SashError)
    error_type = error_type if isinstance(error_type, type) and issubclass(error_type, SashError) else SashError

    def __init__(self: Any, sentence: str) -> None:
        PySparkException.__init__(self, message=sentence)
        self.args = (sentence,)

    def __str__(self: Any) -> str:  # PySpark's own adds its error class
        return self.args[0]

    body = {"__module__": errors.__name__, "__doc__": error_type.__doc__, "__init__": __init__, "__str__": __str__}
    return type(error_type.__name__, (error_type, stands_for), body)


def _advice(module: str) -> str:
    return f"the Python of the Spark workers cannot import {module}: install sash there, or {REMEDY}"
