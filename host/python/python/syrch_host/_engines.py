"""Sessions that only read, as far as an engine has such a thing."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

_WRITES = (
    "nothing but the guard keeps statements from writing: connect as a user who may read and "
    "nothing else"
)
_STAYS = (
    "a statement may not be ended from outside: one that runs too long keeps its thread until the "
    "driver returns"
)
_READS_ALL = "the driver may read a whole result before the first rows come"
_SAVEPOINT = "syrch_host"

Fetch = Callable[[], Any]


class Cursor:
    """A cursor of PEP 249 whose rows are tuples, whatever rows its connection makes."""

    def __init__(self, inner: Any, *, is_lent: bool = False) -> None:
        self._inner = inner
        self._is_lent = is_lent

    @property
    def description(self) -> Any:
        """The columns of the last statement; ``None`` if it has none."""
        return self._inner.description

    def execute(self, sql: str) -> None:
        """Runs a statement."""
        self._inner.execute(sql)

    def fetchone(self) -> Any:
        """Returns the next row; ``None`` if there is none."""
        row = self._inner.fetchone()
        return None if row is None else self._read(row)

    def fetchmany(self, size: int) -> list[Any]:
        """Returns so many of the next rows at most."""
        return [self._read(row) for row in self._inner.fetchmany(size)]

    def fetchall(self) -> list[Any]:
        """Returns all further rows."""
        return [self._read(row) for row in self._inner.fetchall()]

    def close(self) -> None:
        """Closes the cursor, unless it is the connection itself."""
        if not self._is_lent:
            self._inner.close()

    def _read(self, row: Any) -> Any:
        if isinstance(row, tuple):
            return row
        if isinstance(row, Mapping):
            names = [column[0] for column in self.description]
            if len(row) == len(names):
                return tuple(row[name] for name in names)
            raise TypeError(
                "the rows of the connection are dictionaries, which hold one of two columns of a "
                "name: give a connection whose rows are tuples"
            )
        if isinstance(row, (str, bytes)) or not isinstance(row, Iterable):
            kind = type(row).__name__
            raise TypeError(
                f"the rows of the connection are of the type {kind}: give one whose rows are tuples"
            )
        return tuple(row)


class Session:
    """A session of an engine of which nothing is known."""

    identity: int | None = None

    def __init__(self, variant: str, seconds: float, *, is_owned: bool) -> None:
        self.variant = variant
        self.seconds = max(seconds, 0.001)
        self.is_owned = is_owned

    def warnings(self) -> list[str]:
        """Returns what the engine cannot promise."""
        return [_WRITES, _STAYS, _READS_ALL]

    def begin(self, connection: Any, most: int | None = None) -> None:
        """Makes the connection read only, for statements of so many rows at most."""

    def open_cursor(self, connection: Any) -> Cursor:
        """Makes a cursor in this session."""
        return Cursor(connection.cursor())

    def execute(self, cursor: Cursor, sql: str, page: int) -> Fetch:
        """Runs a statement, and returns what fetches a page of its rows."""
        cursor.execute(sql)
        return lambda: cursor.fetchmany(page)

    def end(self, connection: Any) -> None:
        """Makes the connection what it was."""
        if self.is_owned:
            connection.rollback()


class _Sqlite(Session):
    """``PRAGMA query_only`` refuses writes; ``interrupt()`` ends a statement."""

    _was = 0

    def warnings(self) -> list[str]:
        return []

    def begin(self, connection: Any, most: int | None = None) -> None:
        self._was = int(_value(connection, "PRAGMA query_only"))
        _run(connection, "PRAGMA query_only = 1")

    def end(self, connection: Any) -> None:
        _run(connection, f"PRAGMA query_only = {self._was}")
        super().end(connection)


class _Duckdb(Session):
    """``interrupt()`` ends a statement."""

    def warnings(self) -> list[str]:
        return [_WRITES]

    def open_cursor(self, connection: Any) -> Cursor:
        """Returns the connection itself as a cursor.

        Its cursors are connections of their own, which do not see what it has not committed, and
        which its ``interrupt()`` does not end.
        """
        if type(connection).__module__.split(".")[0] in ("duckdb", "_duckdb"):
            return Cursor(connection, is_lent=True)
        return super().open_cursor(connection)

    def end(self, connection: Any) -> None:
        """A connection outside of a transaction cannot be rolled back."""


class _Postgres(Session):
    """A read-only part of a transaction with a time limit of the server; a cursor of the server.

    The part is a savepoint, so that what the program itself has not committed yet stays.
    """

    _begun = ""
    _was_idle = False

    def warnings(self) -> list[str]:
        return []

    def begin(self, connection: Any, most: int | None = None) -> None:
        self._was_idle = _is_idle(connection)
        try:
            _run(connection, f"SAVEPOINT {_SAVEPOINT}")
            self._begun = _SAVEPOINT
        except Exception:
            # There is no transaction where each statement is one.
            _run(connection, "BEGIN")
            self._begun = "BEGIN"
        _run(connection, "SET TRANSACTION READ ONLY")
        _run(connection, f"SET LOCAL statement_timeout = {max(1, int(self.seconds * 1000))}")

    def execute(self, cursor: Cursor, sql: str, page: int) -> Fetch:
        cursor.execute(f"DECLARE syrch_rows NO SCROLL CURSOR FOR {sql}")

        def fetch() -> Any:
            cursor.execute(f"FETCH FORWARD {page} FROM syrch_rows")
            return cursor.fetchall()

        return fetch

    def end(self, connection: Any) -> None:
        if self._begun == "BEGIN":
            _run(connection, "ROLLBACK")
        elif self._begun and self._was_idle:
            # The driver began a transaction for the savepoint.
            connection.rollback()
        elif self._begun:
            _run(connection, f"ROLLBACK TO SAVEPOINT {_SAVEPOINT}")
            _run(connection, f"RELEASE SAVEPOINT {_SAVEPOINT}")
        self._begun = ""


class _Mysql(Session):
    """A read-only transaction, with limits of the server on rows and time."""

    _restored: tuple[str, ...] = ()
    _is_begun = False

    def warnings(self) -> list[str]:
        if self.is_owned:
            return []
        return [
            "statements are in a read-only transaction only while the connection has none of its "
            "own: connect as a user who may read and nothing else"
        ]

    def begin(self, connection: Any, most: int | None = None) -> None:
        if self.variant == "mariadb":
            limit, value = "max_statement_time", f"{self.seconds:.3f}"
        else:
            limit, value = "max_execution_time", str(max(1, int(self.seconds * 1000)))
        try:
            # It ends no transaction of the program, unlike START TRANSACTION.
            _run(connection, "SET TRANSACTION READ ONLY")
            self._is_begun = True
        except Exception:
            self._is_begun = False
        names = ["sql_select_limit", limit]
        variables = ", ".join(f"@@SESSION.{name}" for name in names)
        was = _row(connection, f"SELECT CONNECTION_ID(), {variables}")
        self.identity = int(was[0])
        self._restored = tuple(f"{name} = {old}" for name, old in zip(names, was[1:]))
        _run(connection, f"SET SESSION {limit} = {value}")
        if most is not None:
            _run(connection, f"SET SESSION sql_select_limit = {int(most)}")

    def end(self, connection: Any) -> None:
        if self._is_begun:
            connection.rollback()
        for assignment in self._restored:
            _run(connection, f"SET SESSION {assignment}")


_SESSIONS: dict[str, type[Session]] = {
    "sqlite": _Sqlite,
    "duckdb": _Duckdb,
    "postgres": _Postgres,
    "mysql": _Mysql,
}


def make_session(dialect: str, variant: str, seconds: float, *, is_owned: bool) -> Session:
    """Makes the session of a dialect, for statements that may take so long."""
    return _SESSIONS.get(dialect, Session)(variant, seconds, is_owned=is_owned)


def _is_idle(connection: Any) -> bool:
    """Says if a connection to PostgreSQL is known to be outside of a transaction."""
    driver = getattr(connection, "driver_connection", None) or connection
    status = getattr(getattr(driver, "info", None), "transaction_status", None)
    if status is None and callable(getattr(driver, "get_transaction_status", None)):
        status = driver.get_transaction_status()
    if status is not None:
        return int(status) == 0
    # pg8000 has the letter of the protocol.
    return getattr(driver, "_transaction_status", None) in (b"I", "I")


def _run(connection: Any, sql: str) -> None:
    cursor = connection.cursor()
    try:
        cursor.execute(sql)
    finally:
        cursor.close()


def _row(connection: Any, sql: str) -> Any:
    cursor = Cursor(connection.cursor())
    try:
        cursor.execute(sql)
        return cursor.fetchone()
    finally:
        cursor.close()


def _value(connection: Any, sql: str) -> Any:
    return _row(connection, sql)[0]
