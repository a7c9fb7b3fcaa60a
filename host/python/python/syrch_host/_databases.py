"""Databases that the program gives as objects, behind the host's guard."""

from __future__ import annotations

import os
import sys
from typing import Any

from ._objects import ObjectAdapter
from ._sql import ConnectionAdapter, EngineAdapter
from .errors import ConfigurationError

Database = str | os.PathLike[str] | Any
"""A path, an address, an engine of SQLAlchemy, a connection of PEP 249, or an object with
``execute(sql)``, ``schema()`` and ``dialect``."""

_Adapter = ObjectAdapter | ConnectionAdapter | EngineAdapter

# The SQL of the modules that make connections.
_DRIVERS = {
    "sqlite3": "sqlite",
    "psycopg": "postgres",
    "psycopg2": "postgres",
    "pg8000": "postgres",
    "pymysql": "mysql",
    "MySQLdb": "mysql",
    "mysql": "mysql",
    "mariadb": "mysql",
    "duckdb": "duckdb",
    "_duckdb": "duckdb",
    "snowflake": "snowflake",
    "google": "bigquery",
    "databricks": "databricks",
}

# The names of SQLAlchemy's dialects where they are not those of this package.
_DIALECTS = {
    "postgresql": "postgres",
    "cockroachdb": "postgres",
    "mariadb": "mysql",
    "hive": "spark",
}

# The names of SQLAlchemy's dialects that know no LIMIT, which nearly every statement has.
_WITHOUT_LIMIT = ("access", "db2", "firebird", "ibm_db_sa", "informix", "mssql", "oracle", "sybase")


def find_adapter(
    database: Database, dialect: str | None, executor_type: str | None
) -> str | _Adapter:
    """Returns the address of a database, or the adapter of an object.

    Raises:
        ConfigurationError: If SQLAlchemy does not know the address, or the engine no LIMIT.
        DatabaseError: If the database cannot be reached.
        TypeError: If it is neither.
    """
    if isinstance(database, (str, os.PathLike)):
        address = os.fspath(database)
        if executor_type != "jdbc":
            if dialect is not None:
                raise TypeError("an address says itself which SQL its database speaks")
            return address
        database = _make_engine(address)
    if _is_of_sqlalchemy(database):
        if not hasattr(database, "raw_connection"):
            kind = type(database).__name__
            hint = "; `connection.engine` is that of a connection" if kind == "Connection" else ""
            raise TypeError(f"give the engine of SQLAlchemy that is not async, not {kind}{hint}")
        name = database.dialect.name
        if dialect is None and name in _WITHOUT_LIMIT:
            raise ConfigurationError(
                f"{name} knows no LIMIT, by which statements bound their rows: give a copy of the "
                "data in another engine, or an object whose execute(sql) rewrites it"
            )
        return EngineAdapter(database, dialect or _DIALECTS.get(name, name))
    if callable(getattr(database, "cursor", None)):
        module = type(database).__module__.split(".")[0]
        spoken = dialect or _DRIVERS.get(module)
        if spoken is None:
            raise TypeError(f"say which SQL the connection of {module} speaks, by dialect=…")
        return ConnectionAdapter(database, spoken)
    if callable(getattr(database, "execute", None)) and callable(getattr(database, "schema", None)):
        spoken = dialect or getattr(database, "dialect", None)
        if not isinstance(spoken, str):
            raise TypeError("say which SQL the database speaks, by its `dialect` or by dialect=…")
        return ObjectAdapter(database, spoken)
    kind = type(database).__name__
    raise TypeError(
        f"{kind} is no database: give a path, an address, an engine of SQLAlchemy, a connection of "
        "PEP 249, or an object with execute(sql), schema() and dialect"
    )


def _make_engine(address: str) -> Any:
    try:
        import sqlalchemy
    except ImportError as error:
        raise TypeError("executor_type='jdbc' needs SQLAlchemy: pip install sqlalchemy") from error
    try:
        return sqlalchemy.create_engine(address)
    except (ImportError, sqlalchemy.exc.ArgumentError) as error:
        raise ConfigurationError(f"SQLAlchemy makes no engine of the address: {error}") from error


def _is_of_sqlalchemy(database: Any) -> bool:
    if "sqlalchemy" not in sys.modules:
        return False
    return any(kind.__module__.startswith("sqlalchemy.") for kind in type(database).__mro__)
