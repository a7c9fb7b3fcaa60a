"""The exceptions of this package. Each mirrors an exit code of the command line."""

from __future__ import annotations

from typing import Any

from ._text import reveal

__all__ = [
    "BudgetExceeded",
    "ClarificationNeeded",
    "ConfigurationError",
    "DatabaseError",
    "Denied",
    "Interrupted",
    "ModelError",
    "NoAnswer",
    "PluginFailed",
    "PluginRejected",
    "ReplayMiss",
    "SyrchError",
    "SyrchWarning",
    "UsageError",
]


# The attribute of an exception that names the database that raised it.
SOURCE = "_syrch_source"


class SyrchWarning(UserWarning):
    """What a database that the program gave cannot promise."""


class SyrchError(Exception):
    """An error of the host; also the class of errors that are nobody's fault (exit code 1).

    What a model, a database or another function of the program raised is its ``__cause__``.

    Attributes:
        message: What happened, for people.
        document: The document of the search or the run so far, or ``None``.
        exit_code: The exit code of the command line for this class of error.
        name: The name of the class in ``syrch.error/1``.
    """

    exit_code = 1
    name = "unexpected"

    def __init__(self, message: str, document: dict[str, Any] | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.document = document


class UsageError(SyrchError):
    """A run or a journal that does not exist was named."""

    exit_code = 2
    name = "usage"


class NoAnswer(SyrchError):
    """No acceptable answer was found. ``document`` has every candidate with the reason."""

    exit_code = 3
    name = "no-answer"


class ClarificationNeeded(SyrchError):
    """The question can mean several things.

    Attributes:
        question: The question that the user should be asked.
        choices: Answers to choose from. If there are none, any text is an answer.
    """

    exit_code = 4
    name = "clarification-needed"

    def __init__(self, message: str, document: dict[str, Any] | None = None) -> None:
        super().__init__(message, document)
        clarify = (document or {}).get("clarify") or {}
        self.question: str = clarify.get("question", message)
        self.choices: list[str] = clarify.get("choices", [])


class ConfigurationError(SyrchError, ValueError):
    """An option, a strategy or a suite is wrong."""

    exit_code = 10
    name = "configuration"


class DatabaseError(SyrchError):
    """The database, or a statement on it, failed."""

    exit_code = 11
    name = "database"


class ModelError(SyrchError):
    """The model failed."""

    exit_code = 12
    name = "model"


class PluginRejected(SyrchError):
    """A plugin was rejected when it was loaded."""

    exit_code = 13
    name = "plugin-rejected"


class PluginFailed(SyrchError):
    """A plugin trapped, hit a limit or returned nonsense."""

    exit_code = 14
    name = "plugin-failed"


class Denied(SyrchError):
    """Denied by the guard or by a grant."""

    exit_code = 15
    name = "denied"


class BudgetExceeded(SyrchError):
    """A budget, or the deadline, was used up."""

    exit_code = 16
    name = "budget"


class ReplayMiss(SyrchError):
    """A replay lacks a recording."""

    exit_code = 17
    name = "replay-miss"


class Interrupted(SyrchError):
    """The search was stopped before there was an answer."""

    exit_code = 130
    name = "interrupted"


_BY_NAME: dict[str, type[SyrchError]] = {
    kind.name: kind
    for kind in (
        SyrchError,
        UsageError,
        NoAnswer,
        ClarificationNeeded,
        ConfigurationError,
        DatabaseError,
        ModelError,
        PluginRejected,
        PluginFailed,
        Denied,
        BudgetExceeded,
        ReplayMiss,
        Interrupted,
    )
}


def make_error(
    name: str,
    message: str,
    document: dict[str, Any] | None,
    cause: BaseException | None = None,
) -> SyrchError:
    """Makes the exception of a class of errors."""
    source = getattr(cause, SOURCE, None)
    if isinstance(source, str) and source not in message:
        message = f"{message}; {source} raised {type(cause).__name__}"
    error = _BY_NAME.get(name, SyrchError)(reveal(message), document)
    if cause is not None:
        error.__cause__ = cause
    return error
