"""The prompt of a statement and of its repair: the catalog, the task, its plan, what its dependencies found, and what was tried before."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Optional, Sequence, Union

from . import dialect as dialects
from . import prompt
from .ask import Ask
from .errors import PortError
from .names import shown
from .ports import Rows
from .replies import join_keys_of, plan_of
from .settings import SolverSettings
from .text import clip, count, line, trim
from .types import Catalog, Failed, Hit, Hits, Parent, Problem, Relation, Request, Task

# Enough to repair by, and a bound on what a hostile reply can put into the next prompt.
_STATEMENT = 4000
_TASK = 2000
_COLUMNS = 50


@dataclass
class Tried:
    """A statement that failed (empty if the reply had none), and what was wrong with it, in words that a model can use."""

    sql: str
    wrong: str


@dataclass
class PromptSize:
    """The limits of a prompt: the bytes of the catalog, and the rows of each finished dependency, as far as they are granted."""

    catalog_bytes: int = 48_000
    parent_rows: int = 3


class Brief:
    """The part that all prompts of one task share."""

    def __init__(
        self,
        host: Rows,
        size: Union[PromptSize, SolverSettings],
        problem: Problem,
        catalog: Catalog,
        task: Task,
        parents: Sequence[Parent],
    ) -> None:
        self.catalog = catalog
        self.catalog_bytes = size.catalog_bytes
        out = prompt.problem(problem)
        if trim(task.text) != trim(problem.question):
            out += f"The question above is the setting. Your task is this part of it: {line(task.text, _TASK)}\n"
        if task.expected is not None:
            out += f"The result should be: {line(task.expected, 400)}\n"
        out += _plan(task)
        for parent in parents:
            out += _found(host, size.parent_rows, catalog.dialect, parent)
        self.task = out + _join_hints(catalog.dialect, task, parents)

    def shorten(self) -> bool:
        """Halves the catalog of the prompts; false if it is too short for that."""
        self.catalog_bytes //= 2
        return self.catalog_bytes >= 500

    def request(self, tried: Sequence[Tried] = (), sample: int = 0) -> Request:
        """The request for the next statement. If there are earlier statements, it is a repair with all of them and what was wrong.
        `sample`: the number of the draw that it is or repairs."""
        subjects = [one.sql for one in tried if one.sql]
        ask = Ask("repair" if subjects else "generate").system(self.instructions()).user(self.setting() + feedback(tried))
        return ask.subjects(subjects).sample(sample).sql()

    def setting(self) -> str:
        """The tables and the task, for a prompt of a strategy's own."""
        return f"Tables:\n{prompt.catalog(self.catalog, self.catalog_bytes)}\n{self.task}"

    def instructions(self) -> str:
        """The rules for a statement and the form of the reply."""
        name = dialects.name(self.catalog.dialect)
        return (
            f"You answer questions with one {name} SELECT statement (WITH is fine). Nothing may be changed.\n"
            "- Use only the tables, columns and task results that are listed, and quote names as they are written there.\n"
            "- Select exactly what is asked for: no further columns, and no rows that nobody asked about.\n"
            "- Give computed columns short names.\n"
            f"Rules of {name}:\n{dialects.rules(self.catalog.dialect)}"
            "Write the statement in a ```sql fence, then a line `Confidence: ` with a number from 0 to 1: how likely it is right."
        )


def _plan(task: Task) -> str:
    lines = "".join(f"{number}. {line(step, 600)}\n" for number, step in enumerate(plan_of(task), 1))
    return f"A plan of the statement:\n{lines}" if lines else ""


def _found(host: Rows, parent_rows: int, dialect: str, parent: Parent) -> str:
    reported = line(parent.task.text, 300)
    if isinstance(parent.output, Relation):
        return _relation(host, parent_rows, dialect, parent.output, reported)
    if isinstance(parent.output, Hits):
        return f'Found for "{reported}": {", ".join(_hit(hit) for hit in parent.output.hits[:20])}\n'
    if isinstance(parent.output, Failed):
        return f'There is no result for "{reported}": {line(parent.output.failure.message, 300)}\n'
    return ""


def _hit(hit: Hit) -> str:
    path = line(hit.path, 120)
    snippet = trim(hit.snippet or "")
    return f"{path} ({line(snippet, 160)})" if snippet else path


def _relation(host: Rows, parent_rows: int, dialect: str, relation: Relation, reported: str) -> str:
    profile = relation.results.profile()
    columns = [shown(dialect, column.column.name) for column in profile.columns[:_COLUMNS]]
    if len(profile.columns) > _COLUMNS:
        columns.append(f"and {len(profile.columns) - _COLUMNS} more")
    name = shown(dialect, relation.name)
    out = f'The result of "{reported}" can stand in FROM as {name} ({", ".join(columns)}), {count(profile.rows, "row")}.\n'
    if parent_rows > 0 and profile.rows > 0:
        try:
            out += f"Its first rows:\n{prompt.rows(host.read(relation.results, 0, parent_rows))}"
        except PortError:
            pass  # Without the grant there is only the shape.
    return out


def _join_hints(dialect: str, task: Task, parents: Sequence[Parent]) -> str:
    def name(id: str) -> Optional[str]:
        parent = next((parent for parent in parents if parent.task.id == id), None)
        return shown(dialect, parent.output.name) if parent is not None and isinstance(parent.output, Relation) else None

    out = ""
    for key in join_keys_of(task):
        left, right = name(key.left), name(key.right)
        left_col, right_col = shown(dialect, key.left_col), shown(dialect, key.right_col)
        if left is not None and right is not None:
            out += f"Join hint: {left}.{left_col} = {right}.{right_col} ({key.how})\n"
        elif left is not None:
            out += f"Join hint: {left}.{left_col} matches {right_col}\n"
        elif right is not None:
            out += f"Join hint: {right}.{right_col} matches {left_col}\n"
    return out


def feedback(tried: Sequence[Tried]) -> str:
    """The earlier attempts as prompt text; empty without any."""
    if not tried:
        return ""
    out = "\nEarlier attempts, none of which did. Do not repeat them.\n"
    for number, one in enumerate(tried, 1):
        out += f"Attempt {number}:\n{clip(one.sql, _STATEMENT) or '(no statement)'}\nWhat was wrong: {one.wrong}\n"
    return out
