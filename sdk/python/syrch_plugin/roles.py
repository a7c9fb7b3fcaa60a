"""The base class of plugins, and what a role's method gets."""

from __future__ import annotations

from typing import Any, Optional, get_type_hints

from .settings import NoSettings, Settings
from .ports import (
    AggregatorHost,
    ClarifierHost,
    LinkerHost,
    PlannerHost,
    RewardHost,
    RewriterHost,
    SolverHost,
)
from .types import (
    Answer,
    Attempt,
    Catalog,
    Finished,
    Graph,
    Linked,
    Observation,
    Outcome,
    Parent,
    Plan,
    Problem,
    Proposal,
    Question,
    Rival,
    Signals,
    Step,
    Task,
    U32,
    Verdict,
)


class Plugin:
    """A plugin: a class with a name, settings, and the methods of its roles, whose signatures the classes of this module show.

    A new value is made before each role call, and nothing survives the call: state is passed in values, such as `graph.memo`.
    """

    name: str = ""
    version: str = "0.1.0"
    summary: str = ""
    settings: Any = NoSettings()

    def __init__(self, settings: Optional[Settings] = None) -> None:
        self.settings = self.settings_type()() if settings is None else settings

    @classmethod
    def settings_type(cls) -> type[Settings]:
        """The type with which the class annotates its `settings`."""
        hint = get_type_hints(cls).get("settings")
        return hint if isinstance(hint, type) and issubclass(hint, Settings) else NoSettings


class Linker(Plugin):
    """Selects the part of a large catalog that a question needs."""

    def link(self, host: LinkerHost, problem: Problem, catalog: Catalog) -> Linked:
        """The tables worth showing, most relevant first; without a table the catalog stays as it is."""
        raise NotImplementedError


class Planner(Plugin):
    """Makes a graph of tasks from a question."""

    def plan(self, host: PlannerHost, problem: Problem, catalog: Catalog) -> Graph:
        """The first graph."""
        raise NotImplementedError

    def next(
        self, host: PlannerHost, problem: Problem, catalog: Catalog, graph: Graph, seen: list[Observation], fresh: U32
    ) -> Step:
        """Called after each observation; `seen[fresh:]` are new. Without this method the graph stays as it is."""
        return Step(memo=graph.memo)


class Solver(Plugin):
    """Finds statements that solve one task."""

    def solve(self, host: SolverHost, problem: Problem, catalog: Catalog, task: Task, parents: list[Parent]) -> Outcome:
        """The candidates, best first; an outcome without a candidate is valid."""
        raise NotImplementedError


class Calibrator(Plugin):
    """Turns stated confidences into probabilities. It reaches no port."""

    def calibrate(self, claims: list[tuple[float, Signals]]) -> list[float]:
        """One number of 0 to 1 for each (raw confidence, signals), in order."""
        raise NotImplementedError


class Reward(Plugin):
    """Judges all candidates of one task at once."""

    def judge(self, host: RewardHost, problem: Problem, catalog: Catalog, task: Task, rivals: list[Rival]) -> list[Verdict]:
        """One verdict for each rival, in order."""
        raise NotImplementedError


class Clarifier(Plugin):
    """Decides what to ask the user."""

    def assess(
        self, host: ClarifierHost, problem: Problem, catalog: Catalog, graph: Graph, seen: list[Observation]
    ) -> list[Question]:
        """The questions, the most useful first; none if an answer would not help."""
        raise NotImplementedError


class Aggregator(Plugin):
    """Makes the answer from the finished tasks."""

    def aggregate(
        self, host: AggregatorHost, problem: Problem, graph: Graph, finished: list[Finished], seen: list[Observation]
    ) -> Optional[Answer]:
        """The answer; none if nothing here answers the question."""
        raise NotImplementedError


class Rewriter(Plugin):
    """Proposes other statements with the same result, for the verified optimizer. It runs nothing and sees no row."""

    def rewrite(
        self, host: RewriterHost, original: str, best: str, plan: Plan, catalog: Catalog, history: list[Attempt]
    ) -> Optional[Proposal]:
        """Another statement, made from `original` or from `best`, whose plan is `plan`; none when there is nothing more to propose."""
        raise NotImplementedError


#: Each role with its class; the methods are those that the class defines.
ROLES: dict[str, type[Plugin]] = {
    "linker": Linker,
    "planner": Planner,
    "solver": Solver,
    "calibrator": Calibrator,
    "reward": Reward,
    "clarifier": Clarifier,
    "aggregator": Aggregator,
    "rewriter": Rewriter,
}
