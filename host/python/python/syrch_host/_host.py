"""Hosts, and questions to them."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Iterable
from types import TracebackType
from typing import TYPE_CHECKING, Any

from . import _native, _tasks
from ._calls import count
from ._databases import Database, find_adapter
from ._options import host_options, read_value, search_options, write_options
from ._result import Result
from ._text import reveal
from .errors import SyrchError, SyrchWarning

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ._options import HostOptions, SearchOptions

Model = str | Callable[[list[dict[str, str]]], str]
"""A model: its name at an endpoint, or a function that gets the messages of a prompt, each with
``role`` and ``content``, and returns the reply."""

Ask = Callable[[str, list[str]], str | None]
"""Answers a question of a search to its user: it gets the text and the choices, and returns the
answer or ``None``."""


def ask_on_terminal(question: str, choices: list[str]) -> str | None:
    """Asks on the terminal; an empty answer is none."""
    print(reveal(question), file=sys.stderr)
    for number, choice in enumerate(choices, 1):
        print(f"  {number}. {reveal(choice)}", file=sys.stderr)
    answer = input("> ").strip()
    if answer.isdigit() and 1 <= int(answer) <= len(choices):
        return choices[int(answer) - 1]
    return answer or None


def _depth() -> int:
    """Returns how many frames above its caller the first one outside of this package is."""
    depth = 2
    frame = sys._getframe(2)
    while frame.f_back and frame.f_globals.get("__name__", "").startswith("syrch_host."):
        frame = frame.f_back
        depth += 1
    return depth


def _print_line(line: str) -> None:
    print(line, file=sys.stderr)


class Host:
    """A database, a model and a strategy that are open for many questions.

    Several threads may ask one host at once: searches run without the interpreter's lock.

    Args:
        database: A path, an address such as ``postgres://ann@localhost/shop``, an engine of
            SQLAlchemy, a connection of PEP 249, or an object with ``execute(sql)``, ``schema()``
            and ``dialect``.
        dialect: The SQL that the database speaks, where ``database`` is an object that does not say
            it, such as ``sqlite``, ``postgres``, ``mysql``, ``duckdb`` or ``ansi``.
        model: The model's name at its endpoint, or a function that gets the messages of a prompt
            and returns the reply. Without a model, a provider and an endpoint, questions are
            answered by rules.
        executor_type: What the database has to be, such as ``sqlite``; ``jdbc`` opens an address of
            SQLAlchemy.
        verbose: True to print the progress to standard error.
        **options: The options of ``HostOptions``.

    Raises:
        ConfigurationError: If an option is wrong.
        DatabaseError: If the database cannot be opened.
        PluginRejected: If a plugin of the strategy is refused.
        TypeError: If ``database`` is none, or a keyword is no option.

    Warns:
        SyrchWarning: What the database cannot promise. ``warnings`` has the same texts.
    """

    def __init__(
        self,
        database: Database,
        *,
        dialect: str | None = None,
        model: Model | None = None,
        executor_type: str | None = None,
        verbose: bool = False,
        **options: Unpack[HostOptions],
    ) -> None:
        given = host_options(options)
        found = find_adapter(database, dialect, executor_type)
        adapter = None if isinstance(found, str) else found
        if isinstance(found, str):
            given["database"] = found
            given["executor_type"] = executor_type
        function = count(model) if callable(model) else None
        if model is not None and function is None:
            given["model"] = model
        self._watch = _print_line if verbose else None
        task = _tasks.start(_native.open, write_options(given), adapter, function, self._watch)
        outcome = _tasks.wait(task)
        if outcome[0] != _tasks.ANSWERED:
            raise _tasks.error_of(outcome)
        self._native: _native.Host | None = outcome[3]
        self.warnings: tuple[str, ...] = tuple(outcome[3].warnings)
        for text in self.warnings:
            warnings.warn(text, SyrchWarning, stacklevel=_depth())

    @property
    def name(self) -> str:
        """The name of the database, as plugins see it."""
        return self._open().name

    @property
    def dialect(self) -> str:
        """The SQL that the database speaks."""
        return self._open().dialect

    async def query(
        self, question: str, *, ask: Ask | None = None, **options: Unpack[SearchOptions]
    ) -> Result:
        """Answers a question. Cancelling the coroutine ends the search.

        Args:
            question: The question.
            ask: Answers questions of the search to its user. Without it, or where it returns
                ``None`` or raises an exception, an unclear question is an exception.
            **options: The options of ``SearchOptions``.

        Raises:
            NoAnswer: If no acceptable answer was found.
            ClarificationNeeded: If the question can mean several things.
            SyrchError: If the search failed; the class is that of the error.
        """
        return _tasks.result_of(await _tasks.wait_async(self._start(question, ask, options)))

    def ask(
        self, question: str, *, ask: Ask | None = None, **options: Unpack[SearchOptions]
    ) -> Result:
        """Answers a question as :meth:`query` does, and waits for it. Ctrl-C ends the search."""
        return _tasks.result_of(_tasks.wait(self._start(question, ask, options)))

    def batch(
        self, questions: Iterable[str], *, workers: int = 5, **options: Unpack[SearchOptions]
    ) -> list[Result | SyrchError]:
        """Answers many questions, ``workers`` of them at once, and waits for all. Ctrl-C ends them.

        Returns:
            For each question, in order, its result, or the exception that ended it.
        """
        if isinstance(questions, str):
            raise TypeError("questions is one text: give a list of questions, or use ask()")
        searched = write_options(search_options(options))
        places = read_value("workers", workers, "int")
        task = _tasks.start(self._open().batch, list(questions), searched, places)
        outcome = _tasks.wait(task)
        if outcome[0] != _tasks.ANSWERED:
            raise _tasks.error_of(outcome)
        results: list[Result | SyrchError] = []
        for one in outcome[3]:
            try:
                results.append(_tasks.result_of(one))
            except SyrchError as error:
                results.append(error)
        return results

    def close(self) -> None:
        """Lets go of the database and the plugins. Searches that run keep them until they end."""
        self._native = None

    def __enter__(self) -> Host:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"Host({self.name!r})" if self._native else "Host(closed)"

    def _open(self) -> _native.Host:
        if self._native is None:
            raise ValueError("the host is closed")
        return self._native

    def _start(self, question: str, ask: Ask | None, options: Any) -> _native.Task:
        searched = write_options(search_options(options))
        asked = None if ask is None else count(ask)
        return _tasks.start(self._open().query, question, searched, asked, self._watch)


def query(
    question: str,
    db: Database,
    *,
    dialect: str | None = None,
    model: Model | None = None,
    executor_type: str | None = None,
    verbose: bool = False,
    interactive: bool = False,
    evidence: str | None = None,
    **options: Unpack[HostOptions],
) -> Result:
    """Answers one question over one database, and waits for it. Ctrl-C ends the search.

    Args:
        question: The question.
        db: The database, as for :class:`Host`.
        dialect: As for :class:`Host`.
        model: As for :class:`Host`.
        executor_type: As for :class:`Host`.
        verbose: True to print the progress to standard error.
        interactive: True to ask on the terminal when the question is unclear.
        evidence: Text that explains terms of the question.
        **options: The options of ``HostOptions``.

    Raises:
        NoAnswer: If no acceptable answer was found.
        ClarificationNeeded: If the question can mean several things.
        SyrchError: If the search failed; the class is that of the error.
    """
    with Host(
        db,
        dialect=dialect,
        model=model,
        executor_type=executor_type,
        verbose=verbose,
        **options,
    ) as host:
        ask = ask_on_terminal if interactive else None
        if evidence is None:
            return host.ask(question, ask=ask)
        return host.ask(question, ask=ask, evidence=evidence)
