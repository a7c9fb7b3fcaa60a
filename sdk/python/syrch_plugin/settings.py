"""A plugin's settings: one declaration gives the type, its defaults, its JSON schema and its reader."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any, Literal, Optional, Sequence, TypeVar, get_args, get_origin, get_type_hints

from .text import json_text, json_value

S = TypeVar("S", bound="Settings")


def setting(
    default: Any, description: str, *, least: Optional[float] = None, most: Optional[float] = None, schema: Optional[dict[str, Any]] = None
) -> Any:
    """Declares a setting with its default and its description. `least` and `most` bound a number; `schema` adds keywords of JSON Schema."""
    metadata = {"description": description, "least": least, "most": most, "schema": schema or {}}
    if isinstance(default, (list, dict)):
        return dataclasses.field(default_factory=lambda: default.copy(), metadata=metadata)
    return dataclasses.field(default=default, metadata=metadata)


class Mistake(ValueError):
    """What is wrong with the settings that were given."""


class Settings:
    """The base of a plugin's settings, which become a dataclass:

    >>> class Strictness(Settings):
    ...     most_rows: int = setting(100, "Results with more rows are rejected.", least=1, most=1_000_000)
    >>> Strictness.read('{"most_rows": 20}')
    Strictness(most_rows=20)

    A setting is a `bool`, an `int`, a `float`, a `str`, a `Literal` of words, a `list` of these or a `tuple` of these.
    """

    if TYPE_CHECKING:
        # Each subclass gets the constructor of a dataclass, with keywords for its settings.
        def __init__(self, **values: Any) -> None: ...

    def __init_subclass__(cls) -> None:
        dataclasses.dataclass(cls)

    @classmethod
    def schema(cls) -> dict[str, Any]:
        """The JSON Schema (draft 2020-12) of the settings, with defaults and ranges."""
        properties = {}
        for field, hint in _fields(cls):
            default = field.default_factory() if callable(field.default_factory) else field.default
            entry = {**_schema_of(hint), "description": field.metadata.get("description", ""), "default": default}
            for key, bound in (("minimum", "least"), ("maximum", "most")):
                if field.metadata.get(bound) is not None:
                    entry[key] = field.metadata[bound]
            properties[field.name] = {**entry, **field.metadata.get("schema", {})}
        return {
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "type": "object",
            "properties": properties,
            "additionalProperties": False,
        }

    @classmethod
    def read(cls: type[S], config: str) -> S:
        """The settings of a JSON text; what is not given has its default, and an empty text gives all defaults. Raises `Mistake`."""
        settings = read_each([cls], config)[cls]
        assert isinstance(settings, cls)
        return settings


def merged_schema(types: Sequence[type[Settings]]) -> dict[str, Any]:
    """The schema of a plugin with the settings of several classes. Raises `TypeError` if two of them declare a name in different ways."""
    merged: dict[str, Any] = Settings.schema()
    for one in types:
        for name, entry in one.schema()["properties"].items():
            if merged["properties"].setdefault(name, entry) != entry:
                raise TypeError(f"{one.__name__} declares the setting `{name}` in another way than the classes before it")
    return merged


def read_each(types: Sequence[type[Settings]], config: str) -> dict[type[Settings], Settings]:
    """The settings of each class from one JSON text. Raises `Mistake`."""
    given = json_value(config) if config.strip() else {}
    if given is None and config.strip() != "null":
        raise Mistake("settings are not JSON")
    if not isinstance(given, dict):
        raise Mistake("settings must be a JSON object")
    known = {field.name: None for one in types for field, _ in _fields(one)}
    for name in given:
        if name not in known:
            raise Mistake(f"unknown setting `{name}`" + (f"; known are {', '.join(known)}" if known else ": there are none"))
    return {
        one: one(**{field.name: _read(field, hint, given[field.name]) for field, hint in _fields(one) if field.name in given})
        for one in types
    }


class NoSettings(Settings):
    """For a plugin without settings."""


class SolverSettings(Settings):
    """The settings that solvers share; `brief.Brief` reads the last two."""

    overflow_rows: int = setting(1000, "Rows above this number count as more than a good answer has.", least=1, most=1_000_000_000)
    parent_rows: int = setting(
        3, "Rows of each finished dependency that stand in the prompt, as far as they are granted.", least=0, most=50
    )
    catalog_bytes: int = setting(48_000, "Bytes of a prompt that the catalog may fill.", least=500, most=200_000)


def _fields(cls: type[Settings]) -> list[tuple[dataclasses.Field[Any], Any]]:
    if not dataclasses.is_dataclass(cls):
        return []
    hints = get_type_hints(cls)
    return [(field, hints[field.name]) for field in dataclasses.fields(cls)]


_NAMES = {bool: "boolean", int: "integer", float: "number", str: "string"}


def _schema_of(hint: Any) -> dict[str, Any]:
    origin, args = get_origin(hint), get_args(hint)
    if hint in _NAMES:
        return {"type": _NAMES[hint]}
    if origin is Literal:
        return {"type": "string", "enum": list(args)}
    if origin is list:
        return {"type": "array", "items": _schema_of(args[0])}
    if origin is tuple:
        return {"type": "array", "prefixItems": [_schema_of(arg) for arg in args], "minItems": len(args), "maxItems": len(args)}
    raise TypeError(f"a setting cannot be of type {hint}")


def _read(field: dataclasses.Field[Any], hint: Any, value: Any) -> Any:
    read = _value_of(hint, value)
    if read is None:
        words = get_args(hint) if get_origin(hint) is Literal else ()
        wanted = f"one of {', '.join(words)}" if words else f"of type {_schema_of(hint)['type']}"
        raise Mistake(f"`{field.name}` must be {wanted}, not {json_text(value)}")
    least, most = field.metadata.get("least"), field.metadata.get("most")
    if (least is not None and read < least) or (most is not None and read > most):
        raise Mistake(f"`{field.name}` must be from {least} to {most}, not {json_text(value)}")
    return read


def _value_of(hint: Any, value: Any) -> Any:
    """The value as the type of the setting; none for a value of another type."""
    origin, args = get_origin(hint), get_args(hint)
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    if hint is float:
        return float(value) if is_number else None
    if hint is int:
        return int(value) if is_number and value == int(value) else None
    if hint in (bool, str):
        return value if isinstance(value, hint) else None
    if origin is Literal:
        return value if value in args else None
    if origin in (list, tuple) and isinstance(value, list):
        hints = list(args) if origin is tuple else [args[0]] * len(value)
        items = [_value_of(*pair) for pair in zip(hints, value)] if len(hints) == len(value) else [None]
        return None if None in items else origin(items)
    return None
