"""How Sash is measured: experiments that take turns, results with their commit, figures, reports and comparisons."""

from bench.harness.experiment import Bench
from bench.harness.measuring import Stopped, Timing, growth, peak_memory

__all__ = ["Bench", "Stopped", "Timing", "growth", "peak_memory"]
