"""Waiting for work of the native half, in threads and in asyncio."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from typing import Any

from . import _native
from ._result import Data, Result
from .errors import ConfigurationError, SyrchError, make_error

ANSWERED = "answered"


def start(begin: Callable[..., _native.Task], *arguments: object) -> _native.Task:
    """Starts work of the native half.

    Raises:
        ConfigurationError: If it cannot read an option.
    """
    try:
        return begin(*arguments)
    except (OverflowError, ValueError) as error:
        raise ConfigurationError(str(error)) from None


def wait(task: _native.Task) -> _native.Outcome:
    """Waits without holding the interpreter's lock. Ctrl-C cancels the work."""
    task.wait()
    return _take(task)


async def wait_async(task: _native.Task) -> _native.Outcome:
    """Waits in asyncio. Cancelling the coroutine cancels the work."""
    loop = asyncio.get_running_loop()
    ended = loop.create_future()

    def finish() -> None:
        if not ended.done():
            ended.set_result(None)

    def wake() -> None:
        try:
            loop.call_soon_threadsafe(finish)
        except RuntimeError:
            pass  # The loop is closed: nobody waits any more.

    task.on_end(wake)
    try:
        await ended
    except asyncio.CancelledError:
        task.cancel()
        raise
    return _take(task)


def _take(task: _native.Task) -> _native.Outcome:
    outcome = task.take()
    if outcome is None:
        raise RuntimeError("the outcome was taken already")
    return outcome


def read_document(outcome: _native.Outcome) -> dict[str, Any] | None:
    """Returns the document of an outcome."""
    return None if outcome[2] is None else json.loads(outcome[2])


def error_of(outcome: _native.Outcome) -> SyrchError:
    """Makes the exception of an outcome that is none of an answer."""
    return make_error(outcome[0], outcome[1], read_document(outcome), outcome[4])


def result_of(outcome: _native.Outcome) -> Result:
    """Makes the result of an outcome.

    Raises:
        SyrchError: If it is none of an answer.
    """
    document = read_document(outcome)
    if outcome[0] != ANSWERED or document is None:
        raise make_error(outcome[0], outcome[1], document, outcome[4])
    return Result.from_document(document, Data(outcome[3]))
