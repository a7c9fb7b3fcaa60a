"""The package as a whole: its command line, its types, its metadata."""

from __future__ import annotations

import importlib.metadata
import subprocess
import sys
from pathlib import Path

import pytest
import syrch_host
from conftest import ROOT

USE = """
import asyncio
from syrch_host import Data, Host, Result, benchmark, compare, query

def complete(messages: list[dict[str, str]]) -> str:
    return messages[0]["content"]

found: Result = query("How many?", db="shop.sqlite", model=complete, max_depth=2, tables=["a"])
data: Data = found.data
confidence: float = found.confidence
async def main() -> str:
    with Host("shop.sqlite", strategy="single", cache="cache") as host:
        one = await host.query("How many?", deadline=3)
        return one.sql
asyncio.run(main())
report = compare(["single", "vote5"], "questions.jsonl")
share: float | None = report.accuracy["single"]
"""


def test_the_command_line_is_in_the_package(program: Path) -> None:
    for command in ([program], [sys.executable, "-m", "syrch_host"]):
        shown = subprocess.run([*command, "--version"], capture_output=True, text=True, check=True)
        assert syrch_host.__version__ in shown.stdout
    assert importlib.metadata.version("syrch-host") == syrch_host.__version__
    assert not importlib.metadata.requires("syrch-host")


def test_nothing_else_is_imported() -> None:
    names = "pyarrow pandas polars sqlalchemy numpy".split()
    program = f"import sys, syrch_host; raise SystemExit(any(n in sys.modules for n in {names}))"
    subprocess.run([sys.executable, "-c", program], check=True)


def test_everything_public_is_documented() -> None:
    for name in syrch_host.__all__:
        value = getattr(syrch_host, name)
        if callable(value) and isinstance(value, type):
            assert value.__doc__, name
            public = [one for one in vars(value) if not one.startswith("_")]
            for one in public:
                member = vars(value)[one]
                if callable(member) or isinstance(member, property):
                    assert member.__doc__, f"{name}.{one}"


def test_the_types_are_right(tmp_path: Path) -> None:
    use = tmp_path / "use.py"
    use.write_text(USE, encoding="utf-8")
    mypy = [sys.executable, "-m", "mypy", "--strict", "--cache-dir", str(tmp_path / "cache")]
    mypy += ["--config-file", str(ROOT / "host/python/pyproject.toml")]
    sources = ROOT / "host/python/python/syrch_host"
    for what in (use, sources):
        done = subprocess.run([*mypy, str(what)], capture_output=True, text=True)
        assert done.returncode == 0, done.stdout
    use.write_text(USE.replace("max_depth=2", "max_dpth=2"), encoding="utf-8")
    done = subprocess.run([*mypy, str(use)], capture_output=True, text=True)
    assert done.returncode == 1 and "max_dpth" in done.stdout


def test_the_guide_of_options_has_all() -> None:
    guide = (ROOT / "docs/python.md").read_text(encoding="utf-8")
    missing = [
        name
        for kind in (syrch_host.HostOptions, syrch_host.SearchOptions)
        for name in kind.__optional_keys__
        if f"`{name}`" not in guide
    ]
    assert not missing


@pytest.mark.parametrize("name", ["errors", "_result", "_host", "_sql"])
def test_modules_say_what_they_are(name: str) -> None:
    module = __import__(f"syrch_host.{name}", fromlist=["x"])
    assert module.__doc__
