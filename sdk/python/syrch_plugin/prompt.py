"""Problems, catalogs and rows as prompt text: in the order in which they came, bounded, one fact a line."""

from __future__ import annotations

from typing import Any, Optional

from .names import shown
from .text import clip, count, line, real, trim
from .types import Catalog, Column, ForeignKey, Page, Problem, Table

_COMMENT = 160
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
    for hit in problem.hints[:20]:
        snippet = "" if hit.snippet is None else f": {line(hit.snippet, _COMMENT)}"
        out += f"Hint: {line(hit.path, _COMMENT)}{snippet}\n"
    return out


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


def table_name(dialect: str, table: Table) -> str:
    """A table's name as it stands in FROM, on one line: for prompts, not for a statement that is run."""
    name = shown(dialect, table.name)
    return name if table.schema_name is None else f"{shown(dialect, table.schema_name)}.{name}"


def _target(catalog: Catalog, key: ForeignKey) -> str:
    """The table that a foreign key refers to, as it stands in FROM."""
    table = catalog.table(key.ref_table)
    return shown(catalog.dialect, key.ref_table) if table is None else table_name(catalog.dialect, table)


def _table(catalog: Catalog, table: Table, detail: int) -> str:
    dialect = catalog.dialect
    head = f"{'View' if table.is_view else 'Table'} {table_name(dialect, table)}"
    if detail == _NAMES:
        return f"{head} ({', '.join(shown(dialect, column.name) for column in table.columns)})\n"
    rows = "" if table.row_estimate is None else f" (about {count(table.row_estimate, 'row')})"
    out = f"{head}{rows}{_comment(table.comment, detail)}\n"
    for column in table.columns:
        out += _column(catalog, table, column, detail)
    for key in table.foreign_keys:
        if len(key.columns) > 1:
            out += f"  ({_list(dialect, key.columns)}) -> {_target(catalog, key)} ({_list(dialect, key.ref_columns)})\n"
    return out


def _list(dialect: str, names: list[str]) -> str:
    return ", ".join(shown(dialect, name) for name in names)


def _column(catalog: Catalog, table: Table, column: Column, detail: int) -> str:
    dialect = catalog.dialect
    out = f"  {shown(dialect, column.name)}"
    if column.sql_type:
        out += f" {line(column.sql_type, 40)}"
    if column.name in table.primary_key:
        out += " primary key"
    key = next((key for key in table.foreign_keys if key.columns == [column.name]), None)
    if key is not None:
        out += f" -> {_target(catalog, key)}"
        if key.ref_columns:
            out += f".{shown(dialect, key.ref_columns[0])}"
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
