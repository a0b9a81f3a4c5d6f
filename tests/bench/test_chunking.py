import numpy as np
from bench.papers.boundary_2021._chunking import chunk_for_times, seconds_per_combine

from sash.algebra.catalogue import builtin


def test_chunks_of_windows_of_time_follow_the_theorem():
    for size, slide in ((3600, 1), (7200, 10), (60, 7)):
        chunk = chunk_for_times(size, slide, 1e-6)
        assert size // slide // chunk == 1  # a window covers one whole chunk at most
    assert chunk_for_times(10, 2, 0.001) == 5  # floor(r/s) = 5 <= (s + 2T) / T
    assert chunk_for_times(1000, 1, 1) == 667  # (1000 * 2 + 3) / 3
    assert seconds_per_combine(builtin("max"), np.float64) > 0
