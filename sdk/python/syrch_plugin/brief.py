"""The prompt of a statement and of its repair: the catalog, the task, its plan, what its dependencies found, and what was tried before."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Callable, Optional, Sequence, Union

from . import prompt
from .ask import Ask
from .errors import PortError
from .names import shown
from .ports import Rows
from .replies import join_keys_of, plan_of
from .settings import SolverSettings
from .text import clip, count, line, trim
from .types import Catalog, Failed, Hit, Hits, Parent, Problem, Relation, Request, Syntax, Task

# Enough to repair by, and a bound on what a hostile reply can put into the next prompt.
_STATEMENT = 4000
_TASK = 2000
_COLUMNS = 50
# The most bytes of all solved examples before the question.
_EXAMPLES = 6000
# The fewest bytes to which the catalog is shortened.
_LEAST = 500


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
        plain = [hit for hit in problem.hints if not prompt.is_fact(hit)]
        self.facts = prompt.facts(problem)
        self.problem = prompt.problem(replace(problem, hints=plain))
        self.asked = prompt.problem(replace(problem, hints=[hit for hit in plain if hit.corpus != "examples"]))
        self.examples = [example for example in map(prompt.Example.from_hit, problem.hints) if example is not None]
        self.metric_request = prompt.metric_request(problem)
        out = ""
        if trim(task.text) != trim(problem.question):
            out += f"The question above is the setting. Your task is this part of it: {line(task.text, _TASK)}\n"
        if task.expected is not None:
            out += f"The result should be: {line(task.expected, 400)}\n"
        out += _plan(task)
        for parent in parents:
            out += _found(host, size.parent_rows, catalog.syntax, parent)
        self.rest = out + _join_hints(catalog.syntax, task, parents)

    def shorten(self) -> bool:
        """Makes the prompts shorter: leaves the solved examples out, then the facts about tables, and then halves what the catalog may
        fill; false if there is nothing more to leave out."""
        if len(self.problem) > len(self.asked):
            self.examples, self.problem = [], self.asked
            return True
        if self.facts:
            self.facts = ""
            return True
        before = len(self._tables())
        while self.catalog_bytes >= 2 * _LEAST and len(self._tables()) == before:
            self.catalog_bytes //= 2
        return len(self._tables()) < before

    def request(self, tried: Sequence[Tried] = (), sample: int = 0) -> Request:
        """The request for the next statement. If there are earlier statements, it is a repair with all of them and what was wrong.
        `sample`: the number of the draw that it is or repairs."""
        subjects = [one.sql for one in tried if one.sql]
        ask = self.ask("repair" if subjects else "generate", self.instructions(), feedback(tried))
        return ask.subjects(subjects).sample(sample).sql()

    def ask(self, purpose: str, instructions: str, more: str) -> Ask:
        """A request with these instructions, the tables and the task, for a reply in the form of `instructions`; `more` follows the task.
        Solved examples are turns before it, and the tables then stand before them."""
        if not self._shown_examples():
            return Ask(purpose).system(instructions).user(self.setting() + more)
        ask = self.add_turns(Ask(purpose).system(f"{instructions}\n\n{self._tables()}"), lambda sql: f"```sql\n{sql}\n```\nConfidence: 0.95")
        return ask.user(self.task() + more)

    def add_turns(self, ask: Ask, reply: Callable[[str], str]) -> Ask:
        """Adds the solved examples as turns, the one that is most like the question last: the user asks it, and the assistant gives the
        `reply` of its statement. The question itself is then that of `task`."""
        for example in reversed(self._shown_examples()):
            ask = ask.user(f"Question: {example.question}\n").assistant(reply(example.sql))
        return ask

    def task(self) -> str:
        """The task without tables and solved examples, for a prompt of a strategy's own."""
        return self.asked + self.rest

    def _shown_examples(self) -> list[prompt.Example]:
        """The solved examples that fit, the most like the question first."""
        shown, left = [], _EXAMPLES
        for example in self.examples:
            size = len(example.question.encode()) + len(example.sql.encode())
            if size <= left:
                left -= size
                shown.append(example)
        return shown

    def _tables(self) -> str:
        return f"Tables:\n{prompt.catalog(self.catalog, self.catalog_bytes)}{self.facts}"

    def setting(self) -> str:
        """The tables and the task with solved examples among its hints, for a prompt of a strategy's own."""
        return f"{self._tables()}\n{self.problem}{self.rest}"

    def instructions(self) -> str:
        """The rules for a statement and the form of the reply."""
        name = self.catalog.syntax.title
        return (
            f"You answer questions with one {name} SELECT statement (WITH is fine). Nothing may be changed.\n"
            "- Use only the tables, columns and task results that are listed, and quote names as they are written there.\n"
            "- Select exactly what is asked for: no further columns, and no rows that nobody asked about.\n"
            "- Give computed columns short names.\n"
            f"Rules of {name}:\n{self.catalog.syntax.rules}"
            "Write the statement in a ```sql fence, then a line `Confidence: ` with a number from 0 to 1: how likely it is right."
            f"{self.metric_request}"
        )


def _plan(task: Task) -> str:
    lines = "".join(f"{number}. {line(step, 600)}\n" for number, step in enumerate(plan_of(task), 1))
    return f"A plan of the statement:\n{lines}" if lines else ""


def _found(host: Rows, parent_rows: int, syntax: Syntax, parent: Parent) -> str:
    reported = line(parent.task.text, 300)
    if isinstance(parent.output, Relation):
        return _relation(host, parent_rows, syntax, parent.output, reported)
    if isinstance(parent.output, Hits):
        return f'Found for "{reported}": {", ".join(_hit(hit) for hit in parent.output.hits[:20])}\n'
    if isinstance(parent.output, Failed):
        return f'There is no result for "{reported}": {line(parent.output.failure.message, 300)}\n'
    return ""


def _hit(hit: Hit) -> str:
    path = line(hit.path, 120)
    snippet = trim(hit.snippet or "")
    return f"{path} ({line(snippet, prompt.most(hit))})" if snippet else path


def _relation(host: Rows, parent_rows: int, syntax: Syntax, relation: Relation, reported: str) -> str:
    profile = relation.results.profile()
    columns = [shown(syntax, column.column.name) for column in profile.columns[:_COLUMNS]]
    if len(profile.columns) > _COLUMNS:
        columns.append(f"and {len(profile.columns) - _COLUMNS} more")
    name = shown(syntax, relation.name)
    out = f'The result of "{reported}" can stand in FROM as {name} ({", ".join(columns)}), {count(profile.rows, "row")}.\n'
    if parent_rows > 0 and profile.rows > 0:
        try:
            out += f"Its first rows:\n{prompt.rows(host.read(relation.results, 0, parent_rows))}"
        except PortError:
            pass  # Without the grant there is only the shape.
    return out


def _join_hints(syntax: Syntax, task: Task, parents: Sequence[Parent]) -> str:
    def name(id: str) -> Optional[str]:
        parent = next((parent for parent in parents if parent.task.id == id), None)
        return shown(syntax, parent.output.name) if parent is not None and isinstance(parent.output, Relation) else None

    out = ""
    for key in join_keys_of(task):
        left, right = name(key.left), name(key.right)
        left_col, right_col = shown(syntax, key.left_col), shown(syntax, key.right_col)
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
