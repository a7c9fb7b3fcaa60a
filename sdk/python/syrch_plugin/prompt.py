"""Problems, catalogs and rows as prompt text: in the order in which they came, bounded, one fact a line."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any, Optional, Sequence

from .names import shown
from .text import clip, count, line, real, trim
from .types import Catalog, Column, ForeignKey, Hit, Page, Problem, Syntax, Table, Term, TermLabel

_COMMENT = 160
# The most characters of a note, and bytes of a solved example: a longer example is left out, since a part of a statement is none.
_NOTE = 4000
# The most hints, and the most bytes of all. One that does not fit is left out whole.
_MOST = 20
_HINTS = 12 * 1024
# The most bytes of all terms. One that does not fit is left out whole.
_TERMS = 8 * 1024
# The most characters of a term's definition, and of its values.
_DEFINITION = 400
_CELL = 60
_QUESTION = 8 * 1024
# What a catalog shows, the most first.
_COMMENTS, _TYPES, _NAMES = range(3)


def problem(problem: Problem) -> str:
    """The question with all that the user added to it."""
    out = f"Question: {clip(trim(problem.question), _QUESTION)}\n"
    if problem.evidence is not None:
        out += f"Explanation: {clip(trim(problem.evidence), _QUESTION)}\n"
    if problem.goal is not None:
        out += f"Goal: {line(problem.goal, 400)}\n"
    for question, answer in problem.answers:
        out += f"Clarified: {line(question, 400)} Answer: {line(answer, 400)}\n"
    return out + _terms(problem) + _hints(problem.hints)


_METRIC_REQUEST = (
    "\nThe lines that begin with `Metric` and `Dimension` are definitions. If the question asks for metrics and nothing else, write in "
    "place of the statement a request, whose statement is made by the definitions: a ```json fence with "
    "{\"metrics\": [\"revenue\"], \"by\": [dimensions, or day, week, month, quarter or year], "
    "\"where\": \"country = 'France' AND channel IN ('web', 'shop')\", \"period\": \"2024, 2024-Q1, 2024-03..2024-06, 2024.. or last_month\", "
    "\"order\": \"revenue:desc\", \"limit\": 3, "
    "\"within\": [those of by in each of whose groups limit and share_of_total count], "
    "\"compare\": \"previous_period, same_period_last_year, growth, growth_last_year, share_of_total or running_total\"}, "
    "without the keys that it does not need."
)


def metric_request(problem: Problem) -> str:
    """The form of a request for metrics, for the instructions of a prompt whose reply has the shape `sql`; empty unless the question mentions
    a defined metric."""
    return _METRIC_REQUEST if any(term.mentioned and term.kind == "metric" for term in problem.terms) else ""


def _terms(problem: Problem) -> str:
    """The terms that fit, as prompt text."""
    out, left = "", _TERMS
    for term in map(_term, problem.terms):
        if _bytes(term) <= left:
            left -= _bytes(term)
            out += term
    return out


def _term(term: Term) -> str:
    kind = {"metric": "Metric", "dimension": "Dimension"}.get(term.kind, "Term")
    out = f"{kind} {line(term.name, _COMMENT)}: {line(term.definition, _DEFINITION)}"
    if term.synonyms:
        out += f" (also: {line(', '.join(term.synonyms), _COMMENT)})"
    if term.labels:
        out += f" values: {line('; '.join(map(_label, term.labels)), _DEFINITION)}"
    return out + ("" if term.description is None else f" -- {line(term.description, _COMMENT)}") + "\n"


def _label(label: TermLabel) -> str:
    return f"{label.value} ({', '.join(label.words)})" if label.words else label.value


def facts(problem: Problem) -> str:
    """The facts about tables among the hints of a problem, as prompt text."""
    return _hints([hit for hit in problem.hints if is_fact(hit)])


def is_fact(hit: Hit) -> bool:
    """Whether a hit is a fact about a table: cells of no column."""
    return hit.corpus == "cells" and hit.column is None


def _hints(hits: Sequence[Hit]) -> str:
    """The hits that fit, as prompt text."""
    out, left = "", _HINTS
    for hint in map(_hint, hits[:_MOST]):
        if hint is not None and _bytes(hint) <= left:
            left -= _bytes(hint)
            out += hint
    return out


def _hint(hit: Hit) -> Optional[str]:
    """A hit as prompt text; none for a solved example that is too long."""
    if hit.corpus == "examples" and hit.payload is not None:
        example = Example.from_hit(hit)
        return None if example is None else f"Solved before: {example.question}\n```sql\n{example.sql}\n```\n"
    text = _payload(hit, "note") if hit.corpus == "notes" else None
    text = hit.snippet if text is None else text
    snippet = "" if text is None else f": {line(text, most(hit))}"
    return f"Hint: {line(hit.path, _COMMENT)}{snippet}\n"


def most(hit: Hit) -> int:
    """The most characters of a hit's text: what people wrote, and facts about a table, are whole."""
    return _NOTE if hit.corpus in ("notes", "examples") or is_fact(hit) else _COMMENT


