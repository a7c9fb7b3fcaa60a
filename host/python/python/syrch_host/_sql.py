"""Connections of PEP 249 and engines of SQLAlchemy."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import PurePath
from typing import Any

from . import _catalogs
from ._calls import count
from ._engines import Cursor, Session, make_session
from ._schema import write_schema
from ._text import reveal
from .errors import DatabaseError

_PLACES = 4
_PLANS = {
    "sqlite": "EXPLAIN QUERY PLAN ",
    "postgres": "EXPLAIN ",
    "mysql": "EXPLAIN ",
    "duckdb": "EXPLAIN ",
}
_PLAN_ROWS = 5_000
_PAGE = 256


class ConnectionAdapter:
    """The adapter of a connection of PEP 249, whose statements run one after another."""

    places = 1
    is_owned = False

    def __init__(self, connection: Any, dialect: str) -> None:
        self.connection = connection
        self.dialect = dialect
        self.name = "database"
        self.address = self._describe()
        self._lock: threading.Lock | None = threading.Lock()
        try:
            self.variant = self._probe()
        except Exception as error:
            reason = f"{type(error).__name__}: {error}"
            raise DatabaseError(
                reveal(f"the database `{self.address}` cannot be opened: {reason:.400}")
            ) from error
        self.warnings = self._session(0).warnings()

    def _describe(self) -> str:
        """Returns the address that messages name, without a password."""
        return type(self.connection).__module__

    def acquire(self) -> Any:
        """Returns the connection for one statement."""
        if self._lock is not None:
            self._lock.acquire()
        return self.connection

    def release(self, connection: Any) -> None:
        """Takes the connection back."""
        if self._lock is not None:
            self._lock.release()

    def restore(self, session: Session, connection: Any) -> None:
        """Makes the connection what it was before its session."""
        session.end(connection)

    def kill(self, identity: int) -> None:
        """Ends a statement from a second connection, which there is none of."""

    def schema(self) -> str:
        """Returns the schema as JSON."""
        with self.cursor(seconds=60) as cursor:
            return write_schema(_catalogs.read(cursor, self.dialect))

    def statement(self, sql: str, seconds: float) -> SqlStatement:
        """Makes a statement, which does not run yet."""
        return SqlStatement(self, sql, seconds)

    @contextmanager
    def cursor(self, seconds: float) -> Iterator[Any]:
        """Lends a cursor in a session that only reads."""
        connection = self.acquire()
        try:
            session = self._session(seconds)
            try:
                session.begin(connection)
                with _closing(session.open_cursor(connection)) as cursor:
                    yield cursor
            finally:
                self.restore(session, connection)
        finally:
            self.release(connection)

    def _session(self, seconds: float) -> Session:
        return make_session(self.dialect, self.variant, seconds, is_owned=self.is_owned)

    def _probe(self) -> str:
        """Returns the variant of the engine, as far as sessions differ by it."""
        if self.dialect != "mysql":
            return ""
        connection = self.acquire()
        try:
            with _closing(Cursor(connection.cursor())) as cursor:
                cursor.execute("SELECT VERSION()")
                return "mariadb" if "mariadb" in str(cursor.fetchone()[0]).lower() else ""
        finally:
            self.release(connection)


class EngineAdapter(ConnectionAdapter):
    """The adapter of an engine of SQLAlchemy, with connections of its pool."""

    is_owned = True

    def __init__(self, engine: Any, dialect: str) -> None:
        pool = type(engine.pool).__name__
        if pool == "SingletonThreadPool":
            raise TypeError(
                "each thread of this engine has a database of its own; make it by "
                "create_engine('sqlite://', poolclass=StaticPool, "
                "connect_args={'check_same_thread': False})"
            )
        self.engine = engine
        super().__init__(None, dialect)
        # Never a path: plugins see it.
        self.name = PurePath(engine.url.database or engine.url.host or "").stem or "database"
        if pool != "StaticPool":
            self.places = _places(engine.pool)
            self._lock = None

    def _describe(self) -> str:
        return str(self.engine.url.render_as_string(hide_password=True))

    def acquire(self) -> Any:
        if self._lock is not None:
            self._lock.acquire()
        try:
            return self.engine.raw_connection()
        except BaseException:
            if self._lock is not None:
                self._lock.release()
            raise

    def release(self, connection: Any) -> None:
        connection.close()
        if self._lock is not None:
            self._lock.release()

    def restore(self, session: Session, connection: Any) -> None:
        try:
            session.end(connection)
        except Exception:
            connection.invalidate()  # The pool makes another one.

    def kill(self, identity: int) -> None:
        # Beside the pool, whose connections may all be in use.
        dialect = self.engine.dialect
        places, names = dialect.create_connect_args(self.engine.url)
        connection = dialect.connect(*places, **names)
        try:
            with _closing(connection.cursor()) as cursor:
                cursor.execute(f"KILL QUERY {int(identity)}")
        finally:
            connection.close()

    def schema(self) -> str:
        return write_schema(_catalogs.inspect(self.engine))


class SqlStatement:
    """One statement on a connection."""

    def __init__(self, adapter: ConnectionAdapter, sql: str, seconds: float) -> None:
        self._adapter = adapter
        self._sql = sql
        self.source = f"database `{adapter.address}`"
        self._seconds = seconds
        self._connection: Any = None
        self._session: Session | None = None
        self._cursor: Any = None
        # A connection that was given back runs other statements, which nothing here may end.
        self._ending = threading.Lock()

    @count
    def plan(self) -> str | None:
        """Returns the plan, or ``None`` where plans are not known."""
        explain = _PLANS.get(self._adapter.dialect)
        if explain is None:
            return None
        with self._adapter.cursor(self._seconds) as cursor:
            cursor.execute(explain + self._sql)
            rows = cursor.fetchmany(_PLAN_ROWS)
        is_of_parts = self._adapter.dialect == "mysql"
        lines = ["\t".join(map(str, row)) if is_of_parts else str(row[-1]) for row in rows]
        return "\n".join(lines)

    @count
    def run(self, most: int) -> tuple[list[str], Iterator[Any]]:
        """Runs the statement, and returns the names of its columns with its rows."""
        self._connection = self._adapter.acquire()
        self._session = self._adapter._session(self._seconds)
        self._session.begin(self._connection, most)
        self._cursor = self._session.open_cursor(self._connection)
        fetch = self._session.execute(self._cursor, self._sql, _PAGE)
        first = fetch()
        names = [str(column[0]) for column in self._cursor.description or ()]
        return names, _pages(first, fetch)

    def cancel(self) -> None:
        """Ends the statement from another thread, where its driver can."""
        with self._ending:
            connection = self._connection
            session = self._session
            if connection is None or session is None:
                return
            driver = getattr(connection, "driver_connection", None) or connection
            for name in ("interrupt", "cancel"):
                cancel = getattr(driver, name, None)
                if callable(cancel):
                    cancel()
                    return
            if session.identity is not None:
                self._adapter.kill(session.identity)

    def close(self) -> None:
        """Ends the session, and gives the connection back."""
        with self._ending:
            connection = self._connection
            self._connection = None
        if connection is None:
            return
        try:
            if self._cursor is not None:
                self._cursor.close()
            if self._session is not None:
                self._adapter.restore(self._session, connection)
        finally:
            self._adapter.release(connection)


def _places(pool: Any) -> int:
    """Returns how many connections of a pool may be in use at once."""
    size = getattr(pool, "size", None)
    overflow = getattr(pool, "_max_overflow", -1)
    if not callable(size) or not isinstance(overflow, int) or overflow < 0:
        return _PLACES
    return max(1, min(_PLACES, int(size()) + overflow))


def _pages(page: Any, fetch: Any) -> Iterator[Any]:
    while page:
        yield from page
        page = fetch()


@contextmanager
def _closing(cursor: Any) -> Iterator[Any]:
    try:
        yield cursor
    finally:
        cursor.close()
