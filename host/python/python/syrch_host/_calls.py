"""Calls of the program's functions on other threads, which have some time to return at the end."""

from __future__ import annotations

import atexit
import functools
import threading
from collections.abc import Callable
from typing import Any, TypeVar

from .errors import SOURCE

_SECONDS = 2.0
_returned = threading.Condition()
_running = 0

_Function = TypeVar("_Function", bound=Callable[..., Any])


def count(function: _Function) -> _Function:
    """Returns a function whose calls are waited for before the interpreter ends.

    A thread that comes back to the interpreter at that moment ends the process. What it raises
    remembers the ``source`` of its first argument, if that has one.
    """

    def call(*arguments: Any) -> Any:
        global _running
        with _returned:
            _running += 1
        try:
            return function(*arguments)
        except BaseException as error:
            source = getattr(arguments[0], "source", None) if arguments else None
            if isinstance(source, str) and hasattr(error, "__dict__"):
                error.__dict__[SOURCE] = source
            raise
        finally:
            with _returned:
                _running -= 1
                _returned.notify_all()

    # The name of a model is that of its function, if it has one.
    name = getattr(function, "__name__", "python")
    functools.update_wrapper(call, function)
    call.__name__ = name
    return call  # type: ignore[return-value]


@atexit.register
def _wait() -> None:
    with _returned:
        _returned.wait_for(lambda: _running == 0, _SECONDS)
