"""PostgreSQL and MariaDB by SQLAlchemy and by connections of PEP 249."""

from __future__ import annotations

import time
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any

import psycopg
import psycopg2
import psycopg2.extensions
import pymysql
import pytest
import sqlalchemy
from conftest import Scripted, is_required
from servers import find_mariadb, find_postgres, start_mariadb, start_postgres
from syrch_host import Host, errors, query

COUNT = "How many customers are there?"


@pytest.fixture(scope="module")
def postgres() -> Iterator[Path]:
    programs = find_postgres()
    if programs is None:
        if is_required("SYRCH_REQUIRE_POSTGRES"):
            pytest.fail("there is no PostgreSQL server, and it is required")
        pytest.skip("there is no PostgreSQL server: apt install postgresql")
    with start_postgres(programs) as folder:
        yield folder


@pytest.fixture(scope="module")
def mariadb() -> Iterator[Path]:
    root = find_mariadb()
    if root is None:
        if is_required("SYRCH_REQUIRE_DATABASES"):
            pytest.fail("there is no MariaDB server, and it is required")
        pytest.skip("there is no MariaDB server: tests/databases/install.sh")
    with start_mariadb(root) as socket:
        yield socket


@pytest.fixture(params=["psycopg2", "psycopg", "pymysql"])
def engine(request: pytest.FixtureRequest) -> Iterator[sqlalchemy.Engine]:
    if request.param == "pymysql":
        place = request.getfixturevalue("mariadb")
        address = f"mariadb+pymysql://reader@localhost/shop?unix_socket={place}"
    else:
        place = request.getfixturevalue("postgres")
        address = f"postgresql+{request.param}://ann@/shop?host={place}"
    engine = sqlalchemy.create_engine(address)
    yield engine
    engine.dispose()


@pytest.fixture(params=[psycopg2, psycopg, pymysql], ids=lambda module: module.__name__)
def connection(request: pytest.FixtureRequest) -> Iterator[Any]:
    if request.param is pymysql:
        place = str(request.getfixturevalue("mariadb"))
        connection = pymysql.connect(unix_socket=place, user="reader", database="shop")
    else:
        place = str(request.getfixturevalue("postgres"))
        connection = request.param.connect(host=place, user="ann", dbname="shop")
    yield connection
    connection.close()


def ask(database: object, sql: str, **options: Any) -> Any:
    model = Scripted(sql)
    return query("Which?", db=database, model=model, strategy="single", **options)


def test_an_engine_is_a_database(engine: sqlalchemy.Engine) -> None:
    with Host(engine) as host:
        assert host.warnings == () and host.name == "shop"
        assert host.dialect == {"postgresql": "postgres"}.get(engine.dialect.name, "mysql")
        assert list(host.ask(COUNT).data) == [(2,)]
        found = host.ask("How many customers are there in each country?")
        assert len(found.data) == 2
    joined = "customers c JOIN orders o ON o.customer = c.id GROUP BY c.name ORDER BY c.name"
    rows = list(ask(engine, f"SELECT c.name, SUM(o.amount) AS total FROM {joined}").data)
    assert rows == [("Ben", Decimal("7.00")), ("Zoë", Decimal("15.75"))]
    assert list(ask(engine, "SELECT id FROM french").data) == [(1,)]


def test_values_keep_what_they_are(engine: sqlalchemy.Engine) -> None:
    sql = "SELECT id, amount, placed, at FROM orders ORDER BY id"
    first = ask(engine, sql).data[0]
    assert first == (1, Decimal("10.50"), "2024-01-02", "2024-01-02 03:04:05")
    if engine.dialect.name == "postgresql":
        row = ask(engine, "SELECT paid, extra, raw FROM orders ORDER BY id").data[0]
        assert row == (True, '{"a": 1}', b"\x00\xff")


def test_the_server_refuses_to_write(engine: sqlalchemy.Engine) -> None:
    from syrch_host._sql import EngineAdapter

    name = engine.dialect.name
    adapter = EngineAdapter(engine, {"postgresql": "postgres"}.get(name, "mysql"))
    write = "DELETE FROM orders"
    for _ in range(3):
        with adapter.cursor(10) as cursor, pytest.raises(Exception, match="(?i)read.only"):
            cursor.execute(write)
    with engine.begin() as connection:
        assert connection.exec_driver_sql("SELECT COUNT(*) FROM orders").scalar() == 3
        # The connections of the pool are what they were.
        connection.exec_driver_sql("UPDATE orders SET amount = amount WHERE id = 1")


