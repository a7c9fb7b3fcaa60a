"""What the tests of the Python package share. `make test-python` runs them."""

from __future__ import annotations

import os
import shutil
import sqlite3
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


def is_required(name: str) -> bool:
    """Returns whether a test fails, and is not skipped, without what that variable is about."""
    return os.environ.get(name) == "1"


@pytest.fixture(scope="session")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The shop of the examples, in a folder of its own."""
    path = tmp_path_factory.mktemp("shop") / "shop.sqlite"
    shutil.copy(ROOT / "examples/shop.sqlite", path)
    return path


@pytest.fixture
def small(tmp_path: Path) -> Path:
    """A database of three people, one of whom has a hostile name."""
    path = tmp_path / "small.sqlite"
    connection = sqlite3.connect(path)
    connection.executescript(PEOPLE)
    connection.close()
    return path


PEOPLE = """
CREATE TABLE people (id INTEGER PRIMARY KEY, name TEXT NOT NULL, height REAL, photo BLOB);
INSERT INTO people VALUES (1, 'Ann', 1.7, x'00ff'), (2, '<script>alert(1)</script>', NULL, NULL),
    (3, 'Eve \u202e <b>', 1.5, NULL);
"""


class Scripted:
    """A model that replies with one text, and remembers the messages that it got."""

    def __init__(self, reply: str) -> None:
        self.reply = reply
        self.calls: list[list[dict[str, str]]] = []

    def __call__(self, messages: list[dict[str, str]]) -> str:
        self.calls.append(messages)
        return self.reply


@pytest.fixture(scope="session")
def program() -> Path:
    """The command line of the package."""
    from syrch_host._options import command_line

    found = command_line()
    assert found is not None
    return found
