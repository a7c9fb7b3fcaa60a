"""The tables of a database, from SQLAlchemy's inspector or from the engine's own catalog."""

from __future__ import annotations

from typing import Any

Table = dict[str, Any]

_MOST_COLUMNS = 1_000_000


def inspect(engine: Any) -> dict[str, Any]:
    """Returns the tables and views of the default schema of an engine of SQLAlchemy."""
    import sqlalchemy
    from sqlalchemy.engine.reflection import ObjectKind

    inspector = sqlalchemy.inspect(engine)
    views = set(inspector.get_view_names())
    columns = inspector.get_multi_columns(kind=ObjectKind.ANY)
    keys = inspector.get_multi_pk_constraint(kind=ObjectKind.TABLE)
    foreign = inspector.get_multi_foreign_keys(kind=ObjectKind.TABLE)
    comments: Any = {}
    try:
        comments = inspector.get_multi_table_comment(kind=ObjectKind.ANY)
    except NotImplementedError:
        pass  # Some engines have none.
    tables = []
    for key, found in columns.items():
        primary = keys.get(key) or {}
        tables.append(
            {
                "name": str(key[1]),
                "is_view": key[1] in views,
                "comment": (comments.get(key) or {}).get("text"),
                "columns": [
                    {
                        "name": str(column["name"]),
                        "type": _type_name(column["type"], engine.dialect),
                        "nullable": bool(column.get("nullable", True)),
                        "comment": column.get("comment"),
                    }
                    for column in found
                ],
                "primary_key": [str(name) for name in primary.get("constrained_columns") or ()],
                "foreign_keys": [
                    {
                        "columns": [str(name) for name in one["constrained_columns"]],
                        "table": str(one["referred_table"]),
                        "ref_columns": [str(name) for name in one["referred_columns"]],
                    }
                    for one in foreign.get(key) or ()
                    if not one.get("referred_schema")
                ],
            }
        )
    return {"tables": tables}


def _type_name(kind: Any, dialect: Any) -> str:
    try:
        return str(kind.compile(dialect))
    except Exception:
        return ""  # SQLAlchemy does not know the type.


def read(cursor: Any, dialect: str) -> dict[str, Any]:
    """Returns the tables and views by the engine's own catalog."""
    return _of_sqlite(cursor) if dialect == "sqlite" else _of_standard(cursor, dialect)


def _of_sqlite(cursor: Any) -> dict[str, Any]:
    cursor.execute(
        "SELECT name, type FROM sqlite_master "
        "WHERE type IN ('table', 'view') AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY name"
    )
    tables = []
    for name, kind in cursor.fetchall():
        quoted = "'" + name.replace("'", "''") + "'"
        cursor.execute(f'SELECT name, type, "notnull", pk FROM pragma_table_info({quoted})')
        columns = cursor.fetchall()
        cursor.execute(
            'SELECT id, "table", "from", "to" '
            f"FROM pragma_foreign_key_list({quoted}) ORDER BY id, seq"
        )
        foreign: dict[int, Table] = {}
        for number, target, column, referred in cursor.fetchall():
            key = foreign.setdefault(number, {"columns": [], "table": target, "ref_columns": []})
            key["columns"].append(column)
            if referred is not None:
                key["ref_columns"].append(referred)
        tables.append(
            {
                "name": name,
                "is_view": kind == "view",
                "columns": [
                    {"name": column, "type": declared, "nullable": not required}
                    for column, declared, required, _ in columns
                ],
                "primary_key": [
                    column
                    for column, _, _, place in sorted(columns, key=lambda one: one[3])
                    if place
                ],
                "foreign_keys": list(foreign.values()),
            }
        )
    return {"tables": tables}


# The schema whose tables are offered: the one that names without a schema mean.
_CURRENT = {"mysql": "DATABASE()", "postgres": "current_schema()", "duckdb": "current_schema()"}


def _of_standard(cursor: Any, dialect: str) -> dict[str, Any]:
    """Reads ``information_schema``, as most engines have it."""
    current = _CURRENT.get(dialect, "CURRENT_SCHEMA")
    cursor.execute(
        "SELECT c.table_name, c.column_name, c.data_type, c.is_nullable, t.table_type "
        "FROM information_schema.columns c JOIN information_schema.tables t "
        "ON t.table_schema = c.table_schema AND t.table_name = c.table_name "
        f"WHERE c.table_schema = {current} ORDER BY c.table_name, c.ordinal_position"
    )
    tables: dict[str, Table] = {}
    for name, column, declared, nullable, kind in cursor.fetchmany(_MOST_COLUMNS):
        table = tables.setdefault(
            name,
            {
                "name": name,
                "columns": [],
                "primary_key": [],
                "foreign_keys": [],
                "is_view": str(kind).upper() == "VIEW",
            },
        )
        is_nullable = str(nullable).upper() == "YES"
        table["columns"].append({"name": column, "type": declared, "nullable": is_nullable})
    if dialect in ("postgres", "mysql"):
        _add_keys(cursor, dialect, current, tables)
    return {"tables": list(tables.values())}


def _add_keys(cursor: Any, dialect: str, current: str, tables: dict[str, Table]) -> None:
    cursor.execute(
        "SELECT k.table_name, k.column_name FROM information_schema.table_constraints c "
        "JOIN information_schema.key_column_usage k ON k.constraint_name = c.constraint_name "
        "AND k.table_schema = c.table_schema AND k.table_name = c.table_name "
        f"WHERE c.constraint_type = 'PRIMARY KEY' AND c.table_schema = {current} "
        "ORDER BY k.table_name, k.ordinal_position"
    )
    for name, column in cursor.fetchall():
        if name in tables:
            tables[name]["primary_key"].append(column)
    if dialect == "mysql":
        cursor.execute(
            "SELECT constraint_name, table_name, column_name, referenced_table_name, "
            "referenced_column_name FROM information_schema.key_column_usage "
            f"WHERE referenced_table_name IS NOT NULL AND table_schema = {current} "
            "ORDER BY table_name, constraint_name, ordinal_position"
        )
    else:
        cursor.execute(
            "SELECT r.constraint_name, f.table_name, f.column_name, p.table_name, p.column_name "
            "FROM information_schema.referential_constraints r "
            "JOIN information_schema.key_column_usage f "
            "ON f.constraint_schema = r.constraint_schema "
            "AND f.constraint_name = r.constraint_name "
            "JOIN information_schema.key_column_usage p "
            "ON p.constraint_schema = r.unique_constraint_schema "
            "AND p.constraint_name = r.unique_constraint_name "
            "AND p.ordinal_position = f.position_in_unique_constraint "
            f"WHERE f.table_schema = {current} AND p.table_schema = {current} "
            "ORDER BY f.table_name, r.constraint_name, f.ordinal_position"
        )
    foreign: dict[tuple[str, str], Table] = {}
    for constraint, name, column, target, referred in cursor.fetchall():
        if name not in tables:
            continue
        key = foreign.get((name, constraint))
        if key is None:
            key = {"columns": [], "table": target, "ref_columns": []}
            foreign[name, constraint] = key
            tables[name]["foreign_keys"].append(key)
        key["columns"].append(column)
        key["ref_columns"].append(referred)
