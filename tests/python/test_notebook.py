"""A notebook: cells of IPython, as Jupyter runs them, and what it shows of a value."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from IPython.core.interactiveshell import InteractiveShell

CELLS = [
    "from syrch_host import Host, benchmark",
    "host = Host('shop.sqlite')",
    "found = await host.query('How many customers are there in each country?')",
    "import polars, pyarrow",
    "shape = polars.DataFrame(found.data).shape, pyarrow.table(found.data).num_rows",
    "pandas_shape = found.data.to_pandas().shape",
]


@pytest.fixture
def shell(
    shop: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[InteractiveShell]:
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path))
    monkeypatch.chdir(shop.parent)
    shell = InteractiveShell.instance()
    shell.run_line_magic("colors", "nocolor")
    yield shell
    InteractiveShell.clear_instance()


def run(shell: InteractiveShell, cell: str) -> object:
    done = shell.run_cell(cell)
    done.raise_error()
    return done.result


def test_cells_answer_and_show_the_answer(shell: InteractiveShell) -> None:
    for cell in CELLS:
        run(shell, cell)
    assert shell.user_ns["shape"] == ((8, 2), 8) and shell.user_ns["pandas_shape"] == (8, 2)
    formats, _ = shell.display_formatter.format(run(shell, "found"))
    assert "<td>France</td><td>50</td>" in formats["text/html"]
    assert "confidence 0." in formats["text/html"] and "Result(answer=" in formats["text/plain"]
    formats, _ = shell.display_formatter.format(run(shell, "found.data"))
    assert formats["text/html"].count("<tr>") == 9 and "8 rows" in formats["text/plain"]


def test_a_cell_shows_the_cause_of_an_error(
    shell: InteractiveShell, capsys: pytest.CaptureFixture[str]
) -> None:
    cell = """
def model(messages):
    raise ConnectionError("the endpoint sleeps")
await Host("shop.sqlite", model=model, strategy="single").query("How many customers?")
"""
    run(shell, CELLS[0])
    assert not shell.run_cell(cell).success
    shown = capsys.readouterr().out
    assert "ModelError" in shown and "direct cause" in shown and "raise ConnectionError" in shown
