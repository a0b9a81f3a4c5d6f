"""A clock that a test can turn, below processes that it starts: Python, Java and all."""

import os
import shutil
import struct
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest

SOURCE = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static volatile long *off;  /* seconds, as the test has written them */

__attribute__((constructor)) static void begin(void) {
    const char *path = getenv("TURNED_CLOCK");
    int file = path ? open(path, O_RDONLY) : -1;
    if (file < 0) return;
    void *page = mmap(0, sizeof(long), PROT_READ, MAP_SHARED, file, 0);
    if (page != MAP_FAILED) off = page;
    close(file);
}

int clock_gettime(clockid_t which, struct timespec *now) {
    static int (*real)(clockid_t, struct timespec *);
    if (!real) real = dlsym(RTLD_NEXT, "clock_gettime");
    int code = real(which, now);
    if (off && code == 0 && which == CLOCK_REALTIME) now->tv_sec += *off;
    return code;
}

int gettimeofday(struct timeval *restrict now, void *restrict zone) {
    struct timespec found;
    int code = clock_gettime(CLOCK_REALTIME, &found);
    now->tv_sec = found.tv_sec;
    now->tv_usec = found.tv_nsec / 1000;
    return code;
}

time_t time(time_t *out) {
    struct timespec found;
    clock_gettime(CLOCK_REALTIME, &found);
    if (out) *out = found.tv_sec;
    return found.tv_sec;
}
"""


@dataclass
class Clock:
    """The hands of a clock: a library that is loaded before libc, and a file with how far off they are."""

    library: Path
    hands: Path

    @property
    def environment(self):
        """What a process needs that is to see this clock."""
        return {"LD_PRELOAD": str(self.library), "TURNED_CLOCK": str(self.hands)}

    def turn(self, seconds):
        """Step the clock to so many seconds from the true time."""
        file = os.open(self.hands, os.O_WRONLY)
        os.pwrite(file, struct.pack("l", int(seconds)), 0)
        os.close(file)


def turning_clock(folder):
    """A clock that is right, so far; skips where there is no compiler of C."""
    compiler = shutil.which("cc") or shutil.which("gcc")
    if compiler is None:
        pytest.skip("a turning clock needs a compiler of C")
    source, clock = folder / "clock.c", Clock(folder / "clock.so", folder / "hands")
    source.write_text(SOURCE)
    subprocess.run([compiler, "-shared", "-fPIC", "-O1", "-o", clock.library, source, "-ldl"], check=True)
    clock.hands.write_bytes(bytes(8))
    return clock
