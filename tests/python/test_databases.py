"""Databases that the program gives as objects: SQLite's connections and engines, and its own."""

from __future__ import annotations

import sqlite3
import time
import warnings
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb
import pyarrow
import pytest
import sqlalchemy
from conftest import PEOPLE, Scripted
from sqlalchemy.pool import StaticPool
from syrch_host import Host, SyrchWarning, errors, query
from syrch_host._objects import name_columns

COUNT = "How many people are there?"


@pytest.fixture
def engine(small: Path) -> Iterator[sqlalchemy.Engine]:
    engine = sqlalchemy.create_engine(f"sqlite:///{small}")
    yield engine
    engine.dispose()


def ask(database: object, sql: str, **options: Any) -> Any:
    model = Scripted(sql)
    return query("Which?", db=database, model=model, strategy="single", **options)


def test_an_engine_of_sqlalchemy_is_a_database(engine: sqlalchemy.Engine) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        host = Host(database=engine)
    assert host.dialect == "sqlite" and host.name == "small" and host.warnings == ()
    assert list(host.ask(COUNT).data) == [(3,)]
    found = ask(engine, "SELECT name, height, photo FROM people ORDER BY id")
    hostile = ("<script>alert(1)</script>", None, None)
    assert list(found.data)[:2] == [("Ann", 1.7, b"\x00\xff"), hostile]
    with engine.begin() as connection:
        connection.exec_driver_sql("INSERT INTO people VALUES (4, 'Zoë', NULL, NULL)")
    assert list(host.ask(COUNT).data) == [(4,)]


def test_an_address_of_sqlalchemy_is_one_of_jdbc(small: Path) -> None:
    found = query(COUNT, db=f"sqlite:///{small}", executor_type="jdbc")
    assert list(found.data) == [(3,)]


def test_an_engine_in_memory_needs_one_connection() -> None:
    with pytest.raises(TypeError, match="StaticPool"):
        Host(sqlalchemy.create_engine("sqlite://"))
    engine = sqlalchemy.create_engine(
        "sqlite://", poolclass=StaticPool, connect_args={"check_same_thread": False}
    )
    with engine.begin() as connection:
        connection.exec_driver_sql("CREATE TABLE people (id INTEGER PRIMARY KEY, name TEXT)")
    host = Host(engine)
    found = host.batch([COUNT] * 8, workers=8)
    assert [list(one.data) for one in found] == [[(0,)]] * 8


def test_a_connection_of_pep_249_is_a_database() -> None:
    connection = sqlite3.connect(":memory:", check_same_thread=False)
    connection.executescript(PEOPLE)
    connection.execute("INSERT INTO people VALUES (4, 'Zoë', NULL, NULL)")
    assert connection.in_transaction
    with Host(connection) as host:
        assert host.dialect == "sqlite" and host.warnings == ()
        assert list(host.ask(COUNT).data) == [(4,)]
    # What the program has not committed is still there, and it may go on writing.
    assert connection.in_transaction
    connection.execute("INSERT INTO people VALUES (5, 'Max', NULL, NULL)")
    connection.rollback()
    assert connection.execute("SELECT COUNT(*) FROM people").fetchone() == (3,)


def test_a_connection_of_one_thread_says_so() -> None:
    with pytest.raises(errors.DatabaseError, match="thread"):
        Host(sqlite3.connect(":memory:"))


@pytest.mark.parametrize(
    "sql",
    [
        "DELETE FROM people",
        "INSERT INTO people VALUES (9, 'x', NULL, NULL) RETURNING id",
        "SELECT load_extension('x') FROM people",
        "PRAGMA user_version",
        "ATTACH 'other.sqlite' AS other",
        "SELECT sql FROM sqlite_master",
    ],
)
def test_the_guard_stands_in_front(engine: sqlalchemy.Engine, sql: str) -> None:
    sent: list[str] = []
    sqlalchemy.event.listen(
        engine, "connect", lambda connection, _: connection.set_trace_callback(sent.append)
    )
    with pytest.raises((errors.Denied, errors.NoAnswer)):
        ask(engine, sql)
    assert sent and sql not in sent
    assert list(query(COUNT, db=engine).data) == [(3,)]


def test_tables_that_are_not_granted_are_not_there(small: Path) -> None:
    connection = sqlite3.connect(small, check_same_thread=False)
    connection.execute("CREATE TABLE secrets (id INTEGER, secret TEXT)")
    with pytest.raises((errors.Denied, errors.NoAnswer)):
        ask(connection, "SELECT secret FROM secrets", tables=["people"])
    assert len(ask(connection, "SELECT name FROM people", tables=["people"]).data) == 3
    with pytest.raises(errors.DatabaseError, match="matches"):
        Host(connection, tables=["nothing"])


