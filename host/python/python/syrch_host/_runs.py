"""Graded runs over suites of questions with expected answers."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterable, Mapping
from contextlib import nullcontext
from typing import TYPE_CHECKING, Any

from . import _native, _tasks, _text
from ._calls import count
from ._host import Model, _print_line
from ._options import host_options, read_value, write_options
from .errors import ConfigurationError

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ._options import HostOptions

_Path = str | os.PathLike[str]
_Function = Callable[[list[dict[str, str]]], str]


class Report:
    """The report of a graded run.

    Attributes:
        document: The document ``syrch.benchmark/1`` or ``syrch.compare/1``.
    """

    def __init__(self, document: dict[str, Any]) -> None:
        self.document = document

    @property
    def arms(self) -> list[dict[str, Any]]:
        """The figures of each arm, in order."""
        arms: list[dict[str, Any]] = self.document.get("arms", [self.document])
        return arms

    @property
    def results(self) -> list[dict[str, Any]]:
        """Every graded answer, by arm and in the order of the suite."""
        results: list[dict[str, Any]] = self.document["results"]
        return results

    @property
    def pairs(self) -> list[dict[str, Any]]:
        """The comparisons of two arms each; empty for one arm."""
        pairs: list[dict[str, Any]] = self.document.get("pairs", [])
        return pairs

    @property
    def accuracy(self) -> dict[str, float | None]:
        """The share of right answers, 0 to 1, by the name of the arm; ``None`` if none counts."""
        return {_name(arm): arm["share"] for arm in self.arms}

    @property
    def warnings(self) -> list[str]:
        """What limits the figures."""
        warnings: list[str] = self.document["warnings"]
        return warnings

    def __repr__(self) -> str:
        return f"Report({self.accuracy!r})"

    def _rows(self) -> list[list[object]]:
        rows: list[list[object]] = []
        for arm in self.arms:
            share = arm["share"]
            percent = "" if share is None else f"{100 * share:.1f} %"
            rows.append([_name(arm), arm["right"], arm["of"], percent])
        return rows

    def _repr_html_(self) -> str:
        verdicts = "".join(f"<li>{_text.escape(pair['verdict'])}</li>" for pair in self.pairs)
        return _text.table(["arm", "right", "of", "share"], self._rows()) + (
            f"<ul>{verdicts}</ul>" if verdicts else ""
        )


def _name(arm: dict[str, Any]) -> str:
    """Returns the name of an arm; a report of one has it under ``arm``."""
    own = arm.get("arm", arm)
    return str(own["name"] if isinstance(own, dict) else own)


def benchmark(
    suite: _Path,
    db: _Path | None = None,
    *,
    model: Model | None = None,
    rule: str | None = None,
    workers: int = 5,
    seeds: int = 1,
    runs: _Path | None = None,
    resume: str | None = None,
    retry_failed: bool = False,
    max_outages: int = 10,
    total_calls: int | None = None,
    total_tokens: int | None = None,
    total_usd: float | None = None,
    total_time: float | None = None,
    verbose: bool = False,
    **options: Unpack[HostOptions],
) -> Report:
    """Asks the questions of a suite, and grades the answers.

    Args:
        suite: The path of the suite.
        db: The database of all questions, or the folder of the databases; by default they are
            beside the suite.
        model: As for :class:`Host`.
        rule: The comparison rule, ``bag-v1`` by default.
        workers: Questions that are asked at once.
        seeds: Seeds under which all is asked.
        runs: The folder of the runs; without it the run is removed when it has ended.
        resume: The run to resume: its id, or ``last``.
        retry_failed: True to ask again what failed in the run that is resumed.
        max_outages: Failures of the model one after another that stop the run; 0 for never.
        total_calls: Model calls of the whole run.
        total_tokens: Tokens of the whole run.
        total_usd: Dollars of the whole run.
        total_time: Seconds of the whole run.
        verbose: True to print the progress to standard error.
        **options: The options of ``HostOptions``.

    Raises:
        SyrchError: If a check fails before the first question, something stopped the run, or all
            searches failed. ``document`` is then the report so far, or ``None``.
    """
    name = str(options.get("strategy") or "default")
    return _carry_out([(name, model, dict(options))], suite, db, _arguments_of_run(locals()))


def compare(
    arms: Iterable[str] | Mapping[str, Mapping[str, Any]],
    suite: _Path,
    db: _Path | None = None,
    *,
    model: Model | None = None,
    rule: str | None = None,
    workers: int = 5,
    seeds: int = 1,
    runs: _Path | None = None,
    resume: str | None = None,
    retry_failed: bool = False,
    max_outages: int = 10,
    total_calls: int | None = None,
    total_tokens: int | None = None,
    total_usd: float | None = None,
    total_time: float | None = None,
    stop_early: bool = False,
    verbose: bool = False,
    **options: Unpack[HostOptions],
) -> Report:
    """Asks the questions of a suite under several strategies, and tests whether they differ.

    Args:
        arms: The names of strategies or the paths of strategy files; or a mapping of the names of
            arms to the options in which they differ, ``model`` among them.
        stop_early: True to stop once the comparison of two arms is decided.

    The other arguments and the exceptions are those of :func:`benchmark`.
    """
    if isinstance(arms, str):
        raise TypeError("arms is one text: give a list of strategies, or use benchmark()")
    named: list[tuple[str, Model | None, dict[str, Any]]] = []
    if isinstance(arms, Mapping):
        for name, own in arms.items():
            merged = {**options, **own}
            named.append((name, merged.pop("model", model), merged))
    else:
        named = [(name, model, {**options, "strategy": name}) for name in arms]
    if len(named) < 2:
        raise ConfigurationError("a comparison needs two arms; benchmark() grades one")
    return _carry_out(named, suite, db, _arguments_of_run(locals()))


_OF_RUN = {
    "rule": "str",
    "workers": "int",
    "seeds": "int",
    "runs": "_Path",
    "resume": "str",
    "retry_failed": "bool",
    "max_outages": "int",
    "total_calls": "int",
    "total_tokens": "int",
    "total_usd": "float",
    "total_time": "float",
    "stop_early": "bool",
    "verbose": "bool",
}


def _arguments_of_run(names: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the arguments that are about the run as a whole."""
    given = {name: names[name] for name in _OF_RUN if name in names}
    return {
        name: None if value is None else read_value(name, value, _OF_RUN[name])
        for name, value in given.items()
    }


def _carry_out(
    arms: list[tuple[str, Model | None, dict[str, Any]]],
    suite: _Path,
    db: _Path | None,
    run: dict[str, Any],
) -> Report:
    watch = _print_line if run.pop("verbose") else None
    folder = run.pop("runs")
    written = []
    functions: list[_Function | None] = []
    for name, model, options in arms:
        given = host_options(options)
        functions.append(count(model) if callable(model) else None)
        if model is not None and not callable(model):
            given["model"] = model
        written.append((name, given))
    run.setdefault("stop_early", False)
    run.update(suite=os.fspath(suite), database=None if db is None else os.fspath(db))
    place = nullcontext(folder) if folder is not None else tempfile.TemporaryDirectory()
    with place as runs:
        options_of_run = write_options({**run, "arms": written, "runs": runs})
        task = _tasks.start(_native.run_suite, options_of_run, functions, watch)
        outcome = _tasks.wait(task)
    document = _tasks.read_document(outcome)
    if outcome[0] != _tasks.ANSWERED or document is None:
        raise _tasks.error_of(outcome)
    return Report(document)
