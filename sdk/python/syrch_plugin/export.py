"""Making a component of plugin classes: `export(Short)` at the end of the main source file."""

from __future__ import annotations

import linecache
import os
import sys
import traceback
from importlib import import_module
from itertools import groupby
from typing import Any, Callable, NoReturn, get_type_hints

from . import wire
from .errors import Failure, HostError
from .host import make_host
from .roles import ROLES, Planner, Plugin
from .settings import merged_schema, read_each
from .text import json_text

# A component has no files when it runs: what the standard library imports late has to be there before.
_EARLY = ["heapq", "bisect", "traceback", "linecache", "tokenize", "copy", "textwrap"]


def export(*plugins: type[Plugin]) -> None:
    """Exports the roles of these classes as one component. In a native Python it does nothing, so that tests may import the file.

    The first class gives the name, the version and the summary. The plugin has the settings of all classes; each class gets its own.
    """
    for plugin in plugins:
        if not (isinstance(plugin, type) and issubclass(plugin, Plugin) and roles_of(plugin)):
            raise TypeError(f"export takes plugin classes with the methods of a role, not {plugin!r}")
    if not plugins or not plugins[0].name:
        raise TypeError("export takes at least one plugin class, and the first one needs a `name`")
    try:
        exports = import_module("wit_world.exports")
    except ImportError:
        return
    component = Component(plugins)
    app = sys._getframe(1).f_globals
    for name in _EARLY:
        try:
            import_module(name)
        except ImportError:
            pass  # This build of Python does not have it.
    app["About"] = _class("About", {"describe": component.describe, "configure": component.configure})
    for role, declared in ROLES.items():
        if hasattr(exports, declared.__name__):
            app[declared.__name__] = component.role(role, declared)
    _remember_sources()


def roles_of(plugin: type[Plugin]) -> list[str]:
    """The roles that a class implements: those whose first method it defines."""
    return [role for role, declared in ROLES.items() if _implements(plugin, declared)]


def _implements(plugin: type[Plugin], declared: type[Plugin]) -> bool:
    first = _methods(declared)[0]
    return getattr(plugin, first, None) not in (None, getattr(declared, first))


def _methods(declared: type[Plugin]) -> list[str]:
    return [name for name, value in vars(declared).items() if callable(value) and not name.startswith("_")]


def _class(name: str, methods: dict[str, Callable[..., Any]]) -> type:
    """The class that componentize-py expects under this name in the main module."""
    return type(name, (), {key: _bound(function) for key, function in methods.items()})


def _bound(function: Callable[..., Any]) -> Callable[..., Any]:
    return lambda self, *arguments: function(*arguments)


class Component:
    """The plugin classes, and the settings of the present role call."""

    def __init__(self, plugins: tuple[type[Plugin], ...]) -> None:
        self.plugins = plugins
        self.err = import_module("componentize_py_types").Err
        self.failure = wire.codec(Failure)
        self.host = make_host()
        self.types = list(dict.fromkeys(plugin.settings_type() for plugin in plugins))
        self.schema = merged_schema(self.types)
        self.config = ""

    def describe(self) -> Any:
        """`about.describe`."""
        first = self.plugins[0]
        schema = json_text(self.schema)
        return wire.raw("about").Identity(name=first.name, version=first.version, summary=first.summary, config_schema=schema)

    def configure(self, config: str) -> None:
        """`about.configure`: reads the settings of the role call that follows."""
        try:
            read_each(self.types, config)
            self.config = config
        except ValueError as mistake:
            raise self._err(Failure(f"{self.plugins[0].name}: {mistake}", "input")) from None

    def role(self, role: str, declared: type[Plugin]) -> type:
        """The class of a role, whose methods call the plugin's."""
        plugin = next((plugin for plugin in self.plugins if _implements(plugin, declared)), None)
        if plugin is None:
            raise TypeError(f"the plugin has the role {role}, but no exported class has its method `{_methods(declared)[0]}`")
        return _class(declared.__name__, {name: self._method(plugin, declared, name) for name in _methods(declared)})

    def _method(self, plugin: type[Plugin], declared: type[Plugin], name: str) -> Callable[..., Any]:
        hints = get_type_hints(getattr(declared, name), include_extras=True)
        ended = wire.codec(hints.pop("return"))
        has_host = hints.pop("host", None) is not None
        lifts = [wire.codec(hint).lift for hint in hints.values()]
        # A planner need not have `next`.
        function = getattr(plugin, name, None) or getattr(declared, name)

        def method(*given: Any) -> Any:
            try:
                arguments = [value if lift is None else lift(value) for lift, value in zip(lifts, given)]
                made: Any = plugin(read_each(self.types, self.config)[plugin.settings_type()])
                return ended.lower(function(made, *([self.host] if has_host else []), *arguments))
            except BaseException as error:
                if not has_host:
                    _end(error)
                raise self._err(self._failure(error, f"{plugin.__name__}.{name}")) from None

        return method

    def _failure(self, error: BaseException, place: str) -> Failure:
        if isinstance(error, Failure):
            return error
        if isinstance(error, HostError):
            return error.failure()
        self.host.note("debug", _stack(error))
        if isinstance(error, wire.WrongType):
            return Failure(f"{place} returned a wrong value: {error}")
        return Failure(_words(error))

    def _err(self, failure: Failure) -> Any:
        try:
            return self.err(self.failure.lower(failure))
        except wire.WrongType as mistake:
            return self.err(self.failure.lower(Failure(f"a wrong failure: {mistake}")))


def _words(error: BaseException) -> str:
    """The message of an exception. Its type is a part of it unless it is one that says nothing."""
    text = str(error)
    if isinstance(error, ImportError):
        text += " (a component has no files: import the module at the top of the main source file)"
    if type(error) in (Exception, RuntimeError) and text:
        return text
    return f"{type(error).__name__}: {text}" if text else type(error).__name__


# The most characters of a stack: a line of the log holds 2 KiB.
_STACK = 1800


def _stack(error: BaseException) -> str:
    """The author's part of the stack, with the error at its end."""
    own = os.path.dirname(__file__)
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if not frame.filename.startswith(own)]
    places = [f"{os.path.basename(frame.filename)}:{frame.lineno} in {frame.name}: {frame.line}" for frame in frames]
    lines = [line if times == 1 else f"{line} ({times} times)" for line, times in _folded(places)]
    text = "\n".join([*lines, *traceback.format_exception_only(type(error), error)]).rstrip()
    return text if len(text) <= _STACK else "…" + text[-_STACK:]


def _folded(lines: list[str]) -> list[tuple[str, int]]:
    return [(line, len(list(equal))) for line, equal in groupby(lines)]


def _end(error: BaseException) -> NoReturn:
    """Ends a call that can neither fail nor log: the host shows what was printed."""
    sys.stderr.write(_stack(error) + "\n")
    sys.stderr.flush()
    os._exit(1)


def _remember_sources() -> None:
    """Reads the plugin's own sources into the cache of stacks, while there are files."""
    others = (os.path.dirname(os.__file__), os.path.dirname(__file__))
    for name, module in list(sys.modules.items()):
        path = getattr(module, "__file__", None)
        is_made = name.startswith(("wit_world", "componentize_py"))
        if path and path.endswith(".py") and not path.startswith(others) and not is_made:
            lines = linecache.getlines(path)
            # Without a time of change the cache does not look for the file.
            linecache.cache[path] = (sum(map(len, lines)), None, lines, path)


__all__ = ["export", "roles_of"]
