"""Processes that a test can kill: any command; and a session that calls functions of a test's file."""

import contextlib
import json
import os
import runpy
import signal
import subprocess
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path

from sessions import HERE, PATIENCE, die_with_parent, session
from spark.streaming_job import session_of


@dataclass
class Process:
    """A command that leads a session of its own, with what it prints in a file."""

    folder: Path
    command: list[str]
    environment: dict[str, str] = field(default_factory=dict)
    process: subprocess.Popen | None = None

    def __enter__(self):
        self.folder.mkdir(parents=True, exist_ok=True)
        with (self.folder / "log").open("w") as log:
            self.process = subprocess.Popen(
                self.command,
                env=os.environ | HERE | self.environment,
                cwd=self.folder,
                stdin=subprocess.PIPE,
                stdout=log,
                stderr=log,
                text=True,
                start_new_session=True,
                preexec_fn=die_with_parent,
            )
        return self

    def __exit__(self, *_):
        self.kill()

    def log(self):
        """What it printed, without the frames of Java."""
        lines = (self.folder / "log").read_text().splitlines()
        return "\n".join(line for line in lines if not line.startswith("\tat "))

    def finish(self):
        """Wait until it ends by itself; gives its code."""
        return self.process.wait(PATIENCE)

    def wait_for(self, arrived):
        """Wait until something is so, which it must be before the process ends."""
        deadline = time.monotonic() + PATIENCE
        while not arrived():
            assert time.monotonic() < deadline, self.log()
            assert self.process.poll() is None, self.log()
            time.sleep(0.02)

    def kill(self):
        """SIGKILL for the driver, its Java and its Python workers; says whether it was alive."""
        alive = self.process.poll() is None
        while members := session_of(self.process.pid):
            for each in members:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(each, signal.SIGKILL)
            self.process.wait()
            time.sleep(0.02)
        self.process.wait()
        with contextlib.suppress(BrokenPipeError):
            self.process.stdin.close()
        return alive


class Job(Process):
    """A process with a Spark session, which does as it is told, one function after another."""

    def __init__(self, folder, conf, environment=None):
        there = {"spark.master": "local[2]", "spark.local.dir": str(folder)} | conf
        super().__init__(folder, [sys.executable, __file__, json.dumps(there)], environment or {})
        self.told = 0

    def tell(self, function, *args):
        """Have a function of a test's file called with the session, and do not wait."""
        self.told += 1
        order = {
            "file": sys.modules[function.__module__].__file__,
            "function": function.__name__,
            "args": args,
            "answer": str(self._answer()),
        }
        self.process.stdin.write(json.dumps(order) + "\n")
        self.process.stdin.flush()

    def ask(self, function, *args):
        """What a function of a test's file answers to the session and some arguments."""
        self.tell(function, *args)
        return self.answer()

    def answer(self):
        """What the last function that was called answers."""
        self.wait_for(self._answer().exists)
        return json.loads(self._answer().read_text())

    def _answer(self):
        return self.folder / f"answer-{self.told}.json"


def committed(checkpoint):
    """The last batch that Spark holds for done, or -1."""
    return max((int(path.name) for path in (checkpoint / "commits").glob("[0-9]*")), default=-1)


def obey(conf):
    """In the other process: do what each line says; what goes wrong ends it."""
    there = session(conf)
    for line in sys.stdin:
        order = json.loads(line)
        # a file run so has no name that workers could import it by: its functions travel by value
        found = runpy.run_path(order["file"])[order["function"]](there, *order["args"])
        Path(f"{order['answer']}.part").write_text(json.dumps(found))
        Path(f"{order['answer']}.part").rename(order["answer"])


if __name__ == "__main__":
    obey(json.loads(sys.argv[1]))
