"""The ports as protocols, and for each role the protocol that has exactly its ports.

`wit/ports.wit` is the contract of each function; the texts here state what differs in Python: an error is raised, or stands in the list of
a function that makes several calls. `Host` implements the protocols in a component, and `fakes.FakeHost` in tests.
"""

from __future__ import annotations

from typing import Any, Optional, Protocol, Union

from .errors import ModelError, PortError, SqlError
from .types import (
    U32,
    U64,
    Budget,
    Candidate,
    ColumnStats,
    Equality,
    F32,
    Facts,
    Hit,
    Level,
    Match,
    Page,
    Plan,
    Policy,
    Reply,
    Request,
    ResultSet,
    RetrievalQuery,
    Sample,
    Signals,
    Verdict,
)


class Call(Protocol):
    """A call in flight."""

    def ticket(self) -> int:
        """The number to pass to `any`."""
        ...

    def cancel(self) -> None:
        """Cancels the call now."""
        ...

    def close(self) -> None:
        """Drops the handle, which cancels a call that has not ended; a second call does nothing."""
        ...


class PendingReply(Call, Protocol):
    """A model call in flight."""

    def get(self) -> Union[Reply, ModelError, None]:
        """None while the call is in flight; afterwards the same reply or error each time."""
        ...


class RunningStatement(Call, Protocol):
    """A statement in flight."""

    def take(self) -> Union[ResultSet, SqlError, None]:
        """Moves the result or the error to the caller, once. None while the statement is in flight, and after it was taken."""
        ...


class Judging(Call, Protocol):
    """A judgement in flight."""

    def get(self) -> Union[list[Verdict], PortError, None]:
        """None while the judgement is in flight; afterwards the same verdicts or error each time."""
        ...


class Run(Protocol):
    """The facts of the run. Nothing here fails."""

    def policy(self) -> Policy:
        """What the user asked for, clamped by the host."""
        ...

    def setting(self, name: str) -> Any:
        """A further setting of the user's, by name, as a Python value; none if it was not given."""
        ...

    def remaining(self) -> Budget:
        """What the search may still spend."""
        ...

    def seed(self) -> U64:
        """A number for shuffles and samples: the same run gives the same number."""
        ...


class Wait(Protocol):
    """Waiting for any mix of calls in flight, and for time to pass."""

    def any(self, tickets: list[U32]) -> list[U32]:
        """Waits until at least one ticket is ready, and returns those that are, in the given order."""
        ...

    def pause(self, milliseconds: U32) -> None:
        """Waits that long: a minute at most, and five minutes in one call of the role."""
        ...


class Llm(Protocol):
    """Language models."""

    def models(self) -> list[str]:
        """The names that `request.model` may have."""
        ...

    def complete(self, request: Request) -> Reply:
        """Sends a request and waits for the reply. Raises `ModelError`."""
        ...

    def complete_all(self, requests: list[Request]) -> list[Union[Reply, ModelError]]:
        """Sends the requests concurrently; replies and errors have the order of the requests."""
        ...

    def start_reply(self, request: Request) -> PendingReply:
        """Sends a request without waiting."""
        ...


class Inspect(Protocol):
    """Syntax, facts of the catalog, plans and statistics. Nothing here reads a row."""

    def check(self, text: str) -> Facts:
        """Parses one statement and resolves its names, without running it. Raises `SqlError`."""
        ...

    def explain(self, text: str) -> Plan:
        """The engine's plan of a statement, which is not run. Raises `SqlError`."""
        ...

    def column_stats(self, table: str, columns: list[str]) -> list[ColumnStats]:
        """Statistics of a table's columns. Raises `PortError`."""
        ...


class Sql(Protocol):
    """Running statements."""

    def run(self, text: str) -> ResultSet:
        """Runs one read-only statement. Raises `SqlError`."""
        ...

    def run_all(self, texts: list[str]) -> list[Union[ResultSet, SqlError]]:
        """Runs statements concurrently; results and errors have the order of the texts."""
        ...

    def start_statement(self, text: str) -> RunningStatement:
        """Starts a statement without waiting."""
        ...


class Rows(Protocol):
    """Cells of a result, under the user's grant."""

    def read(self, results: ResultSet, offset: U64, limit: U32) -> Page:
        """Rows from `offset` on: at most `limit`, and at most those that the grant allows. Raises `PortError`."""
        ...


class Cells(Protocol):
    """Cells of the tables, under the same grant."""

    def samples(self, table: str, columns: list[str], limit: U32) -> list[Sample]:
        """The least, greatest and most frequent values of columns. Raises `PortError`."""
        ...

    def find(self, phrases: list[str], how: Match, limit: U32) -> list[list[Hit]]:
        """The cells that match, one list for each phrase, best first. Raises `PortError`."""
        ...


class Evaluate(Protocol):
    """The calibrator and the reward of this search."""

    def calibrate(self, claims: list[tuple[float, Signals]]) -> list[float]:
        """The calibrated confidence of each (raw confidence, signals). Raises `PortError`."""
        ...

    def reward(self, candidates: list[Candidate]) -> list[Verdict]:
        """One verdict for each candidate, judged together. Raises `PortError`."""
        ...

    def start_reward(self, candidates: list[Candidate]) -> Judging:
        """Starts a judgement without waiting."""
        ...


class Search(Protocol):
    """Retrieval over names, descriptions, notes and solved examples; never over cells."""

    def retrieve(self, query: RetrievalQuery) -> list[Hit]:
        """The hits of a query, best first. Raises `PortError`."""
        ...

    def retrieve_all(self, queries: list[RetrievalQuery]) -> list[Union[list[Hit], PortError]]:
        """Runs at most 64 queries concurrently; hits and errors have the order of the queries."""
        ...

    def embed(self, texts: list[str]) -> list[list[F32]]:
        """Vectors of at most 256 texts, of length 1. Raises `PortError`."""
        ...


class Trace(Protocol):
    """What people see of the search. Nothing here fails."""

    def note(self, level: Level, message: str) -> None:
        """A line of the log."""
        ...

    def propose(self, candidate: Candidate) -> None:
        """A candidate exists. Call it before `keep`, `discard` or `event` name the candidate."""
        ...

    def keep(self, candidate: str, reason: str) -> None:
        """The candidate was chosen, and why."""
        ...

    def discard(self, candidate: str, reason: str) -> None:
        """The candidate was not chosen, and why."""
        ...

    def event(self, candidate: Optional[str], name: str, data: Any) -> None:
        """A step of the strategy's own, with a Python value that JSON can hold."""
        ...


class LinkerHost(Run, Wait, Llm, Inspect, Cells, Search, Trace, Protocol):
    """What a linker may reach."""


class PlannerHost(Run, Wait, Llm, Inspect, Search, Trace, Protocol):
    """What a planner may reach."""


class SolverHost(Run, Wait, Llm, Inspect, Sql, Rows, Cells, Evaluate, Search, Trace, Protocol):
    """What a solver may reach."""


class RewardHost(Run, Wait, Llm, Inspect, Sql, Rows, Cells, Trace, Protocol):
    """What a reward may reach."""


class ClarifierHost(Run, Wait, Llm, Trace, Protocol):
    """What a clarifier may reach."""


class AggregatorHost(Run, Wait, Llm, Sql, Rows, Trace, Protocol):
    """What an aggregator may reach."""


class RewriterHost(Run, Wait, Llm, Inspect, Trace, Protocol):
    """What a rewriter may reach. Its `check` knows the tables of the original statement only."""
