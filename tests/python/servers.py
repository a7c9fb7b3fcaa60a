"""Database servers of the tests' own, in new folders, at sockets of this machine."""

from __future__ import annotations

import os
import pwd
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from conftest import ROOT

POSTGRES_SHOP = """
CREATE TABLE customers (id INT PRIMARY KEY, name TEXT NOT NULL, country TEXT);
CREATE TABLE orders (id INT PRIMARY KEY, customer INT NOT NULL REFERENCES customers (id),
    amount NUMERIC(10, 2), placed DATE, at TIMESTAMP, paid BOOLEAN, extra JSONB, raw BYTEA);
INSERT INTO customers VALUES (1, 'Zoë', 'France'), (2, 'Ben', NULL);
INSERT INTO orders VALUES
    (1, 1, 10.50, '2024-01-02', '2024-01-02 03:04:05', TRUE, '{"a": 1}', '\\x00ff'),
    (2, 1, 5.25, '2024-02-03', NULL, FALSE, NULL, NULL),
    (3, 2, 7.00, '2024-03-04', NULL, NULL, NULL, NULL);
CREATE VIEW french AS SELECT id FROM customers WHERE country = 'France';
"""

# A statement in each line, as the server reads them.
MARIADB_SHOP = """
CREATE DATABASE shop;
USE shop;
CREATE TABLE customers (id INT PRIMARY KEY, name VARCHAR(40) NOT NULL, country VARCHAR(20));
CREATE TABLE orders (id INT PRIMARY KEY, customer INT NOT NULL, amount DECIMAL(10,2), placed DATE);
ALTER TABLE orders ADD at DATETIME;
ALTER TABLE orders ADD FOREIGN KEY (customer) REFERENCES customers(id);
INSERT INTO customers VALUES (1, 'Zoë', 'France'), (2, 'Ben', NULL);
INSERT INTO orders VALUES (1, 1, 10.50, '2024-01-02', '2024-01-02 03:04:05');
INSERT INTO orders VALUES (2, 1, 5.25, '2024-02-03', NULL), (3, 2, 7.00, '2024-03-04', NULL);
CREATE VIEW french AS SELECT id FROM customers WHERE country = 'France';
"""


def find_postgres() -> Path | None:
    """Returns the folder of PostgreSQL's programs."""
    named = os.environ.get("SYRCH_TEST_POSTGRES")
    folders = [Path(named) / "bin"] if named else []
    folders += sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)
    program = shutil.which("initdb")
    folders += [Path(program).resolve().parent] if program else []
    return next((folder for folder in folders if (folder / "initdb").is_file()), None)


def find_mariadb() -> Path | None:
    """Returns the folder in which tests/databases/mariadb.sh installs MariaDB, or the system's."""
    databases = os.environ.get("SYRCH_TEST_DATABASES", str(ROOT / "target/databases"))
    for folder in (Path(databases) / "mariadb/root/usr", Path("/usr")):
        if (folder / "sbin/mariadbd").is_file():
            return folder
    return None


@contextmanager
def _folder() -> Iterator[Path]:
    """A new folder that the server's user owns."""
    base = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
    path = Path(tempfile.mkdtemp(prefix="syrch-python-", dir=base))
    try:
        if user := _user():
            shutil.chown(path, user)
        yield path
    finally:
        shutil.rmtree(path, ignore_errors=True)


def _user() -> str | None:
    """Returns the user for a server that does not run as root; ``None`` for this one."""
    return pwd.getpwnam("nobody").pw_name if os.geteuid() == 0 else None


@contextmanager
def start_postgres(programs: Path) -> Iterator[Path]:
    """A server with the database ``shop``, and the folder of its socket."""
    with _folder() as folder:
        user = _user()
        data = folder / "data"
        setting = {"user": user, "cwd": folder, "stdout": subprocess.DEVNULL}
        initial = ["--username=ann", "--auth=trust", "--encoding=UTF8", "--locale=C", "--no-sync"]
        subprocess.run([programs / "initdb", *initial, "-D", data], check=True, **setting)
        options = ["-k", folder, "-c", "listen_addresses=", "-c", "fsync=off"]
        with open(folder / "log", "wb") as log:
            server = subprocess.Popen(
                [programs / "postgres", "-D", data, *options], stderr=log, **setting
            )
        try:
            psql = [programs / "psql", "-q", "-h", folder, "-U", "ann", "-v", "ON_ERROR_STOP=1"]
            _wait(lambda: _ends_well([*psql, "-d", "postgres", "-c", "SELECT 1"]), folder / "log")
            subprocess.run([*psql, "-d", "postgres", "-c", "CREATE DATABASE shop"], check=True)
            subprocess.run([*psql, "-d", "shop", "-c", POSTGRES_SHOP], check=True)
            yield folder
        finally:
            server.kill()
            server.wait()


@contextmanager
def start_mariadb(root: Path) -> Iterator[Path]:
    """A server with the database ``shop``, and its socket."""
    with _folder() as folder:
        (folder / "data").mkdir()
        (folder / "shop.sql").write_text(MARIADB_SHOP.strip() + "\n", encoding="utf-8")
        share = root / "share/mysql"
        options = {
            "datadir": folder / "data",
            "socket": folder / "socket",
            "init-file": folder / "shop.sql",
            "lc-messages-dir": share,
            "character-sets-dir": share / "charsets",
            "plugin-dir": root / "lib/mysql/plugin",
        }
        libraries = ":".join(str(path) for path in (root / "lib").glob("*-linux-gnu"))
        with open(folder / "log", "wb") as log:
            server = subprocess.Popen(
                [
                    root / "sbin/mariadbd",
                    "--no-defaults",
                    "--skip-grant-tables",
                    "--skip-networking",
                    "--innodb-buffer-pool-size=16M",
                    "--character-set-server=utf8mb4",
                    f"--user={pwd.getpwuid(os.geteuid()).pw_name}",
                    *(f"--{name}={path}" for name, path in options.items()),
                ],
                env={**os.environ, "LD_LIBRARY_PATH": libraries},
                stdout=subprocess.DEVNULL,
                stderr=log,
            )
        try:
            _wait(lambda: b"ready for connections" in (folder / "log").read_bytes(), folder / "log")
            yield folder / "socket"
        finally:
            server.kill()
            server.wait()


def _ends_well(command: list[object]) -> bool:
    return subprocess.run(list(map(str, command)), capture_output=True).returncode == 0


def _wait(is_ready: object, log: Path) -> None:
    until = time.monotonic() + 60
    while not is_ready():  # type: ignore[operator]
        if time.monotonic() > until:
            raise RuntimeError(log.read_text(errors="replace"))
        time.sleep(0.1)
