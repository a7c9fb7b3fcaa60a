"""Natural-language questions over databases, answered by search, with calibrated confidence.

One call::

    from syrch_host import query

    found = query("How many customers are there?", db="shop.sqlite")
    print(found.answer, found.sql, found.confidence)

A :class:`Host` is open for many questions: ``await host.query(...)``, ``host.ask(...)``,
``host.batch(...)``. :func:`benchmark` and :func:`compare` grade strategies on suites of questions.
"""

from __future__ import annotations

from . import errors
from ._databases import Database
from ._host import Ask, Host, Model, query
from ._native import __version__
from ._options import HostOptions, SearchOptions
from ._result import Candidate, Cost, Data, Result
from ._runs import Report, benchmark, compare
from .errors import (
    BudgetExceeded,
    ClarificationNeeded,
    ConfigurationError,
    DatabaseError,
    Denied,
    Interrupted,
    ModelError,
    NoAnswer,
    PluginFailed,
    PluginRejected,
    ReplayMiss,
    SyrchError,
    SyrchWarning,
    UsageError,
)

__all__ = [
    "Ask",
    "BudgetExceeded",
    "Candidate",
    "ClarificationNeeded",
    "ConfigurationError",
    "Cost",
    "Data",
    "Database",
    "DatabaseError",
    "Denied",
    "Host",
    "HostOptions",
    "Interrupted",
    "Model",
    "ModelError",
    "NoAnswer",
    "PluginFailed",
    "PluginRejected",
    "ReplayMiss",
    "Report",
    "Result",
    "SearchOptions",
    "SyrchError",
    "SyrchWarning",
    "UsageError",
    "__version__",
    "benchmark",
    "compare",
    "errors",
    "query",
]
