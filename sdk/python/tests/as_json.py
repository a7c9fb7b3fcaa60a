"""Values as the cases of `syrch-host plugin test` write them: fields in snake_case, variants in kebab-case, as serde does."""

from __future__ import annotations

import dataclasses
from typing import Annotated, Any, Union, get_args, get_origin, get_type_hints

from syrch_plugin import contract
from syrch_plugin import types as t
from syrch_plugin.errors import Failure, SqlError
from syrch_plugin.fakes import FakeRows

_CELLS = {"decimal": t.Decimal, "temporal": t.Temporal, "other": t.OtherValue, "integer": int, "real": float}


def read(hint: Any, value: Any) -> Any:
    """The value of a hint's type that a JSON value stands for; what is left out has its default, or else is empty."""
    origin, args = get_origin(hint), get_args(hint)
    if origin is Annotated:
        return _read_annotated(args[1], value)
    if origin is list:
        return [read(args[0], one) for one in value]
    if origin is tuple:
        return tuple(read(*pair) for pair in zip(args, value))
    if origin is Union:
        return None if value is None else read(args[0], value)
    if hint is t.ResultSet:
        return FakeRows(value["columns"], [[cell(one) for one in row] for row in value["rows"]])
    if hint in (Failure, SqlError):
        return hint(**value)
    if dataclasses.is_dataclass(hint):
        hints = get_type_hints(hint, include_extras=True)
        fields = {field.name: _EMPTY[field.name] for field in dataclasses.fields(hint) if field.name in _EMPTY}
        required = {key: one for key, one in fields.items() if _is_required(hint, key)}
        given = {key: read(hints[key], one) for key, one in value.items()}
        return hint(**{**required, **given})  # type: ignore[operator]
    return value


# What a field without a default is where a case leaves it out.
_EMPTY: dict[str, Any] = {"id": "", "sql": "", "text": "", "candidate": t.Candidate("", ""), "column": "", "name": "", "corpus": "tables", "question": ""}


def _is_required(hint: Any, key: str) -> bool:
    field = next(field for field in dataclasses.fields(hint) if field.name == key)
    return field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING


def cell(value: dict[str, Any]) -> Any:
    """A cell, such as `{"type": "integer", "value": 7}`."""
    if value["type"] == "null":
        return None
    if value["type"] == "bytes":
        return bytes(value["value"])
    return _CELLS.get(value["type"], lambda inner: inner)(value["value"])


def _read_annotated(name: str, value: Any) -> Any:
    if name == "types.Value":
        return cell(value)
    if isinstance(value, dict):
        key, inner = next(iter(value.items()))
        own = contract.CASES.get(name, {}).get("".join(part.capitalize() for part in key.split("-")))
        if own is None:
            return inner
        if own is int:
            return inner
        if own in contract.RECORDS:
            return read(own, inner)
        field = dataclasses.fields(own)[0]
        return own(read(get_type_hints(own, include_extras=True)[field.name], inner))
    own = contract.CASES.get(name, {}).get("".join(part.capitalize() for part in str(value).split("-"))) if isinstance(value, str) else None
    return own() if own is not None else value


_WORDS = {t.JsonShape: "json", t.Choice: "choice", t.YamlShape: "yaml", t.Accepted: "accepted", t.Rejected: "rejected", t.Unavailable: "unavailable"}


def write(value: Any) -> Any:
    """The JSON of a value."""
    if isinstance(value, (t.JsonShape, t.Choice, t.YamlShape, t.Unavailable)):
        return {_WORDS[type(value)]: next(iter(vars(value).values()))}
    if isinstance(value, (t.Accepted, t.Rejected)):
        return {_WORDS[type(value)]: {key: write(one) for key, one in vars(value).items()}}
    if isinstance(value, Failure):
        return {"kind": value.kind, "message": value.message, "retryable": value.retryable}
    if dataclasses.is_dataclass(value):
        return {key: write(one) for key, one in vars(value).items()}
    if isinstance(value, (list, tuple)):
        return [write(one) for one in value]
    return value
