"""Between the dataclasses of this package and those that componentize-py generates for a world.

A codec is made from a type hint when it is first needed, since a world has only the interfaces of its roles. Lowering checks types, so that
a wrong one becomes a message that names the field.
"""

from __future__ import annotations

import dataclasses
import re
from importlib import import_module
from typing import Annotated, Any, Callable, Literal, NamedTuple, Union, get_args, get_origin, get_type_hints

from . import types as t
from .contract import CASES, ERRORS, RECORDS
from .errors import ModelError, PortError


class Codec(NamedTuple):
    """`lift` makes a value of this package from a generated one, `lower` the reverse; without `lift` they are equal."""

    lift: Any
    lower: Callable[[Any], Any]


class WrongType(TypeError):
    """A value of another type than the contract has at that place."""

    def __init__(self, wanted: str, value: Any) -> None:
        super().__init__()
        self.path: list[str] = []
        self.what = f"must be {wanted}, not {_shown(value)}"

    def __str__(self) -> str:
        return f"{''.join(self.path).lstrip('.') or 'it'} {self.what}"

    def inside(self, place: str) -> WrongType:
        """The same mistake, seen from the value around it."""
        self.path.insert(0, place)
        return self


def _shown(value: Any) -> str:
    return "None" if value is None else f"{type(value).__name__} {value!r:.60}"


def raw(interface: str) -> Any:
    """The generated module of an interface, from the world's imports or else from its exports."""
    try:
        return import_module(f"wit_world.imports.{interface}")
    except ImportError:
        return import_module(f"wit_world.exports.{interface}")


_CODECS: dict[Any, Codec] = {}


def codec(hint: Any) -> Codec:
    """The codec of a type hint."""
    key = repr(hint)
    if key not in _CODECS:
        _CODECS[key] = _made(hint)
    return _CODECS[key]


def _made(hint: Any) -> Codec:
    origin, args = get_origin(hint), get_args(hint)
    if origin is Annotated:
        return _annotated(args[0], args[1])
    if origin is list:
        return _list(codec(args[0]))
    if origin is tuple:
        return _tuple([codec(arg) for arg in args])
    if origin is Union:
        return _union([arg for arg in args if arg is not type(None)], len(args) > 1 and type(None) in args)
    if hint is ModelError:
        return _error(ModelError, "llm", "LlmError")
    if hint is PortError:
        return _error(PortError, "types", "PortError")
    if hint is t.ResultSet:
        return _result_set()
    if hint in ERRORS:
        return _exception(hint)
    if hint in RECORDS:
        return _record(hint)
    return _SCALARS[hint]


def _annotated(inner: Any, name: str) -> Codec:
    if name in ("u32", "u64", "f32"):
        return _SCALARS[name]
    if name == "types.Value":
        return _value()
    if name == "rewriter.Trial":
        return _trial()
    interface, _, own = name.partition(".")
    module = raw(interface)
    generated = getattr(module, own)
    if isinstance(generated, type):
        return _enum(generated)
    return _variant(module, own, CASES.get(name, {}))


# Scalars


def _integer(least: int, most: int) -> Codec:
    def lower(value: Any) -> Any:
        if not isinstance(value, int) or isinstance(value, bool) or not least <= value <= most:
            raise WrongType(f"an int from {least} to {most}", value)
        return value

    return Codec(None, lower)


def _lower_real(value: Any) -> float:
    if not isinstance(value, (int, float)) or isinstance(value, bool):
        raise WrongType("a float", value)
    return float(value)


def _lower_text(value: Any) -> str:
    if not isinstance(value, str):
        raise WrongType("a str", value)
    if not value.isascii():
        try:
            value.encode()
        except UnicodeEncodeError:
            raise WrongType("text without lone surrogates", value) from None
    return value if type(value) is str else str(value)


def _lower_bool(value: Any) -> bool:
    if not isinstance(value, bool):
        raise WrongType("a bool", value)
    return value


_SCALARS: dict[Any, Codec] = {
    str: Codec(None, _lower_text),
    bool: Codec(None, _lower_bool),
    float: Codec(None, _lower_real),
    "f32": Codec(None, _lower_real),
    int: _integer(-(2**63), 2**63 - 1),
    "u32": _integer(0, 2**32 - 1),
    "u64": _integer(0, 2**64 - 1),
}


# Lists, tuples, options and results


def _list(inner: Codec) -> Codec:
    lift, one = inner

    def lower(value: Any) -> Any:
        if not isinstance(value, (list, tuple)):
            raise WrongType("a list", value)
        out = []
        try:
            for item in value:
                out.append(one(item))
        except WrongType as mistake:
            raise mistake.inside(f"[{len(out)}]") from None
        return out

    return Codec(None if lift is None else lambda value: [lift(item) for item in value], lower)


