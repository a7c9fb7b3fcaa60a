"""Graded runs."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from conftest import ROOT, Scripted
from syrch_host import benchmark, compare, errors

SUITE = ROOT / "examples/questions.jsonl"


@pytest.fixture
def suite(tmp_path: Path) -> Path:
    """The first five questions of the example."""
    path = tmp_path / "questions.jsonl"
    lines = SUITE.read_text(encoding="utf-8").splitlines(keepends=True)
    path.write_text("".join(lines[:5]), encoding="utf-8")
    return path


def test_a_benchmark_grades_a_strategy(
    suite: Path, shop: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    report = benchmark(suite, shop, strategy="single", verbose=True)
    assert report.accuracy == {"single": 1.0} and len(report.results) == 5
    assert report.document["schema"] == "syrch.benchmark/1" and report.pairs == []
    assert "single" in report._repr_html_() and "100.0 %" in report._repr_html_()
    assert "5 of 5 answers" in capfd.readouterr().err


def test_a_model_of_the_program_is_graded(suite: Path, shop: Path) -> None:
    model = Scripted("SELECT COUNT(*) FROM customers")
    report = benchmark(suite, shop, model=model, strategy="single")
    assert report.accuracy == {"single": 0.2} and len(model.calls) == 5


def test_strategies_are_compared(suite: Path, shop: Path, tmp_path: Path) -> None:
    report = compare(["single", "decompose"], suite, shop, runs=tmp_path / "runs")
    assert list(report.accuracy) == ["single", "decompose"] and len(report.pairs) == 1
    assert report.document["schema"] == "syrch.compare/1" and len(report.results) == 10
    assert report.pairs[0]["verdict"] in report._repr_html_().replace("&#x27;", "'")
    again = compare(["single", "decompose"], suite, shop, runs=tmp_path / "runs", resume="last")
    assert again.accuracy == report.accuracy
    assert len(list((tmp_path / "runs").iterdir())) == 1


def test_arms_may_differ_in_options_and_models(suite: Path, shop: Path) -> None:
    right = Scripted("SELECT COUNT(*) FROM customers")
    wrong = Scripted("SELECT 7 FROM customers")
    arms = {"right": {"model": right, "strategy": "single"}, "wrong": {"model": wrong}}
    report = compare(arms, suite, shop, strategy="single")
    assert report.accuracy == {"right": 0.2, "wrong": 0.0}


def test_what_stops_a_run_has_the_report_so_far(suite: Path, shop: Path, tmp_path: Path) -> None:
    with pytest.raises(errors.ConfigurationError) as caught:
        benchmark(suite, shop, rule="fair")
    assert caught.value.document is None and "bag-v1" in str(caught.value)
    with pytest.raises(errors.SyrchError):
        benchmark(tmp_path / "missing.jsonl", shop)
    with pytest.raises(errors.UsageError):
        benchmark(suite, shop, runs=tmp_path / "runs", resume="nothing")

    def model(messages: list[dict[str, str]]) -> str:
        raise ConnectionError("no route")

    with pytest.raises(errors.ModelError, match="no route") as caught:
        benchmark(suite, shop, model=model, strategy="single", max_outages=2, workers=1)
    document = caught.value.document
    assert document is not None and json.dumps(document)
    with pytest.raises(ValueError, match="two arms"):
        compare(["single"], suite, shop)
