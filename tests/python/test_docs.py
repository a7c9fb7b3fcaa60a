"""The programs of docs/python.md, run as they stand there, one after another in one session."""

from __future__ import annotations

import asyncio
import contextlib
import io
import re
import shutil
import sqlite3
from pathlib import Path
from typing import Any

import pytest
from conftest import ROOT

# A block of Python, and the block of text that directly follows it: what it prints.
BLOCK = re.compile(r"```python\n(.*?)```(?:\n+```text\n(.*?)```)?", re.DOTALL)


def complete(messages: list[dict[str, str]]) -> str:
    """A model for the programs of the guide."""
    return "SELECT COUNT(*) AS customers FROM customers"


@pytest.mark.filterwarnings("ignore::syrch_host.SyrchWarning")
def test_the_programs_of_the_guide_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("shop.sqlite", "questions.jsonl"):
        shutil.copy(ROOT / "examples" / name, tmp_path)
    monkeypatch.chdir(tmp_path)
    text = (ROOT / "docs/python.md").read_text(encoding="utf-8")
    names: dict[str, Any] = {"__name__": "guide", "complete": complete}
    blocks = BLOCK.findall(text)
    assert len(blocks) > 6
    for program, shown in blocks:
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            run(program, names)
        if shown:
            assert printed.getvalue() == shown, program
    sqlite3.connect("shop.sqlite").close()


def run(program: str, names: dict[str, Any]) -> None:
    """Runs a program; as in a notebook, `await` may stand outside of functions."""
    if "await " not in program:
        exec(compile(program, "docs/python.md", "exec"), names)
        return
    body = "\n".join(f"    {line}" for line in program.splitlines())
    exec(f"async def _cell():\n    global found, results\n{body}", names)
    asyncio.run(names["_cell"]())
