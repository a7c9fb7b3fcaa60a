"""The ports as the host lends them to a component."""

from __future__ import annotations

from importlib import import_module
from typing import Any, Callable, get_type_hints

from .contract import ENDS, FUNCTIONS, JSON_ARGUMENTS, PORTS
from .errors import ModelError, PortError, SqlError
from .text import json_text, json_value
from .wire import Codec, Handle, WrongType, codec, raw


class InFlight(Handle):
    """A call in flight. `get` and `take` return None until it has ended."""

    def __init__(self, raw: Any, ended: Codec) -> None:
        super().__init__(raw)
        self._ended = ended

    def ticket(self) -> int:
        """The number to pass to `any`."""
        number: int = self.raw.ticket()
        return number

    def cancel(self) -> None:
        """Cancels the call now."""
        self.raw.cancel()

    def get(self) -> Any:
        """The result or the error, the same each time."""
        return self._ended.lift(self.raw.get())

    def take(self) -> Any:
        """The result or the error, once."""
        return self._ended.lift(self.raw.take())


class Host:
    """All ports of the plugin's world. What the world of a role does not import raises `PortError` of kind `denied`."""

    def __getattr__(self, name: str) -> Any:
        if any(name in vars(port) for port, _ in PORTS):
            raise PortError("denied", f"no role of this plugin has the function `{name}`")
        raise AttributeError(f"the host has no function `{name}`")


def make_host() -> Any:
    """The host of the world for which the component is built."""
    for port, interface in PORTS:
        try:
            module = import_module(f"wit_world.imports.{interface}")
        except ImportError:
            continue
        for name, function in vars(port).items():
            if callable(function) and not name.startswith("_"):
                setattr(Host, name, _method(module, name, function))
    return Host()


def _method(module: Any, name: str, declared: Any) -> Callable[..., Any]:
    hints = get_type_hints(declared, include_extras=True)
    ended = hints.pop("return")
    generated = getattr(module, FUNCTIONS.get(name, name))
    arguments = [(key, _identity if hint is Any else codec(hint).lower) for key, hint in hints.items()]
    lift = _lift_of(ended)
    raise_error = _raiser()
    json_at = JSON_ARGUMENTS.get(name)

    def method(self: Any, *given: Any, **named: Any) -> Any:
        if named:
            given = (*given, *(named.pop(key) for key, _ in arguments[len(given) :]))
        if len(given) != len(arguments):
            raise TypeError(f"{name} takes {len(arguments)} arguments: {', '.join(key for key, _ in arguments)}")
        lowered = []
        for (key, lower), value in zip(arguments, given):
            try:
                lowered.append(lower(value))
            except WrongType as mistake:
                raise TypeError(f"{name}: {mistake.inside(key)}") from None
        if json_at is not None:
            lowered[json_at] = json_text(lowered[json_at])
        try:
            result = generated(*lowered)
        except Exception as error:
            raise_error(error)
            raise
        return result if lift is None else lift(result)

    method.__name__, method.__doc__ = name, declared.__doc__
    return method


def _identity(value: Any) -> Any:
    return value


def _lift_of(hint: Any) -> Any:
    if hint in (None, type(None)):
        return None
    if hint is Any:
        return json_value
    if hint in ENDS:
        ended = codec(ENDS[hint])
        return lambda handle: InFlight(handle, ended)
    return codec(hint).lift


def _raiser() -> Callable[[Exception], None]:
    """Raises the exception of this package for the one that componentize-py raises."""
    err: Any = import_module("componentize_py_types").Err
    types = raw("types")

    def raise_error(error: Exception) -> None:
        if not isinstance(error, err):
            return
        value: Any = error.value
        if isinstance(value, types.SqlError):
            raise codec(SqlError).lift(value) from None
        if type(value).__name__.startswith("LlmError_"):
            raise codec(ModelError).lift(value) from None
        raise codec(PortError).lift(value) from None

    return raise_error