def _tuple(inner: list[Codec]) -> Codec:
    is_plain = all(part.lift is None for part in inner)

    def lift(value: Any) -> Any:
        return tuple(item if part.lift is None else part.lift(item) for part, item in zip(inner, value))

    def lower(value: Any) -> Any:
        if not isinstance(value, (list, tuple)) or len(value) != len(inner):
            raise WrongType(f"a tuple of {len(inner)}", value)
        return tuple(part.lower(item) for part, item in zip(inner, value))

    return Codec(None if is_plain else lift, lower)


def _union(hints: list[Any], is_optional: bool) -> Codec:
    errors = [hint for hint in hints if isinstance(hint, type) and issubclass(hint, Exception)]
    values = [hint for hint in hints if hint not in errors]
    inner = codec(values[0])
    if errors:
        inner = _result(inner, codec(errors[0]))
    return _option(inner) if is_optional else inner


def _option(inner: Codec) -> Codec:
    lift, lower = inner
    return Codec(
        None if lift is None else lambda value: None if value is None else lift(value),
        lambda value: None if value is None else lower(value),
    )


def _result(inner: Codec, error: Codec) -> Codec:
    """Results come from ports only: a reply or an error."""
    err = import_module("componentize_py_types").Err

    def lift(value: Any) -> Any:
        if isinstance(value, err):
            return error.lift(value.value)
        return value.value if inner.lift is None else inner.lift(value.value)

    return Codec(lift, inner.lower)


# Records


def _record(own: Any) -> Codec:
    interface, name = RECORDS[own]
    generated = getattr(raw(interface), name)
    hints = get_type_hints(own, include_extras=True)
    parts = {field.name: codec(hints[field.name]) for field in dataclasses.fields(own)}
    lifts = [(key, part.lift) for key, part in parts.items() if part.lift is not None]
    lowers = [(key, part.lower) for key, part in parts.items()]
    new = object.__new__

    def lift(value: Any) -> Any:
        # The generated value is not used any more, so that its fields can be taken over.
        fields = value.__dict__
        for key, one in lifts:
            fields[key] = one(fields[key])
        made = new(own)
        made.__dict__.update(fields)
        return made

    def lower(value: Any) -> Any:
        if not isinstance(value, own):
            raise WrongType(f"of type {own.__name__}", value)
        made = new(generated)
        fields = made.__dict__
        key = ""
        try:
            for key, one in lowers:
                fields[key] = one(getattr(value, key))
        except WrongType as mistake:
            raise mistake.inside(f".{key}") from None
        return made

    return Codec(lift, lower)


def _exception(own: Any) -> Codec:
    """Exceptions whose fields are those of a record."""
    interface, name = RECORDS[own]
    generated = getattr(raw(interface), name)
    parts = {key: codec(hint) for key, hint in ERRORS[own].items()}

    def lift(value: Any) -> Any:
        fields = {key: getattr(value, key) for key in parts}
        return own(**{key: fields[key] if part.lift is None else part.lift(fields[key]) for key, part in parts.items()})

    def lower(value: Any) -> Any:
        if not isinstance(value, own):
            raise WrongType(f"of type {own.__name__}", value)
        fields = {}
        for key, part in parts.items():
            try:
                fields[key] = part.lower(getattr(value, key))
            except WrongType as mistake:
                raise mistake.inside(f".{key}") from None
        return generated(**fields)

    return Codec(lift, lower)


# Words, enums and variants


