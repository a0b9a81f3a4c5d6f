"""Which algorithms run: the code of each is watched, wherever it is called from."""

from contextlib import contextmanager

from sash.planner import algorithms
from sash.planner.declared import OPERATIONS


@contextmanager
def watched(instead=None):
    """A list to which each algorithm that runs over frames is added; ``instead`` is called in its place."""
    every = [each for operation in OPERATIONS for each in algorithms(operation)]
    codes, ran = [each.run for each in every], []

    def noting(algorithm, code):
        def run(*arguments, **named):
            ran.append(algorithm)
            return (instead or code)(*arguments, **named)

        return run

    for each, code in zip(every, codes, strict=True):
        object.__setattr__(each, "run", noting(each, code))
    try:
        yield ran
    finally:
        for each, code in zip(every, codes, strict=True):
            object.__setattr__(each, "run", code)