def test_the_engine_itself_refuses_to_write(engine: sqlalchemy.Engine) -> None:
    from syrch_host._sql import EngineAdapter

    adapter = EngineAdapter(engine, "sqlite")
    statement = adapter.statement("DELETE FROM people", 10)
    try:
        with pytest.raises(sqlite3.OperationalError, match="readonly"):
            statement.run(10)
    finally:
        statement.close()
    with engine.begin() as connection:
        assert connection.exec_driver_sql("DELETE FROM people WHERE id = 3").rowcount == 1


def test_a_deadline_interrupts_a_statement(engine: sqlalchemy.Engine) -> None:
    many = ", ".join(f"people p{number}" for number in range(18))
    begun = time.monotonic()
    with pytest.raises((errors.NoAnswer, errors.DatabaseError, errors.BudgetExceeded)):
        ask(engine, f"SELECT COUNT(*) AS n, MAX(p1.name) FROM {many}", sql_timeout=0.5)
    assert time.monotonic() - begun < 15
    assert list(query(COUNT, db=engine).data) == [(3,)]


def test_a_result_is_read_within_its_limits(engine: sqlalchemy.Engine) -> None:
    many = ", ".join(f"people p{number}" for number in range(9))
    found = ask(engine, f"SELECT p1.name FROM {many}", max_rows=100)
    assert len(found.data) == 100 and found.data.truncated


class Planets:
    """A database of the program."""

    dialect = "ansi"
    name = "planets"

    def __init__(self, answer: object) -> None:
        self.answer = answer
        self.statements: list[str] = []

    def schema(self) -> object:
        return {"planets": {"name": "TEXT", "moons": "INTEGER"}}

    def execute(self, sql: str) -> object:
        self.statements.append(sql)
        return self.answer


@pytest.mark.parametrize(
    "answer",
    [
        pyarrow.table({"name": ["Earth", "Mars"], "moons": [1, 2]}),
        (["name", "moons"], [("Earth", 1), ("Mars", 2)]),
        [{"name": "Earth", "moons": 1}, {"name": "Mars", "moons": 2}],
    ],
)
def test_an_object_with_execute_and_schema_is_a_database(answer: object) -> None:
    planets = Planets(answer)
    with pytest.warns(SyrchWarning, match="guard"):
        found = ask(planets, "SELECT name, moons FROM planets")
    assert found.data.columns == ["name", "moons"]
    assert list(found.data) == [("Earth", 1), ("Mars", 2)]
    assert found.tables == ("planets",) and found.document["dialect"] == "ansi"
    assert planets.statements


@pytest.mark.filterwarnings("ignore::syrch_host.SyrchWarning")
def test_rows_without_names_get_some() -> None:
    found = ask(Planets([("Earth", 1)]), "SELECT name, moons FROM planets")
    assert found.data.columns == ["column_1", "column_2"]


@pytest.mark.filterwarnings("ignore::syrch_host.SyrchWarning")
def test_an_object_never_sees_what_the_guard_refuses() -> None:
    planets = Planets([("Earth", 1)])
    for sql in ("DROP TABLE planets", "SELECT * FROM stars", "SELECT name FROM planets FOR UPDATE"):
        with pytest.raises((errors.Denied, errors.NoAnswer)):
            ask(planets, sql)
    # Of several statements in one reply only the first is used.
    ask(planets, "SELECT name FROM planets; DROP TABLE planets")
    hidden = ("DROP", "stars", ";", "UPDATE")
    assert not any(part in one for one in planets.statements for part in hidden)


@pytest.mark.filterwarnings("ignore::syrch_host.SyrchWarning")
@pytest.mark.parametrize(
    "answer",
    [7, "text", [("a",), ("b", "c")], (["a", "b"], [("x",)]), (["a"], 3)],
)
def test_what_is_no_result_is_an_error(answer: object) -> None:
    with pytest.raises((errors.NoAnswer, errors.DatabaseError)):
        ask(Planets(answer), "SELECT name FROM planets")


@pytest.mark.filterwarnings("ignore::syrch_host.SyrchWarning")
def test_a_message_quotes_no_cell(small: Path) -> None:
    class Failing(Planets):
        def execute(self, sql: str) -> object:
            raise ValueError("cannot convert 'the secret of Ann' to a number")

    with pytest.raises((errors.NoAnswer, errors.DatabaseError)) as caught:
        ask(Failing(None), "SELECT name FROM planets")
    assert "secret" not in str(caught.value) + str(caught.value.document)
    # The program itself sees all of it.
    assert isinstance(caught.value.__cause__, ValueError)
    assert "the secret of Ann" in str(caught.value.__cause__)


