"""Objects of the program that run statements themselves."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Mapping
from typing import Any

from ._calls import count
from ._schema import write_schema

_WRITES = (
    "nothing but the guard keeps statements from writing: let the object connect as a user who may "
    "read and nothing else"
)
_STAYS = (
    "a statement cannot be ended from outside: one that runs too long keeps its thread until "
    "execute(sql) returns; give the object a method cancel()"
)


class ObjectAdapter:
    """The adapter of an object with ``execute(sql)``, ``schema()`` and a dialect."""

    places = 1

    def __init__(self, database: Any, dialect: str) -> None:
        self.database = database
        self.dialect = dialect
        self.name = str(getattr(database, "name", None) or type(database).__name__)
        self.address = self.name
        self.lock = threading.Lock()
        self.warnings: list[str] = []
        if not getattr(database, "read_only", False):
            self.warnings.append(_WRITES)
        if not callable(getattr(database, "cancel", None)):
            self.warnings.append(_STAYS)

    def schema(self) -> str:
        """Returns the schema as JSON."""
        with self.lock:
            return write_schema(self.database.schema())

    def statement(self, sql: str, seconds: float) -> _ObjectStatement:
        """Makes a statement, which does not run yet."""
        return _ObjectStatement(self, sql)


class _ObjectStatement:
    def __init__(self, adapter: ObjectAdapter, sql: str) -> None:
        self._adapter = adapter
        self._sql = sql
        self.source = f"database `{adapter.address}`"
        self._is_running = False

    @count
    def plan(self) -> str | None:
        explain = getattr(self._adapter.database, "explain", None)
        if not callable(explain):
            return None
        with self._adapter.lock:
            return str(explain(self._sql))

    @count
    def run(self, most: int) -> Any:
        self._adapter.lock.acquire()
        self._is_running = True
        return name_columns(self._adapter.database.execute(self._sql))

    def cancel(self) -> None:
        cancel = getattr(self._adapter.database, "cancel", None)
        if self._is_running and callable(cancel):
            cancel()

    def close(self) -> None:
        if self._is_running:
            self._is_running = False
            self._adapter.lock.release()


def name_columns(answer: Any) -> Any:
    """Returns a table of Arrow as it is, and anything else as column names with rows.

    Raises:
        TypeError: If it is neither.
    """
    if hasattr(answer, "__arrow_c_stream__"):
        return answer
    if isinstance(answer, tuple) and len(answer) == 2 and not isinstance(answer[0], Mapping):
        names, rows = answer
        is_named = not isinstance(names, str) and all(isinstance(name, str) for name in names)
        # A tuple of two rows is no names with rows: the cells of a row are no rows.
        if is_named and not _is_row(rows):
            return list(names), rows
    description = getattr(answer, "description", None)
    if description is not None:
        return [str(column[0]) for column in description], iter(answer)
    if isinstance(answer, Iterable) and not isinstance(answer, (str, bytes, Mapping)):
        return _name_rows(list(answer))
    kind = type(answer).__name__
    raise TypeError(f"execute(sql) returned a {kind}: return rows, names with rows, or Arrow")


def _is_row(rows: Any) -> bool:
    if not isinstance(rows, (tuple, list)) or not rows:
        return isinstance(rows, str)
    first = next((cell for cell in rows if cell is not None), None)
    return isinstance(first, (str, bytes)) or not isinstance(first, Iterable)


def _name_rows(rows: list[Any]) -> tuple[list[str], list[Any]]:
    if not rows:
        return [], []
    if isinstance(rows[0], Mapping):
        names = [str(name) for name in rows[0]]
        return names, [[row.get(name) for name in rows[0]] for row in rows]
    fields = getattr(rows[0], "_fields", None)
    if fields is None:
        fields = [f"column_{number}" for number in range(1, len(rows[0]) + 1)]
    return [str(name) for name in fields], rows
