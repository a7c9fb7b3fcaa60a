"""A planner and a solver in Python: one task with the problem's question, one statement for it."""

from componentize_py_types import Err
from wit_world import exports
from wit_world.exports.about import Identity
from wit_world.exports.planner import Step
from wit_world.exports.solver import Outcome, Parent
from wit_world.imports import run, sql, trace
from wit_world.imports.types import (
    Candidate,
    Catalog,
    Failure,
    FailureKind_Database,
    Graph,
    Join_AllOf,
    Observation,
    Operation_Solve,
    Problem,
    Profile,
    Signals,
    SqlError,
    Task,
)

NAME = "toolchain-python"
STATEMENT = "SELECT 1 AS n"


class About(exports.About):
    def describe(self) -> Identity:
        return Identity(
            name=NAME,
            version="0.1.0",
            summary="one task and one statement, from Python",
            config_schema='{"type":"object","additionalProperties":false}',
        )

    def configure(self, config: str) -> None:
        pass


class Planner(exports.Planner):
    def plan(self, problem: Problem, catalog: Catalog) -> Graph:
        task = Task(
            id="answer",
            parent=None,
            text=problem.question,
            operation=Operation_Solve(),
            depends_on=[],
            join=Join_AllOf(),
            tolerant=False,
            priority=1.0,
            confidence=None,
            expected=None,
            database=None,
            context=None,
        )
        return Graph(tasks=[task], answer=task.id, memo=None)

    def next(
        self, problem: Problem, catalog: Catalog, graph: Graph, seen: list[Observation], fresh: int
    ) -> Step:
        return Step(edits=[], memo=graph.memo)


class Solver(exports.Solver):
    def solve(self, problem: Problem, catalog: Catalog, task: Task, parents: list[Parent]) -> Outcome:
        try:
            results = sql.run(STATEMENT)
        except Err as error:
            raise refused(error.value) from None
        # Leaving the block drops the handle; the collector might do so too late.
        with results:
            profile = results.profile()
        candidate = Candidate(
            id="python-1",
            parents=[],
            origin=NAME,
            sql=STATEMENT,
            raw_confidence=0.5,
            confidence=None,
            score=None,
            rationale="always the same statement",
            signals=signals(profile, run.current_policy().max_attempts),
            extra=[],
        )
        trace.propose(candidate)
        return Outcome(candidates=[candidate], subtasks=[], ask=None, memo=None)


def signals(profile: Profile, max_attempts: int) -> Signals:
    """What happened: one attempt, which ran."""
    return Signals(
        attempts=1,
        max_attempts=max_attempts,
        syntax_errors=0,
        schema_errors=0,
        execution_errors=0,
        empty_result=profile.rows == 0,
        null_columns=sum(profile.rows > 0 and column.nulls == profile.rows for column in profile.columns),
        overflow=profile.truncated,
        samples=0,
        agreeing=0,
        logprob=None,
        reward=None,
        extra=[],
    )


def refused(error: SqlError) -> Err[Failure]:
    return Err(Failure(kind=FailureKind_Database(), message=f"{STATEMENT}: {error.message}", retryable=False))