@pytest.mark.filterwarnings("ignore::syrch_host.SyrchWarning")
@pytest.mark.parametrize("kind", [TimeoutError, ConnectionError, OSError, KeyboardInterrupt])
def test_a_database_that_fails_is_named(kind: type[BaseException]) -> None:
    class Failing(Planets):
        def execute(self, sql: str) -> object:
            raise kind("the telescope is closed")

    with pytest.raises(errors.SyrchError) as caught:
        ask(Failing(None), "SELECT name FROM planets")
    error = caught.value
    assert f"database `planets` raised {kind.__name__}" in str(error), str(error)
    assert isinstance(error.__cause__, kind)


@pytest.mark.filterwarnings("ignore::syrch_host.SyrchWarning")
def test_a_schema_that_fails_is_the_cause() -> None:
    class Failing(Planets):
        def schema(self) -> object:
            raise LookupError("no map")

    with pytest.raises(errors.DatabaseError, match="`planets`.*LookupError: no map") as caught:
        Host(Failing(None))
    assert isinstance(caught.value.__cause__, LookupError)


def test_statistics_are_read_once(engine: sqlalchemy.Engine) -> None:
    sent: list[str] = []

    @sqlalchemy.event.listens_for(engine, "connect")
    def listen(connection: sqlite3.Connection, _: object) -> None:
        connection.set_trace_callback(sent.append)

    model = Scripted("SELECT COUNT(*) AS n FROM people WHERE name = 'Ann'")
    with Host(engine, model=model, max_sql_runs=1) as host:
        numbers = []
        for _ in range(3):
            sent.clear()
            assert list(host.ask("How many people are called Ann?").data) == [(1,)]
            numbers.append(sum("SELECT" in one and "EXPLAIN" not in one for one in sent))
    # That of the search, and one that looks for other spellings of its value.
    assert numbers[0] > numbers[1] == numbers[2] == 2, numbers


def test_what_cannot_be_reached_is_an_error_of_the_database() -> None:
    import pymysql

    engine = sqlalchemy.create_engine("mysql+pymysql://reader:hush@127.0.0.1:1/shop")
    with pytest.raises(errors.DatabaseError, match="127.0.0.1:1/shop") as caught:
        Host(engine)
    assert isinstance(caught.value.__cause__, (pymysql.Error, sqlalchemy.exc.SQLAlchemyError))
    assert "hush" not in str(caught.value)
    engine = sqlalchemy.create_engine("postgresql+psycopg2://reader:hush@127.0.0.1:1/shop")
    with pytest.raises(errors.DatabaseError, match="127.0.0.1:1/shop") as caught:
        Host(engine)
    assert caught.value.__cause__ is not None and "hush" not in str(caught.value)
    for address in ("nothing+nobody://host/shop", "no address"):
        with pytest.raises(errors.ConfigurationError, match="SQLAlchemy"):
            Host(address, executor_type="jdbc")


@pytest.mark.filterwarnings("ignore::syrch_host.SyrchWarning")
@pytest.mark.parametrize("schema", [3, {"planets": 3}, [{"name": "x"}], {"planets": [(1, 2, 3)]}])
def test_what_is_no_schema_is_an_error(schema: object) -> None:
    class Odd(Planets):
        def schema(self) -> object:
            return schema

    with pytest.raises(errors.DatabaseError):
        Host(Odd(None))


def test_an_object_of_unknown_sql_is_an_error() -> None:
    class Silent(Planets):
        dialect = None  # type: ignore[assignment]

    with pytest.raises(TypeError, match="dialect"):
        Host(Silent(None))


@pytest.mark.filterwarnings("ignore::syrch_host.SyrchWarning")
def test_an_object_that_never_returns_keeps_only_its_thread() -> None:
    class Slow(Planets):
        def execute(self, sql: str) -> object:
            time.sleep(4)
            return [("Earth",)]

    begun = time.monotonic()
    with pytest.raises((errors.NoAnswer, errors.DatabaseError, errors.BudgetExceeded)):
        ask(Slow(None), "SELECT name FROM planets", sql_timeout=0.3)
    assert time.monotonic() - begun < 10


def test_a_small_pool_is_not_overrun(small: Path) -> None:
    from sqlalchemy.pool import QueuePool

    engine = sqlalchemy.create_engine(
        f"sqlite:///{small}", poolclass=QueuePool, pool_size=1, max_overflow=0, pool_timeout=1
    )
    with Host(engine) as host:
        found = host.batch([COUNT] * 12, workers=12)
    assert [list(one.data) for one in found] == [[(3,)]] * 12
    assert engine.pool.checkedout() == 0  # type: ignore[attr-defined]


def test_threads_ask_one_engine_at_once(engine: sqlalchemy.Engine) -> None:
    host = Host(engine)
    with ThreadPoolExecutor(32) as pool:
        found = list(pool.map(lambda _: list(host.ask(COUNT).data), range(64)))
    assert found == [[(3,)]] * 64
    assert engine.pool.checkedout() == 0  # type: ignore[attr-defined]


