"""The second thread: one helper for all, made when first asked for, and again after a fork."""

from __future__ import annotations

import os
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from concurrent.futures import ThreadPoolExecutor


@cache
def second_thread() -> ThreadPoolExecutor:
    """A thread beside the caller's; waiting for it sleeps."""
    from concurrent.futures import ThreadPoolExecutor

    return ThreadPoolExecutor(max_workers=1, thread_name_prefix="sash")


if hasattr(os, "register_at_fork"):  # the thread does not come along
    os.register_at_fork(after_in_child=second_thread.cache_clear)
