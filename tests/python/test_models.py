"""Functions of the program as models."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from conftest import Scripted
from syrch_host import Host, SyrchError, errors, query

QUESTION = "How many customers are there?"


def test_a_function_is_a_model(shop: Path) -> None:
    model = Scripted("```sql\nSELECT COUNT(*) AS n FROM customers\n```\nconfidence: 0.9")
    found = query(QUESTION, db=shop, model=model, strategy="single")
    assert list(found.data) == [(240,)]
    messages = model.calls[0]
    assert messages[0]["role"] == "system" and messages[-1]["role"] == "user"
    assert any(QUESTION in one["content"] for one in messages)
    assert any("customers" in one["content"] for one in messages)
    assert found.cost.calls == len(model.calls) and found.cost.input_tokens > 0


def test_a_model_is_asked_until_three_results_are_equal(shop: Path) -> None:
    model = Scripted("```sql\nSELECT COUNT(*) AS n FROM customers\n```\nconfidence: 0.9")
    found = query(QUESTION, db=shop, model=model)
    assert list(found.data) == [(240,)]
    assert found.cost.calls == len(model.calls) == 3


def test_the_schema_of_a_document_is_in_the_prompt(shop: Path) -> None:
    seen = []

    def model(messages: list[dict[str, str]]) -> str:
        seen.append(messages[-1]["content"])
        return "SELECT COUNT(*) FROM customers"

    try:
        query(QUESTION + " And how many orders?", db=shop, model=model, strategy="decompose")
    except SyrchError:
        pass
    assert any("JSON schema" in text for text in seen)


def test_what_a_model_raises_is_an_error_of_the_model(shop: Path) -> None:
    def model(messages: list[dict[str, str]]) -> str:
        raise ConnectionError("the endpoint sleeps")

    with pytest.raises(errors.ModelError, match="ConnectionError: the endpoint sleeps") as caught:
        query(QUESTION, db=shop, model=model, strategy="single")
    cause = caught.value.__cause__
    assert isinstance(cause, ConnectionError) and cause.__traceback__ is not None


def test_each_error_has_its_own_cause(shop: Path) -> None:
    def model(messages: list[dict[str, str]]) -> str:
        asked = messages[-1]["content"]
        raise LookupError(f"no reply to {next(n for n in range(8) if f'number {n}' in asked)}")

    with Host(shop, model=model, strategy="single") as host:
        found = host.batch([f"How many customers of number {n}?" for n in range(8)], workers=8)
    for number, error in enumerate(found):
        assert isinstance(error, errors.ModelError)
        assert isinstance(error.__cause__, LookupError)
        assert str(error.__cause__) == f"no reply to {number}" and str(error.__cause__) in str(error)


def test_a_model_returns_text(shop: Path) -> None:
    async def model(messages: list[dict[str, str]]) -> str:
        return "SELECT 1"

    with pytest.warns(RuntimeWarning, match="never awaited"):
        with pytest.raises(errors.ModelError, match="coroutine, not a str"):
            query(QUESTION, db=shop, model=model, strategy="single")


def test_a_slow_model_is_given_up(shop: Path) -> None:
    def model(messages: list[dict[str, str]]) -> str:
        time.sleep(3)
        return "SELECT 1"

    begun = time.monotonic()
    with pytest.raises(errors.ModelError, match="did not return in 0.2 s"):
        query(QUESTION, db=shop, model=model, strategy="single", timeout=0.2)
    assert time.monotonic() - begun < 8


def test_a_model_is_under_the_budgets(shop: Path) -> None:
    model = Scripted("SELECT nonsense FROM customers")
    with Host(shop, model=model, strategy="single", max_calls=1) as host:
        with pytest.raises(SyrchError):
            host.ask(QUESTION)
    assert len(model.calls) <= 1


def test_a_statement_that_writes_is_refused(shop: Path) -> None:
    with pytest.raises((errors.Denied, errors.NoAnswer)):
        query("Remove all.", db=shop, model=Scripted("DELETE FROM customers"), strategy="single")
    assert list(query(QUESTION, db=shop).data) == [(240,)]
