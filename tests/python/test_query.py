"""One question in one call, and the errors that it may end with."""

from __future__ import annotations

import inspect
import os
import re
import subprocess
import sys
import time
from pathlib import Path

import pytest
import syrch_host
from conftest import ROOT, Scripted
from syrch_host import Host, errors, query


def test_an_answer_has_all_that_it_rests_on(shop: Path) -> None:
    found = query("How many customers are there in each country?", db=shop)
    assert "France 50" in found.answer and found.sql.startswith("SELECT country")
    assert 0.5 < found.confidence <= 1
    assert found.data.columns[0] == "country" and len(found.data) == 8
    assert found.candidates[0].status == "answer" and found.candidates[0].sql == found.sql
    assert found.cost.sql_runs == 1 and found.token_cost == 0
    assert found.tables == ("customers",) and found.warnings == ()
    assert re.fullmatch("[0-9a-f]{16}", found.run)
    assert found.document["schema"] == "syrch.answer/1"
    assert "tables" not in found.document


def test_the_engine_may_be_named(shop: Path) -> None:
    question = "How many customers are there?"
    assert list(query(question, str(shop), executor_type="sqlite").data) == [(240,)]
    with pytest.raises(errors.ConfigurationError, match="not of postgres"):
        query(question, db=shop, executor_type="postgres")


def test_a_plugin_in_a_file_is_compiled_and_asked(shop: Path, tmp_path: Path) -> None:
    """The program of the package is the compiler, within limits of its own."""
    plugin = tmp_path / "mine.wasm"
    # A section of its own, so that it is no built-in one, whose code is there.
    plugin.write_bytes((ROOT / "plugins/refine.wasm").read_bytes() + b"\0\5\4mine")
    answers = [
        query("How many customers are there?", shop, plugins={"solver": str(plugin)}, isolate=where)
        for where in ("none", "auto")
    ]
    assert [list(answer.data) for answer in answers] == [[(240,)]] * 2


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux can bound the process of a plugin")
def test_a_plugin_in_a_file_runs_in_a_process_of_its_own(shop: Path, tmp_path: Path) -> None:
    """It is the program of the package, and ends with the host."""
    plugin = tmp_path / "mine.wasm"
    plugin.write_bytes((ROOT / "plugins/refine.wasm").read_bytes() + b"\0\5\4mine")
    for where, number in (("process", 1), ("auto", 1), ("none", 0)):
        with Host(shop, plugins={"solver": str(plugin)}, isolate=where) as host:
            assert list(host.ask("How many customers are there?").data) == [(240,)]
            assert len(workers()) == number, where
        until = time.monotonic() + 60
        while workers() and time.monotonic() < until:
            time.sleep(0.01)
        assert workers() == []