def test_a_connection_is_left_outside_of_a_transaction(connection: Any) -> None:
    with Host(connection) as host:
        assert list(host.ask(COUNT).data) == [(2,)]
    if isinstance(connection, psycopg.Connection):
        assert connection.info.transaction_status == psycopg.pq.TransactionStatus.IDLE
    elif isinstance(connection, psycopg2.extensions.connection):
        assert connection.get_transaction_status() == 0
    # What the program itself began stays.
    with connection.cursor() as cursor:
        cursor.execute("SELECT 1")
        with Host(connection) as host:
            assert list(host.ask(COUNT).data) == [(2,)]
    if isinstance(connection, psycopg.Connection):
        assert connection.info.transaction_status == psycopg.pq.TransactionStatus.INTRANS
    connection.rollback()


def test_the_guard_refuses_before_the_server(engine: sqlalchemy.Engine) -> None:
    for call in ("SLEEP(9)", "pg_sleep(9)", "LOAD_FILE('/etc/passwd')", "pg_read_file('x')"):
        sql = f"SELECT {call} FROM orders"
        with pytest.raises((errors.Denied, errors.NoAnswer)):
            ask(engine, sql)


def test_a_deadline_ends_a_statement(engine: sqlalchemy.Engine) -> None:
    many = ", ".join(f"orders o{number}" for number in range(20))
    begun = time.monotonic()
    with pytest.raises((errors.NoAnswer, errors.DatabaseError, errors.BudgetExceeded)):
        ask(engine, f"SELECT COUNT(*) AS n, MAX(o1.amount) FROM {many}", sql_timeout=0.5)
    assert time.monotonic() - begun < 15
    is_postgres = engine.dialect.name == "postgresql"
    running = (
        "SELECT COUNT(*) FROM pg_stat_activity WHERE state = 'active' AND query LIKE '%orders o9%'"
        if is_postgres
        else "SELECT COUNT(*) FROM information_schema.processlist WHERE info LIKE '%orders o9,%'"
    )
    with engine.connect() as connection:
        # It counts itself.
        assert connection.exec_driver_sql(running.replace("%", "%%")).scalar() <= 1


def test_a_large_result_is_not_read_whole(engine: sqlalchemy.Engine) -> None:
    many = ", ".join(f"orders o{number}" for number in range(16))
    begun = time.monotonic()
    found = ask(engine, f"SELECT o1.id, o2.amount FROM {many}", max_rows=1000)
    assert len(found.data) == 1000 and found.data.truncated
    assert time.monotonic() - begun < 15


def test_a_connection_is_a_database(connection: Any) -> None:
    with Host(connection) as host:
        assert list(host.ask(COUNT).data) == [(2,)]
        assert all("read-only transaction" in text for text in host.warnings)
    found = ask(connection, "SELECT name FROM customers ORDER BY id")
    assert list(found.data) == [("Zoë",), ("Ben",)]
    with pytest.raises((errors.Denied, errors.NoAnswer, errors.DatabaseError)):
        ask(connection, "SELECT nme FROM customers")
    # It is what it was.
    with connection.cursor() as cursor:
        cursor.execute("UPDATE orders SET amount = amount WHERE id = 1")
    connection.rollback()


def test_what_the_program_has_not_committed_stays(connection: Any) -> None:
    with connection.cursor() as cursor:
        cursor.execute("INSERT INTO customers VALUES (3, 'Max', 'Italy')")
    assert list(query(COUNT, db=connection).data) == [(3,)]
    with connection.cursor() as cursor:
        cursor.execute("SELECT name FROM customers WHERE id = 3")
        assert cursor.fetchone() == ("Max",)
        cursor.execute("INSERT INTO customers VALUES (4, 'Kim', 'Italy')")
    connection.rollback()
    assert list(query(COUNT, db=connection).data) == [(2,)]


@pytest.mark.parametrize("module", [psycopg2, psycopg])
def test_a_connection_that_commits_by_itself(postgres: Path, module: Any) -> None:
    connection = module.connect(host=str(postgres), user="ann", dbname="shop")
    connection.autocommit = True
    assert list(query(COUNT, db=connection).data) == [(2,)]
    with connection.cursor() as cursor:
        cursor.execute("UPDATE orders SET amount = amount WHERE id = 1")
    connection.close()


def test_keys_are_in_the_catalog(connection: Any) -> None:
    model = Scripted("SELECT name FROM customers")
    query("Which?", db=connection, model=model, strategy="single")
    prompt = "\n".join(one["content"] for one in model.calls[0])
    assert "orders" in prompt and "customer" in prompt
    assert "REFERENCES" in prompt or "->" in prompt or "references" in prompt
