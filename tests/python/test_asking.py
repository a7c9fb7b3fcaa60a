"""Many questions: asyncio, threads, batches, and their early ends."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import textwrap
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from syrch_host import Host, NoAnswer, Result, SyrchError, compare, errors, query

COUNTS = {"customers": 240, "orders": 1500, "products": 72}


def slow(messages: list[dict[str, str]]) -> str:
    """A model that takes its time."""
    time.sleep(30)
    return "SELECT 1"


def test_a_coroutine_answers(shop: Path) -> None:
    async def ask() -> list[Result]:
        host = Host(shop)
        questions = [f"How many {name} are there?" for name in COUNTS]
        return await asyncio.gather(*map(host.query, questions))

    found = asyncio.run(ask())
    assert [list(one.data) for one in found] == [[(number,)] for number in COUNTS.values()]


def test_a_cancelled_coroutine_ends_its_search(shop: Path) -> None:
    calls = []

    def model(messages: list[dict[str, str]]) -> str:
        calls.append(time.monotonic())
        time.sleep(0.3)
        return "no statement"

    async def ask() -> None:
        host = Host(shop, model=model, strategy="vote5")
        with pytest.raises(asyncio.TimeoutError):
            await asyncio.wait_for(host.query("How many customers are there?"), 0.1)

    asyncio.run(ask())
    time.sleep(1)
    number = len(calls)
    time.sleep(0.5)
    assert len(calls) == number


def test_32_threads_ask_one_host_at_once(shop: Path) -> None:
    host = Host(shop)
    names = list(COUNTS) * 11
    with ThreadPoolExecutor(32) as pool:
        found = list(pool.map(lambda name: host.ask(f"How many {name} are there?"), names[:32]))
    assert [one.data[0][0] for one in found] == [COUNTS[name] for name in names[:32]]


def test_other_threads_run_while_one_waits(shop: Path) -> None:
    host = Host(shop, model=slow, strategy="single")
    ended = threading.Event()

    def ask() -> None:
        with pytest.raises(SyrchError):
            host.ask("How many customers are there?", deadline=1.0)
        ended.set()

    thread = threading.Thread(target=ask)
    thread.start()
    count = 0
    while not ended.wait(0.001):
        count += 1
    thread.join()
    assert count > 100


def test_one_text_is_no_list_of_questions(shop: Path) -> None:
    host = Host(shop)
    with pytest.raises(TypeError, match="one text"):
        host.batch("How many customers are there?")
    with pytest.raises(TypeError, match="one text"):
        compare("single", "suite.jsonl", shop)


def test_a_batch_keeps_the_order_and_the_errors(shop: Path) -> None:
    with Host(shop) as host:
        found = host.batch(
            ["How many orders are there?", "", "How many products are there?"], workers=2
        )
    first, second, third = found
    assert isinstance(first, Result) and first.data[0] == (1500,)
    assert isinstance(second, errors.ConfigurationError) and "empty" in str(second)
    assert isinstance(third, Result) and third.data[0] == (72,)


def test_a_deadline_ends_a_search(shop: Path) -> None:
    begun = time.monotonic()
    with pytest.raises(SyrchError) as caught:
        query("How many customers?", db=shop, model=slow, strategy="single", deadline=0.5)
    assert time.monotonic() - begun < 10
    assert isinstance(caught.value, (errors.BudgetExceeded, NoAnswer))


def test_what_ask_raises_is_the_cause(shop: Path) -> None:
    def ask(question: str, choices: list[str]) -> str | None:
        raise EOFError("nobody is there")

    with Host(shop) as host:
        with pytest.raises(errors.ClarificationNeeded) as caught:
            host.ask("Who is the best customer?", ask=ask)
        assert isinstance(caught.value.__cause__, EOFError)
        with pytest.raises(errors.ClarificationNeeded) as caught:
            host.ask("Who is the best customer?", ask=lambda question, choices: None)
        assert caught.value.__cause__ is None


@pytest.mark.parametrize("workers", [-1, "two", 1.5])
def test_workers_are_a_number(shop: Path, workers: object) -> None:
    with pytest.raises(errors.ConfigurationError, match="workers is"):
        Host(shop).batch(["How many?"], workers=workers)  # type: ignore[arg-type]
    with pytest.raises(errors.ConfigurationError, match="workers is"):
        compare(["single", "vote5"], "suite.jsonl", workers=workers)  # type: ignore[arg-type]


@pytest.mark.parametrize("what", ["ask", "benchmark"])
def test_ctrl_c_ends_a_search(shop: Path, tmp_path: Path, what: str) -> None:
    program = textwrap.dedent(
        f"""
        import sys, time
        from syrch_host import Host, benchmark
        def model(messages):
            print("called", flush=True)
            time.sleep(60)
        try:
            if {what!r} == "ask":
                Host({str(shop)!r}, model=model, strategy="single").ask("How many customers?")
            else:
                benchmark({str(questions())!r}, {str(shop)!r}, model=model, strategy="single")
        except KeyboardInterrupt:
            print("interrupted", flush=True)
            sys.stdout.flush()
            import os
            os._exit(130)
        """
    )
    child = subprocess.Popen(
        [sys.executable, "-c", program], stdout=subprocess.PIPE, text=True, cwd=tmp_path
    )
    assert child.stdout is not None
    assert child.stdout.readline() == "called\n"
    begun = time.monotonic()
    child.send_signal(signal.SIGINT)
    rest = child.stdout.read()
    assert child.wait(20) == 130 and "interrupted" in rest
    assert time.monotonic() - begun < 5


def questions() -> Path:
    return Path(__file__).resolve().parents[2] / "examples/questions.jsonl"


def test_the_interpreter_ends_while_a_search_runs(shop: Path) -> None:
    program = textwrap.dedent(
        f"""
        import asyncio, time
        from syrch_host import Host
        def model(messages):
            time.sleep(0.5)
            return "SELECT 1"
        async def main():
            host = Host({str(shop)!r}, model=model, strategy="vote5")
            asyncio.create_task(host.query("How many customers are there?"))
            await asyncio.sleep(0.2)
        asyncio.run(main())
        """
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 0, done.stderr


def test_a_call_returns_before_the_interpreter_ends(shop: Path, tmp_path: Path) -> None:
    program = textwrap.dedent(
        f"""
        import time
        from pathlib import Path
        from syrch_host import SyrchError, query
        def model(messages):
            time.sleep(0.9)
            Path({str(tmp_path / "returned")!r}).touch()
            return "SELECT 1"
        try:
            query("How many?", db={str(shop)!r}, model=model, strategy="single", deadline=0.3)
        except SyrchError as error:
            print(type(error).__name__)
        """
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=60
    )
    assert (done.returncode, done.stderr, done.stdout) == (0, "", "BudgetExceeded\n")
    assert (tmp_path / "returned").exists()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork")
def test_a_forked_process_is_told_what_to_do(shop: Path) -> None:
    program = textwrap.dedent(
        f"""
        import os
        from syrch_host import Host
        host = Host({str(shop)!r})
        child = os.fork()
        if child == 0:
            try:
                host.ask("How many customers are there?")
            except RuntimeError as error:
                os._exit(7 if "spawn" in str(error) else 8)
            os._exit(9)
        _, status = os.waitpid(child, 0)
        raise SystemExit(os.waitstatus_to_exitcode(status))
        """
    )
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", program], capture_output=True, timeout=60
    )
    assert done.returncode == 7