def _payload(hit: Hit, key: str) -> Optional[str]:
    """A text of a hit's payload."""
    try:
        payload = json.loads(hit.payload or "")
    except ValueError:
        return None
    text = payload.get(key) if isinstance(payload, dict) else None
    return text if isinstance(text, str) else None


@dataclass
class Example:
    """A question with the statement that answers it, as the user gave it."""

    question: str
    sql: str

    @staticmethod
    def from_hit(hit: Hit) -> Optional[Example]:
        """The solved example of a hit; none for any other hit, and for an example of more than 4,000 bytes."""
        question, sql = _payload(hit, "question"), _payload(hit, "sql")
        if hit.corpus != "examples" or question is None or sql is None:
            return None
        question, sql = line(question, _NOTE), trim(sql)
        return Example(question, sql) if sql and _bytes(question) + _bytes(sql) <= _NOTE else None


def catalog(catalog: Catalog, limit: int) -> str:
    """All tables with columns, types, keys and comments in at most about `limit` bytes: comments go first, then types and keys, and at last
    whole tables, whose number is stated."""
    for detail in (_COMMENTS, _TYPES, _NAMES):
        text = "".join(_table(catalog, table, detail) for table in catalog.tables)
        if _bytes(text) <= limit:
            return text
    out = ""
    for place, table in enumerate(catalog.tables):
        text = _table(catalog, table, _NAMES)
        if _bytes(out) + _bytes(text) > limit:
            return out + f"({count(len(catalog.tables) - place, 'table')} more not shown)\n"
        out += text
    return out


def _bytes(text: str) -> int:
    return len(text.encode())


def table_name(syntax: Syntax, table: Table) -> str:
    """A table's name as it stands in FROM, on one line: for prompts, not for a statement that is run."""
    name = shown(syntax, table.name)
    return name if table.schema_name is None else f"{shown(syntax, table.schema_name)}.{name}"


def _target(catalog: Catalog, key: ForeignKey) -> str:
    """The table that a foreign key refers to, as it stands in FROM."""
    table = catalog.table(key.ref_table)
    return shown(catalog.syntax, key.ref_table) if table is None else table_name(catalog.syntax, table)


def _table(catalog: Catalog, table: Table, detail: int) -> str:
    syntax = catalog.syntax
    head = f"{'View' if table.is_view else 'Table'} {table_name(syntax, table)}"
    if detail == _NAMES:
        return f"{head} ({', '.join(shown(syntax, column.name) for column in table.columns)})\n"
    rows = "" if table.row_estimate is None else f" (about {count(table.row_estimate, 'row')})"
    out = f"{head}{rows}{_comment(table.comment, detail)}\n"
    for column in table.columns:
        out += _column(catalog, table, column, detail)
    for key in table.foreign_keys:
        if len(key.columns) > 1:
            out += f"  ({_list(syntax, key.columns)}) -> {_target(catalog, key)} ({_list(syntax, key.ref_columns)})\n"
    return out


def _list(syntax: Syntax, names: list[str]) -> str:
    return ", ".join(shown(syntax, name) for name in names)


def _column(catalog: Catalog, table: Table, column: Column, detail: int) -> str:
    syntax = catalog.syntax
    out = f"  {shown(syntax, column.name)}"
    if column.sql_type:
        out += f" {line(column.sql_type, 40)}"
    if column.name in table.primary_key:
        out += " primary key"
    key = next((key for key in table.foreign_keys if key.columns == [column.name]), None)
    if key is not None:
        out += f" -> {_target(catalog, key)}"
        if key.ref_columns:
            out += f".{shown(syntax, key.ref_columns[0])}"
    return out + _comment(column.comment, detail) + "\n"


def _comment(text: Optional[str], detail: int) -> str:
    return f" -- {line(text, _COMMENT)}" if text is not None and detail == _COMMENTS and trim(text) else ""


def cell(value: Any) -> str:
    """A cell on one line, short."""
    if value is None:
        return "NULL"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float):
        return real(value)
    if isinstance(value, bytes):
        return count(len(value), "byte")
    return line(value, _CELL)


def rows(page: Page) -> str:
    """Rows as a small table: names, then one line for each row."""
    lines = [" | ".join(line(name, _CELL) for name in page.columns)]
    lines += [" | ".join(cell(value) for value in row) for row in page.rows]
    return "".join(f"{text}\n" for text in lines)
