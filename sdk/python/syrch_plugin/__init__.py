"""Write plugins for syrch-host in plain Python.

A plugin is a class with the methods of its roles, and one line that exports it:

    from syrch_plugin import Accepted, Rejected, Reward, export

    class HasRows(Reward):
        name = "has-rows"
        summary = "accepts a result that has rows"

        def judge(self, host, problem, catalog, task, rivals):
            return [Accepted() if rival.results.profile().rows else Rejected(reason="no rows") for rival in rivals]

    export(HasRows)
"""

from . import types
from .ask import Ask
from .errors import Failure, HostError, ModelError, PortError, SqlError
from .export import export, roles_of
from .ports import (
    AggregatorHost,
    ClarifierHost,
    Judging,
    LinkerHost,
    PendingReply,
    PlannerHost,
    RewardHost,
    RewriterHost,
    RunningStatement,
    SolverHost,
)
from .roles import Aggregator, Calibrator, Clarifier, Linker, Planner, Plugin, Reward, Rewriter, Solver
from .settings import NoSettings, Settings, SolverSettings, setting
from .text import json_text, json_value
from .types import *

__all__ = [
    "Aggregator",
    "AggregatorHost",
    "Ask",
    "Calibrator",
    "Clarifier",
    "ClarifierHost",
    "Failure",
    "HostError",
    "Judging",
    "Linker",
    "LinkerHost",
    "ModelError",
    "NoSettings",
    "PendingReply",
    "Planner",
    "PlannerHost",
    "Plugin",
    "PortError",
    "Reward",
    "RewardHost",
    "Rewriter",
    "RewriterHost",
    "RunningStatement",
    "Settings",
    "Solver",
    "SolverHost",
    "SolverSettings",
    "SqlError",
    "export",
    "json_text",
    "json_value",
    "roles_of",
    "setting",
]
__all__ += types.__all__