def test_a_connection_of_duckdb_is_a_database() -> None:
    connection = duckdb.connect(":memory:")
    connection.execute("CREATE TABLE people (id INTEGER, height DECIMAL(10, 2), born DATE)")
    connection.execute("INSERT INTO people VALUES (1, 1.70, '2000-01-02'), (2, NULL, NULL)")
    with pytest.warns(SyrchWarning, match="guard"):
        host = Host(connection)
    assert host.dialect == "duckdb" and list(host.ask(COUNT).data) == [(2,)]
    sql = "SELECT height, born FROM people ORDER BY id"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert list(ask(connection, sql).data)[0] == (Decimal("1.70"), "2000-01-02")
        with pytest.raises((errors.Denied, errors.NoAnswer)):
            ask(connection, "SELECT * FROM read_csv('/etc/passwd')")
    connection.execute("INSERT INTO people VALUES (3, NULL, NULL)")
    assert list(host.ask(COUNT).data) == [(3,)]
    # What the program has not committed, and what no other connection sees.
    connection.execute("BEGIN")
    connection.execute("INSERT INTO people VALUES (4, NULL, NULL)")
    assert list(host.ask(COUNT).data) == [(4,)]
    connection.execute("ROLLBACK")
    assert list(host.ask(COUNT).data) == [(3,)]
    connection.execute("CREATE TEMP TABLE pets AS SELECT 1 AS id")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert list(ask(connection, "SELECT count(*) FROM pets").data) == [(1,)]


def test_a_statement_of_duckdb_ends_at_its_deadline() -> None:
    connection = duckdb.connect(":memory:")
    connection.execute("CREATE TABLE n AS SELECT range AS i FROM range(100000)")
    sql = "SELECT count(*) FROM n AS a, n AS b, n AS c WHERE a.i + b.i + c.i = 7"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        host = Host(connection, model=lambda messages: sql, sql_timeout=1, deadline=20)
        begin = time.monotonic()
        with pytest.raises(errors.SyrchError):
            host.ask("How many?")
    assert time.monotonic() - begin < 60
    # It has ended, and the connection is free.
    assert connection.execute("SELECT count(*) FROM n").fetchall() == [(100000,)]


class _Rows:
    """A connection of sqlite3 whose cursors make other rows."""

    def __init__(self, make: Any) -> None:
        self.inner = sqlite3.connect(":memory:", check_same_thread=False)
        self.inner.row_factory = make

    def __getattr__(self, name: str) -> Any:
        return getattr(self.inner, name)


def _dictionary(cursor: Any, row: Any) -> Any:
    return {column[0]: cell for column, cell in zip(cursor.description, row)}


@pytest.mark.parametrize("make", [sqlite3.Row, _dictionary, lambda _, row: list(row)])
def test_rows_of_any_kind_are_read_in_the_order_of_the_columns(make: Any) -> None:
    connection = _Rows(make)
    connection.execute("CREATE TABLE people (id INTEGER PRIMARY KEY, name TEXT)")
    connection.execute("INSERT INTO people VALUES (1, 'Ann'), (2, 'Ben')")
    host = Host(connection, dialect="sqlite")
    assert list(host.ask(COUNT).data) == [(2,)]
    found = ask(connection, "SELECT name, id FROM people ORDER BY id", dialect="sqlite")
    assert list(found.data) == [("Ann", 1), ("Ben", 2)]


def test_rows_that_are_no_tuples_are_refused_where_they_lose_cells() -> None:
    connection = _Rows(_dictionary)
    connection.execute("CREATE TABLE people (id INTEGER PRIMARY KEY, name TEXT)")
    connection.execute("INSERT INTO people VALUES (1, 'Ann')")
    with pytest.raises(errors.SyrchError):
        ask(connection, "SELECT id AS a, id + 1 AS a FROM people", dialect="sqlite")


def test_two_rows_of_text_are_no_names_with_rows() -> None:
    two = (("Ann", "Ulm"), ("Ben", "Rom"))
    names = ["column_1", "column_2"]
    assert name_columns(two) == (names, [("Ann", "Ulm"), ("Ben", "Rom")])
    assert name_columns((["a"], [("x",)])) == (["a"], [("x",)])
    assert name_columns((["a"], [])) == (["a"], [])
    assert name_columns((("Ann",), ("Ben",))) == (["column_1"], [("Ann",), ("Ben",)])


@pytest.mark.parametrize("name", ["mssql", "oracle"])
def test_an_engine_without_limit_is_refused(name: str) -> None:
    class Sql:
        def __init__(self) -> None:
            self.dialect = type("Dialect", (), {"name": name})

        def raw_connection(self) -> None:
            raise AssertionError

    Sql.__module__ = "sqlalchemy.engine"
    with pytest.raises(errors.ConfigurationError, match="LIMIT"):
        Host(Sql())
