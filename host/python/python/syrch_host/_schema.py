"""Schemas as the native half reads them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

_LARGEST = 64 << 20


def write_schema(schema: Any) -> str:
    """Returns a schema as JSON.

    A schema is a mapping of the names of tables to their columns, which are a mapping of names to
    types, or pairs, or names. Or it is a list of tables, each a mapping with ``name``, ``columns``
    (mappings with ``name``, ``type``, ``nullable``, ``comment``), ``primary_key``,
    ``foreign_keys`` (mappings with ``columns``, ``table``, ``ref_columns``), ``comment``,
    ``schema`` and ``is_view``. Or it is a mapping of ``tables`` to such a list, with the ``path``
    of schemas in which names are searched.

    Raises:
        TypeError: If it is none of these.
        ValueError: If it is too large.
    """
    if isinstance(schema, Mapping) and isinstance(schema.get("tables"), (list, tuple)):
        written = {"tables": list(schema["tables"]), "path": list(schema.get("path", ()))}
    elif isinstance(schema, Mapping):
        tables = [{"name": name, "columns": columns(value)} for name, value in schema.items()]
        written = {"tables": tables}
    elif isinstance(schema, (list, tuple)):
        written = {"tables": list(schema)}
    else:
        raise TypeError(f"schema() returned a {type(schema).__name__}: return a dict of tables")
    text = json.dumps(written)
    if len(text) > _LARGEST:
        raise ValueError(f"the schema has more than {_LARGEST} bytes")
    return text


def columns(given: Any) -> list[dict[str, str]]:
    """Returns the columns of a table."""
    if isinstance(given, Mapping):
        return [{"name": str(name), "type": str(kind)} for name, kind in given.items()]
    if not isinstance(given, Iterable) or isinstance(given, str):
        raise TypeError("the columns of a table are a dict of names and types, or pairs of them")
    named = []
    for column in given:
        name, kind = (column, "") if isinstance(column, str) else column
        named.append({"name": str(name), "type": str(kind)})
    return named
