"""Keyword arguments as the options that the native half reads."""

from __future__ import annotations

import json
import math
import operator
import os
import sys
import sysconfig
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, TypedDict

from .errors import ConfigurationError

_Path = str | os.PathLike[str]


class _Common(TypedDict, total=False):
    """The options of hosts and of questions."""

    max_depth: int
    max_attempts: int
    high_confidence: float
    min_confidence: float
    max_concurrency: int
    token_budget: int
    deadline: float


class SearchOptions(_Common, total=False):
    """The options of one question.

    ``evidence`` is text that explains terms of the question; ``max_depth`` levels of decomposition
    (1 to 16); ``max_attempts`` statements tried for one task (1 to 100); ``high_confidence`` the
    confidence at which no further candidate is tried (0 to 1); ``min_confidence`` the one below
    which there is no answer (0 to 1); ``max_concurrency`` tasks in flight (1 to 64);
    ``token_budget`` tokens of prompts and replies; ``deadline`` seconds, ``math.inf`` for none.
    """

    evidence: str


class HostOptions(_Common, total=False):
    """The options of a host, besides its database and its model: see ``docs/python.md``."""

    provider: str
    base_url: str
    api_key: str
    insecure_endpoint: bool
    temperature: float
    max_tokens: int
    timeout: float
    prices: Mapping[str, Mapping[str, float]]
    strategy: str
    plugins: Mapping[str, str]
    params: Mapping[str, Mapping[str, Any]]
    trust: Iterable[_Path]
    isolate: str
    tables: Iterable[str]
    rows: str
    semantics: Iterable[_Path]
    notes: _Path
    examples: _Path
    cache: _Path
    cache_ttl: float
    journal: _Path
    lock: _Path
    audit: _Path
    record: _Path
    replay: _Path
    seed: int
    ambiguity_threshold: float
    max_questions: int
    sql_timeout: float
    max_rows: int
    max_calls: int
    max_sql_runs: int
    max_usd: float
    environment: Mapping[str, str]


_OF_SEARCH = SearchOptions.__optional_keys__
_OF_HOST = HostOptions.__optional_keys__
_KINDS = {
    name: str(getattr(kind, "__forward_arg__", kind))
    for kinds in (HostOptions.__annotations__, SearchOptions.__annotations__)
    for name, kind in kinds.items()
}
_WANTED = {
    "bool": "True or False",
    "int": "a whole number of 0 or more",
    "float": "a number of 0 or more",
    "str": "a text",
    "_Path": "a path",
    "Iterable[_Path]": "a path, or several",
    "Iterable[str]": "a text, or several",
    "Mapping[str, str]": "a mapping of texts",
    "Mapping[str, Mapping[str, float]]": "a mapping of mappings of numbers",
    "Mapping[str, Mapping[str, Any]]": "a mapping of mappings",
}


def search_options(given: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the options of a question.

    Raises:
        ConfigurationError: If a value is none of its option.
        TypeError: If a keyword is none.
    """
    _check(given, _OF_SEARCH)
    options = {
        name: read_value(name, value, _KINDS[name])
        for name, value in given.items()
        if value is not None
    }
    if options.get("deadline") == math.inf:
        del options["deadline"]
        options["has_no_deadline"] = True
    return options


def host_options(given: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the options of a host.

    Raises:
        ConfigurationError: If a value is none of its option.
        TypeError: If a keyword is none.
    """
    _check(given, _OF_HOST)
    search = {name: value for name, value in given.items() if name in _OF_SEARCH}
    options: dict[str, Any] = {"search": search_options(search)}
    for name, value in given.items():
        if name in _OF_SEARCH or value is None:
            continue
        options[name] = read_value(name, value, _KINDS[name])
    program = command_line()
    if program is not None and sys.platform == "linux":
        options["compiler"] = str(program)
    return options


def command_line() -> Path | None:
    """Returns the program ``syrch-host`` of this package, or ``None`` if it has none."""
    for scheme in (sysconfig.get_default_scheme(), sysconfig.get_preferred_scheme("user")):
        program = Path(sysconfig.get_path("scripts", scheme)) / "syrch-host"
        if program.is_file():
            return program
    return None


def write_options(options: Mapping[str, Any]) -> str:
    """Returns options as JSON.

    Raises:
        ConfigurationError: If a value cannot be written.
    """
    try:
        return json.dumps(options, allow_nan=False)
    except (TypeError, ValueError, RecursionError) as error:
        raise ConfigurationError(f"an option cannot be written: {error}") from error


def read_value(name: str, value: Any, kind: str) -> Any:
    """Returns the value of an option as it is written. ``kind`` is its type as annotations have it.

    Raises:
        ConfigurationError: If it is of another type, or a number below 0.
    """
    try:
        return _convert(value, kind)
    except (TypeError, ValueError) as error:
        # What may be secret is not shown.
        shown = f"{value!r:.100}" if kind in ("int", "float", "bool") else type(value).__name__
        raise ConfigurationError(f"{name} is {shown}; it is {_WANTED[kind]}") from error


def _convert(value: Any, kind: str) -> Any:
    if kind == "int":
        return _check_sign(operator.index(_check_type(value, object)))
    if kind == "float":
        return _check_sign(float(_check_type(value, object)))
    if kind == "_Path":
        return os.fspath(value)
    if kind == "Iterable[_Path]":
        return [os.fspath(path) for path in _several(value)]
    if kind == "Iterable[str]":
        return [_check_type(one, str) for one in _several(value)]
    if kind in ("bool", "str"):
        return _check_type(value, bool if kind == "bool" else str)
    return dict(_check_type(value, Mapping))


def _check_type(value: Any, kind: type) -> Any:
    # True counts as 1, and a text may spell a number.
    if not isinstance(value, kind) or (kind is object and isinstance(value, (bool, str, bytes))):
        raise TypeError(type(value).__name__)
    return value


def _check_sign(value: Any) -> Any:
    if not value >= 0:
        raise ValueError(value)
    return value


def _several(value: Any) -> list[Any]:
    return [value] if isinstance(value, (str, os.PathLike)) else list(value)


def _check(given: Mapping[str, Any], known: frozenset[str]) -> None:
    for name in given:
        if name not in known:
            names = ", ".join(sorted(known))
            raise TypeError(f"{name!r} is no option; the options are {names}")