def workers() -> list[int]:
    """Returns the child processes of this one that run plugins."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            command = (folder / "cmdline").read_bytes()
            parent = (folder / "stat").read_text().rsplit(") ")[-1].split()[1]
        except OSError:
            continue
        if b"__run-plugin" in command and int(parent) == os.getpid():
            found.append(int(folder.name))
    return found


def test_progress_goes_to_standard_error(shop: Path, capfd: pytest.CaptureFixture[str]) -> None:
    query("How many customers are there?", db=shop, verbose=True)
    shown = ""
    until = time.monotonic() + 5
    while "task A: " not in shown and time.monotonic() < until:
        written = capfd.readouterr()
        shown += written.err
        assert written.out == ""
    assert "tasks: 1" in shown and "task A: How many customers are there?" in shown


@pytest.mark.parametrize(
    ("options", "kind", "part"),
    [
        ({"max_depth": 0}, errors.ConfigurationError, "max_depth"),
        ({"strategy": "sinlge"}, errors.ConfigurationError, "sinlge"),
        ({"plugins": {"solver": "nobody"}}, errors.PluginRejected, "nobody"),
        ({"rows": "all"}, errors.ConfigurationError, "sample:N"),
        ({"deadline": -1}, errors.ConfigurationError, "deadline"),
        ({"provider": "nobody"}, errors.ConfigurationError, "anthropic"),
        ({"max_usd": 0.0}, errors.ConfigurationError, "max_usd"),
        ({"replay": "missing.jsonl"}, errors.ConfigurationError, "missing.jsonl"),
        ({"base_url": "http://127.0.0.1:9/v1", "model": "m"}, errors.ModelError, "127.0.0.1"),
        ({"tables": "nothing"}, errors.DatabaseError, "nothing"),
        ({"plugins": {"cook": "x"}}, errors.ConfigurationError, "cook"),
        ({"isolate": "jail"}, errors.ConfigurationError, "jail"),
        ({"max_rows": "many"}, errors.ConfigurationError, "max_rows is 'many'; it is a whole"),
        ({"max_attempts": True}, errors.ConfigurationError, "max_attempts is True"),
        ({"max_calls": 1.5}, errors.ConfigurationError, "max_calls is 1.5"),
        ({"seed": -1}, errors.ConfigurationError, "seed is -1"),
        ({"timeout": float("nan")}, errors.ConfigurationError, "timeout is nan"),
        ({"cache": 7}, errors.ConfigurationError, "cache is int; it is a path"),
        ({"api_key": b"hush"}, errors.ConfigurationError, "api_key is bytes; it is a text"),
        ({"params": {"solver": {"rounds": {2}}}}, errors.ConfigurationError, "set"),
        ({"environment": {"HOME": 7}}, errors.ConfigurationError, "string"),
        ({"insecure_endpoint": "no"}, ValueError, "insecure_endpoint is"),
        ({"colour": "red"}, TypeError, "colour"),
    ],
)
def test_a_wrong_option_is_an_error_of_its_class(
    shop: Path, options: dict, kind: type[Exception], part: str
) -> None:
    with pytest.raises(kind, match=re.escape(part)):
        query("How many customers are there?", db=shop, **options)


def test_what_is_no_database_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(errors.DatabaseError, match="does not exist"):
        query("How many?", db=tmp_path / "missing.sqlite")
    with pytest.raises(TypeError, match="int is no database"):
        query("How many?", db=3)
    with pytest.raises(errors.ConfigurationError, match="postgresql://"):
        query("How many?", db="postgresql+psycopg2://ann@h/shop")


def test_no_answer_has_the_candidates(shop: Path) -> None:
    model = Scripted("I do not know.")
    with pytest.raises(errors.NoAnswer) as caught:
        query("Why is the sky blue?", db=shop, model=model, strategy="single")
    assert caught.value.exit_code == 3
    document = caught.value.document
    assert document is not None and document["answer"] is None


def test_an_unclear_question_is_asked_back(shop: Path) -> None:
    question = "Who is the best customer?"
    with Host(shop) as host:
        with pytest.raises(errors.ClarificationNeeded) as caught:
            host.ask(question)
        assert caught.value.question.endswith("?") and caught.value.exit_code == 4
        asked: list[tuple[str, list[str]]] = []

        def answer(text: str, choices: list[str]) -> str | None:
            asked.append((text, choices))
            return "the number of orders"

        found = host.ask(question, ask=answer)
    assert asked[0] == (caught.value.question, caught.value.choices)
    assert "orders" in found.sql


def test_a_closed_host_says_so(shop: Path) -> None:
    host = Host(shop)
    assert host.name == "shop" and host.dialect == "sqlite" and repr(host) == "Host('shop')"
    host.close()
    with pytest.raises(ValueError, match="closed"):
        host.ask("How many customers are there?")


def test_exceptions_have_the_exit_codes_of_the_command_line(program: Path) -> None:
    shown = subprocess.run([program, "--help"], capture_output=True, text=True, check=True).stdout
    table = shown[shown.index("Exit codes:") :]
    codes = {int(code) for code in re.findall(r"^ +(\d+)  ", table, re.MULTILINE)}
    kinds = [
        kind
        for _, kind in inspect.getmembers(errors, inspect.isclass)
        if issubclass(kind, errors.SyrchError)
    ]
    # An answer is no exception, and a gate is the command line's alone.
    assert sorted(codes - {0, 5}) == sorted(kind.exit_code for kind in kinds)
    assert {kind.__name__ for kind in kinds} <= set(syrch_host.__all__)


def test_a_recording_answers_again(shop: Path, tmp_path: Path) -> None:
    file = tmp_path / "exchange.jsonl"
    question = "How many customers are there?"
    model = Scripted("SELECT COUNT(*) FROM customers")
    first = query(question, db=shop, model=model, strategy="single", record=file)
    again = query(question, db=shop, strategy="single", replay=file)
    assert model.calls and (first.sql, list(first.data)) == (again.sql, list(again.data))
    with pytest.raises(errors.ReplayMiss):
        query("How many orders are there?", db=shop, strategy="single", replay=file)


def test_an_error_controls_no_terminal(shop: Path) -> None:
    model = Scripted("\x1b[2J\u202eno statement")
    with pytest.raises(errors.SyrchError) as caught:
        query("Which?", db=shop, model=model, strategy="single")
    assert "\x1b" not in str(caught.value) and "\u202e" not in str(caught.value)

    def failing(messages: list[dict[str, str]]) -> str:
        raise ValueError("\x1b[2J gone")

    with pytest.raises(errors.ModelError, match="u{1b}") as model_error:
        query("Which?", db=shop, model=failing, strategy="single")
    assert "\x1b" not in str(model_error.value)


def test_the_terminal_is_asked(
    shop: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("builtins.input", lambda _: "1")
    try:
        found = query("Who is the best customer?", db=shop, interactive=True)
    except errors.ClarificationNeeded:
        pytest.fail("it was not asked")
    except errors.NoAnswer:
        found = None
    assert "  1. " in capfd.readouterr().err
    assert found is None or found.sql