def _word(name: str) -> str:
    """`TooLarge` and `TOO_LARGE` as the contract spells them: `too-large`."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "-", name).lower().replace("_", "-")


def _enum(generated: Any) -> Codec:
    words = {_word(case.name): case for case in generated}
    named = {case: word for word, case in words.items()}

    def lower(value: Any) -> Any:
        if not isinstance(value, str) or value not in words:
            raise WrongType(f"one of {', '.join(words)}", value)
        return words[value]

    return Codec(named.__getitem__, lower)


def _cases(module: Any, name: str) -> dict[str, Any]:
    """The generated classes of a variant by the names of their cases."""
    prefix = f"{name}_"
    return {key.removeprefix(prefix): case for key, case in vars(module).items() if key.startswith(prefix)}


def _payload(own: Any) -> tuple[Callable[[Any], Any], Callable[[Any], Any]]:
    """How the class of a case is made from the payload of the generated one, and the reverse."""
    if own is int or own in RECORDS:
        inner = codec(own) if own is not int else _SCALARS["u32"]
        return inner.lift or (lambda value: value), inner.lower
    fields = dataclasses.fields(own)
    if not fields:
        return own, own
    key = fields[0].name
    part = codec(get_type_hints(own, include_extras=True)[key])

    def lower(value: Any) -> Any:
        try:
            return part.lower(getattr(value, key))
        except WrongType as mistake:
            raise mistake.inside(f".{key}") from None

    return lambda value: own(value if part.lift is None else part.lift(value)), lower


def _variant(module: Any, name: str, owns: dict[str, Any]) -> Codec:
    cases = _cases(module, name)
    words = {_word(key): case for key, case in cases.items() if key not in owns and key != "Other"}
    other = None if "Other" in owns else cases.get("Other")
    lifts: dict[Any, Callable[[Any], Any]] = {case: _constant(word) for word, case in words.items()}
    lowers: dict[Any, Callable[[Any], Any]] = {}
    if other is not None:
        lifts[other] = lambda value: value.value
    for key, own in owns.items():
        lifts[cases[key]], lowers[own] = _case(own, cases[key])
    wanted = " or ".join([*(repr(word) for word in words), *(f"a {own.__name__}" for own in owns.values())])

    def lower(value: Any) -> Any:
        one = lowers.get(type(value))
        if one is not None:
            return one(value)
        if isinstance(value, str):
            if value in words:
                return words[value]()
            if other is not None:
                return other(_lower_text(value))
        raise WrongType(wanted, value)

    return Codec(lambda value: lifts[type(value)](value), lower)


def _constant(word: str) -> Callable[[Any], Any]:
    return lambda _: word


def _case(own: Any, generated: Any) -> tuple[Callable[[Any], Any], Callable[[Any], Any]]:
    make, unmake = _payload(own)
    if dataclasses.fields(generated):
        return lambda value: make(value.value), lambda value: generated(unmake(value))
    return lambda value: own(), lambda value: generated()


def _error(own: Any, interface: str, name: str) -> Codec:
    """Variants of errors as exceptions with the case's word and its text."""
    cases = _cases(raw(interface), name)
    words = {case: _word(key) for key, case in cases.items()}

    def lift(value: Any) -> Any:
        return own(words[type(value)], getattr(value, "value", ""))

    def lower(value: Any) -> Any:
        raise WrongType("no error", value)

    return Codec(lift, lower)


def _value() -> Codec:
    cases = _cases(raw("types"), "Value")
    strings = {cases["Decimal"]: t.Decimal, cases["Temporal"]: t.Temporal, cases["Other"]: t.OtherValue}

    def lift(value: Any) -> Any:
        inner = getattr(value, "value", None)
        own = strings.get(type(value))
        return inner if own is None else own(inner)

    def lower(value: Any) -> Any:
        raise WrongType("no cell", value)

    return Codec(lift, lower)


def _trial() -> Codec:
    words = {case: _word(key) for key, case in _cases(raw("rewriter"), "Trial").items()}

    def lift(value: Any) -> Any:
        word, inner = words[type(value)], getattr(value, "value", None)
        if word == "other":
            return t.Trial(str(inner))
        return t.Trial(word, inner if isinstance(inner, float) else None, inner if isinstance(inner, str) else None)

    def lower(value: Any) -> Any:
        raise WrongType("no trial", value)

    return Codec(lift, lower)


# Handles


class Handle:
    """A thing that lives in the host."""

    def __init__(self, raw: Any) -> None:
        self._raw = raw

    @property
    def raw(self) -> Any:
        """The generated handle. Raises `ValueError` after `close`."""
        if self._raw is None:
            raise ValueError("the handle was closed")
        return self._raw

    def close(self) -> None:
        """Drops the handle; a second call does nothing."""
        handle, self._raw = self._raw, None
        if handle is not None:
            handle.__exit__(None, None, None)

    def __enter__(self) -> Any:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class HostResultSet(Handle):
    """A result in the host: the `ResultSet` of a component."""

    def profile(self) -> t.Profile:
        """The shape of the result."""
        made: t.Profile = codec(t.Profile).lift(self.raw.profile())
        return made

    def fingerprint(self, under: str = "bag") -> Any:
        """A text that is equal for equal results of the same run."""
        return self.raw.fingerprint(codec(t.Equality).lower(under))


def _result_set() -> Codec:
    def lower(value: Any) -> Any:
        if not isinstance(value, HostResultSet):
            raise WrongType("a ResultSet of the host", value)
        return value.raw

    return Codec(HostResultSet, lower)
