"""PostgreSQL: a server with a database of its own, on loopback, for as long as the tests run."""

import contextlib
import json
import os
import secrets
import shutil
import subprocess
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from services import jars
from services.kafka import free_ports
from sessions import PATIENCE, die_with_parent

OPTIONS = {
    "listen_addresses": "127.0.0.1",
    "unix_socket_directories": "",
    "fsync": "off",
    "shared_buffers": "32MB",
    "dynamic_shared_memory_type": "mmap",  # in its folder: nothing is left behind
    "timezone": "UTC",
}


@dataclass
class Postgres:
    """A server, its one user, and psql."""

    programs: Path
    folder: Path
    user: str = "sash"
    password: str = field(default_factory=secrets.token_hex, repr=False)
    port: int = 0
    process: subprocess.Popen | None = None

    @property
    def url(self):
        return f"jdbc:postgresql://127.0.0.1:{self.port}/postgres"

    @property
    def conf(self):
        """What a Spark session needs to know of."""
        return {"spark.jars": ",".join(map(str, jars.postgres_driver()))}

    def sql(self, text):
        """What psql prints for some statements: a line a row, without a head."""
        return self._psql(text, check=True).stdout

    def rows(self, query):
        """The rows of a query, each a dict."""
        return json.loads(self.sql(f"select coalesce(json_agg(found), '[]') from ({query}) found").strip())

    @contextlib.contextmanager
    def holding(self, lock):
        """A transaction that has done something, such as taking a lock, and stays open."""
        command, environment = self._client()
        with subprocess.Popen(
            command, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        ) as client:
            print(f"begin; {lock}; select 'held';", file=client.stdin, flush=True)
            assert client.stdout.readline() == "held\n"
            yield
            client.stdin.close()

    def start(self):
        """Make the folder's database and start it; again where the port was taken meanwhile."""
        secret = self.folder / "password"
        secret.write_text(self.password)
        shutil.chown(secret, owner())
        made = ["-D", "data", "-U", self.user, f"--pwfile={secret}", "-A", "scram-sha-256", "-E", "UTF8", "--no-sync"]
        assert self._run("initdb", *made, "--locale=C").wait(PATIENCE) == 0, self.log()
        for _ in range(3):
            (self.port,) = free_ports(1)
            options = [word for name, value in OPTIONS.items() for word in ("-c", f"{name}={value}")]
            self.process = self._run("postgres", "-D", "data", "-p", str(self.port), *options)
            deadline = time.monotonic() + PATIENCE
            while self.process.poll() is None and time.monotonic() < deadline:
                if self._psql("select 1").returncode == 0:
                    return
                time.sleep(0.05)
            self.stop()
        raise AssertionError(self.log())

    def stop(self):
        if self.process is not None:
            self.process.kill()  # its other processes see that, and end
            self.process.wait()

    def log(self):
        return (self.folder / "log").read_text()[-20_000:]

    def _run(self, program, *options):
        """The server and what makes its folder refuse to be run by root."""
        with (self.folder / "log").open("a") as log:
            return subprocess.Popen(
                [str(self.programs / program), *options],
                env=os.environ | {"LC_ALL": "C"},
                cwd=self.folder,
                stdout=log,
                stderr=log,
                preexec_fn=die_with_parent,
                **as_owner(),
            )

    def _client(self):
        where = ["-h", "127.0.0.1", "-p", str(self.port), "-U", self.user, "-d", "postgres"]
        command = [str(self.programs / "psql"), "-X", "-q", "-t", "-A", "-v", "ON_ERROR_STOP=1", *where]
        return command, os.environ | {"PGPASSWORD": self.password, "PGCONNECT_TIMEOUT": "10"}

    def _psql(self, text, check=False):
        command, environment = self._client()
        done = subprocess.run(
            command,
            env=environment,
            input=text,
            capture_output=True,
            text=True,
            timeout=PATIENCE,
        )
        assert done.returncode == 0 or not check, done.stderr
        return done


def owner():
    """Who runs the server: we, or, where we are root, its own user or nobody."""
    if os.geteuid() != 0:
        return os.geteuid()
    import pwd

    return next(user.pw_uid for name in ("postgres", "nobody") for user in pwd.getpwall() if user.pw_name == name)


def as_owner():
    if os.geteuid() != 0:
        return {}
    import pwd

    return {"user": owner(), "group": pwd.getpwuid(owner()).pw_gid, "extra_groups": []}


def programs():
    """The folder of PostgreSQL's programs: the newest of Debian's, or that of the path."""
    debian = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"), key=lambda path: int(path.parts[-3]))
    found = str(debian[-1]) if debian else shutil.which("initdb")
    return Path(found).parent if found else None


def install():
    """Debian's package, where nobody minds: in CI, or where SASH_TEST_INSTALL is set."""
    asked = os.environ.get("CI") or os.environ.get("SASH_TEST_INSTALL")
    if asked and os.geteuid() == 0 and shutil.which("apt-get"):
        command = ["apt-get", "install", "-y", "--no-install-recommends", "postgresql"]
        subprocess.run(command, env=os.environ | {"DEBIAN_FRONTEND": "noninteractive"}, capture_output=True)


@pytest.fixture(scope="session")
def postgres():
    """A server of these tests' own; its folder is one that its user can get to."""
    if programs() is None:
        install()
    if programs() is None:
        pytest.skip("PostgreSQL is not installed (as root, SASH_TEST_INSTALL=1 installs Debian's package)")
    jars.postgres_driver()
    with tempfile.TemporaryDirectory(prefix="sash-postgres-", ignore_cleanup_errors=True) as folder:
        shutil.chown(folder, owner())
        server = Postgres(programs(), Path(folder))
        try:
            server.start()
            yield server
        finally:
            server.stop()
