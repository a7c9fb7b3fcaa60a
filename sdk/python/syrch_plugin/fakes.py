"""A host for unit tests: scripted models, databases and judges, and a record of all requests and log entries.

>>> from syrch_plugin.ask import Ask
>>> host = FakeHost()
>>> host.model.reply_sql("SELECT 1", 0.9)
>>> host.complete(Ask("generate").user("one, please").sql()).text
'SELECT 1'
>>> len(host.model.requests)
1
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field, replace
from itertools import count
from typing import Any, Callable, Optional, Sequence, Union

from .errors import ModelError, PortError, SqlError
from .roles import Rewriter
from .text import json_text
from .types import (
    Attempt,
    Budget,
    Candidate,
    Catalog,
    Column,
    ColumnProfile,
    ColumnStats,
    Compiled,
    Facts,
    Hit,
    Page,
    Plan,
    Policy,
    Profile,
    Proposal,
    Reply,
    Request,
    ResultSet,
    RetrievalQuery,
    Sample,
    Signals,
    Trial,
    Unavailable,
    Usage,
    Verdict,
)


class FakeRows:
    """A result that a test made, with these columns and rows; `counted` states another number of rows, for results too long to write."""

    def __init__(self, columns: Sequence[str], rows: Sequence[Sequence[Any]], counted: Optional[int] = None) -> None:
        self.columns = list(columns)
        self.rows = [list(row) for row in rows]
        self.counted = len(rows) if counted is None else counted
        self.is_closed = False

    def profile(self) -> Profile:
        """The shape, counted from the rows."""
        columns = [
            ColumnProfile(Column(name, nullable=True), nulls=sum(row[place] is None for row in self.rows))
            for place, name in enumerate(self.columns)
        ]
        return Profile(self.counted, columns=columns)

    def fingerprint(self, under: str = "bag") -> Optional[str]:
        """A text that is equal for equal rows."""
        rows = [repr(row) for row in self.rows]
        if under == "set":
            rows = list(dict.fromkeys(rows))
        if under in ("bag", "set"):
            rows.sort()
        return "\n".join(rows) if under in ("bag", "set", "ordered") else None

    def close(self) -> None:
        """Notes that the plugin closed the handle."""
        self.is_closed = True

    def __enter__(self) -> FakeRows:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


_TICKETS = count()


class FakeCall:
    """A call that has already ended."""

    def __init__(self, ended: Any) -> None:
        self._ended = ended
        self._ticket = next(_TICKETS)
        self.is_cancelled = False

    def ticket(self) -> int:
        """A number of its own."""
        return self._ticket

    def cancel(self) -> None:
        """Notes that the plugin cancelled the call."""
        self.is_cancelled = True

    def close(self) -> None:
        """Does nothing."""

    def get(self) -> Any:
        """What the call ended with."""
        return ModelError("cancelled") if self.is_cancelled else self._ended

    def take(self) -> Any:
        """What the call ended with, once."""
        ended, self._ended = self._ended, None
        return ended


def fake_reply(text: str, parsed: Any = None) -> Reply:
    """A reply with that text and that parsed document, of ten tokens."""
    return Reply(text, None if parsed is None else json_text(parsed), usage=Usage(6, 4, None, "fake"))


class FakeModel:
    """Replies by purpose, each used once and in order; a purpose without a reply left is `unsupported`, as of a provider without a model."""

    def __init__(self) -> None:
        self.names: list[str] = []
        self.requests: list[Request] = []
        self._script: dict[str, deque[Union[Reply, ModelError]]] = {}

    def script(self, purpose: str, *answers: Union[Reply, ModelError]) -> None:
        """The next answers for that purpose."""
        self._script.setdefault(purpose, deque()).extend(answers)

    def reply_sql(self, sql: str, confidence: Optional[float] = None, purpose: str = "generate") -> None:
        """The next statement."""
        self.script(purpose, fake_reply(sql, {"sql": sql, "confidence": confidence}))

    def reply_plan(self, plan: dict[str, Any]) -> None:
        """The next reply to `plan`."""
        self.script("plan", fake_reply(json_text(plan), plan))

    def reply_text(self, purpose: str, text: str) -> None:
        """The next reply in plain text."""
        self.script(purpose, fake_reply(text))

    def prompt(self, index: int) -> str:
        """The whole text of one request's messages."""
        return "\n".join(message.text for message in self.requests[index].messages)

    def answer(self, request: Request) -> Union[Reply, ModelError]:
        """The next answer for the request's purpose."""
        self.requests.append(request)
        script = self._script.get(request.purpose)
        return script.popleft() if script else ModelError("unsupported", "nothing scripted")


class FakeDatabase:
    """Answers by statement. A statement that nobody scripted fails its check as `syntax` and its run as `other`."""

    def __init__(self) -> None:
        #: How many rows of a result a role may read; none: the grant is missing.
        self.granted_rows: Optional[int] = 3
        self.hits: dict[str, list[Hit]] = {}
        self.samples: dict[str, list[Sample]] = {}
        self.stats: dict[str, list[ColumnStats]] = {}
        self.plans: dict[str, Plan] = {}
        #: What `compile_metric` answers, by the JSON of the request.
        self.metrics: dict[str, Compiled] = {}
        #: The statements that were run, in order.
        self.log: list[str] = []
        self._checks: dict[str, Union[Facts, SqlError]] = {}
        self._runs: dict[str, Union[FakeRows, SqlError]] = {}

    def answer(self, sql: str, rows: FakeRows) -> None:
        """This statement passes its check and gives these rows."""
        self._checks[sql] = Facts(normalized=sql, skeleton=sql)
        self._runs[sql] = rows

    def fail_check(self, sql: str, error: SqlError) -> None:
        """This statement fails its check."""
        self._checks[sql] = error

    def fail_run(self, sql: str, error: SqlError) -> None:
        """This statement passes its check and fails when run."""
        self._checks[sql] = Facts(normalized=sql, skeleton=sql)
        self._runs[sql] = error

    def checked(self, sql: str) -> Union[Facts, SqlError]:
        """The scripted check of a statement."""
        return self._checks.get(sql, SqlError("syntax", "nothing scripted for this statement"))

    def ran(self, sql: str) -> Union[FakeRows, SqlError]:
        """The scripted result of a statement, which is logged."""
        self.log.append(sql)
        return self._runs.get(sql, SqlError("other", "nothing scripted for this statement"))

    def page(self, rows: FakeRows, offset: int, limit: int) -> Page:
        """Rows of a result as far as they are granted."""
        granted = self.need_grant()
        wanted = rows.rows[offset : offset + limit]
        shown = rows.rows[offset : min(offset + limit, granted)]
        return Page(rows.columns, shown, clipped=len(shown) < len(wanted))

    def need_grant(self) -> int:
        """The granted rows. Raises `denied` without the grant."""
        if self.granted_rows is None:
            raise PortError("denied", "rows are not granted")
        return self.granted_rows


class FakeEvaluate:
    """Without a script it calibrates each claim to itself, and its judge is `unavailable`."""

    def __init__(self) -> None:
        self.calibrate: Optional[Callable[[float, Signals], float]] = lambda claimed, _: claimed
        #: Why the reward cannot be asked, when it cannot.
        self.reward_error: Optional[PortError] = None
        self.verdicts: dict[str, Verdict] = {}
        #: The statements that the reward was asked about, by call.
        self.asked: list[list[str]] = []

    def judge(self, sql: str, verdict: Verdict) -> None:
        """The verdict on a statement."""
        self.verdicts[sql] = verdict

    def judged(self, candidates: list[Candidate]) -> Union[list[Verdict], PortError]:
        """The scripted verdicts."""
        self.asked.append([candidate.sql for candidate in candidates])
        if self.reward_error is not None:
            return self.reward_error
        return [self.verdicts.get(candidate.sql, Unavailable("nothing scripted")) for candidate in candidates]


class FakeRetrieval:
    """Without a script it finds nothing, and there is no model for embeddings."""

    def __init__(self) -> None:
        #: The vectors by text; none without a model for embeddings.
        self.vectors: Optional[dict[str, list[float]]] = None
        self.queries: list[RetrievalQuery] = []
        self._hits: dict[tuple[str, str], list[Hit]] = {}

    def script(self, corpus: str, retriever: str, hits: list[Hit]) -> None:
        """The hits of queries to that corpus by that retriever, whatever the text."""
        self._hits[corpus, retriever] = hits

    def found(self, query: RetrievalQuery) -> Union[list[Hit], PortError]:
        """The scripted hits."""
        self.queries.append(query)
        if query.corpus == "cells":
            return PortError("denied", "the port `cells` has them")
        if query.retriever == "vector" and self.vectors is None:
            return PortError("unsupported")
        return self._hits.get((query.corpus, query.retriever), [])[: query.limit]


@dataclass
class FakeTrace:
    """What the plugin logged."""

    notes: list[tuple[str, str]] = field(default_factory=list)
    proposed: list[Candidate] = field(default_factory=list)
    #: Why candidates were chosen or not, by their ids.
    kept: dict[str, str] = field(default_factory=dict)
    discarded: dict[str, str] = field(default_factory=dict)
    events: list[tuple[Optional[str], str, Any]] = field(default_factory=list)


def _raised(value: Any) -> Any:
    if isinstance(value, Exception):
        raise value
    return value


class FakeHost:
    """All ports in one value; it serves every role."""

    def __init__(self) -> None:
        self.model = FakeModel()
        self.database = FakeDatabase()
        self.evaluate = FakeEvaluate()
        self.retrieval = FakeRetrieval()
        self.trace = FakeTrace()
        self.user_policy = Policy()
        self.budget = Budget()
        #: Further settings of the user's, by name.
        self.settings: dict[str, Any] = {}
        self.run_seed = 0
        #: The pauses that the plugin asked for, in milliseconds. They take no time.
        self.pauses: list[int] = []

    # run and wait

    def policy(self) -> Policy:
        return self.user_policy

    def setting(self, name: str) -> Any:
        return self.settings.get(name)

    def remaining(self) -> Budget:
        return self.budget

    def seed(self) -> int:
        return self.run_seed

    def any(self, tickets: list[int]) -> list[int]:
        return list(tickets)  # Fake calls have always ended.

    def pause(self, milliseconds: int) -> None:
        self.pauses.append(milliseconds)

    # llm

    def models(self) -> list[str]:
        return self.model.names

    def complete(self, request: Request) -> Reply:
        reply: Reply = _raised(self.model.answer(request))
        return reply

    def complete_all(self, requests: list[Request]) -> list[Union[Reply, ModelError]]:
        return [self.model.answer(request) for request in requests]

    def start_reply(self, request: Request) -> FakeCall:
        return FakeCall(self.model.answer(request))

    # inspect and sql

    def check(self, text: str) -> Facts:
        facts: Facts = _raised(self.database.checked(text))
        return facts

    def explain(self, text: str) -> Plan:
        if text not in self.database.plans:
            raise SqlError("other", "no plan scripted for this statement")
        return self.database.plans[text]

    def column_stats(self, table: str, columns: list[str]) -> list[ColumnStats]:
        return [stats for stats in _of(self.database.stats, table) if stats.column in columns]

    def compile_metric(self, request: Any) -> Compiled:
        text = json_text(request)
        if text not in self.database.metrics:
            raise PortError("unsupported")
        return self.database.metrics[text]

    def run(self, text: str) -> ResultSet:
        rows: ResultSet = _raised(self.database.ran(text))
        return rows

    def run_all(self, texts: list[str]) -> list[Union[ResultSet, SqlError]]:
        return [self.database.ran(text) for text in texts]

    def start_statement(self, text: str) -> FakeCall:
        return FakeCall(self.database.ran(text))

    # rows and cells

    def read(self, results: ResultSet, offset: int, limit: int) -> Page:
        assert isinstance(results, FakeRows)
        return self.database.page(results, offset, limit)

    def samples(self, table: str, columns: list[str], limit: int) -> list[Sample]:
        self.database.need_grant()
        found = (sample for sample in _of(self.database.samples, table) if sample.column in columns)
        return [replace(sample, frequent=sample.frequent[:limit]) for sample in found]

    def find(self, phrases: list[str], how: str, limit: int) -> list[list[Hit]]:
        self.database.need_grant()
        return [self.database.hits.get(phrase, [])[:limit] for phrase in phrases]

    # evaluate and retrieval

    def calibrate(self, claims: list[tuple[float, Signals]]) -> list[float]:
        if self.evaluate.calibrate is None:
            raise PortError("unsupported")
        return [self.evaluate.calibrate(claimed, signals) for claimed, signals in claims]

    def reward(self, candidates: list[Candidate]) -> list[Verdict]:
        verdicts: list[Verdict] = _raised(self.evaluate.judged(candidates))
        return verdicts

    def start_reward(self, candidates: list[Candidate]) -> FakeCall:
        return FakeCall(self.evaluate.judged(candidates))

    def retrieve(self, query: RetrievalQuery) -> list[Hit]:
        hits: list[Hit] = _raised(self.retrieval.found(query))
        return hits

    def retrieve_all(self, queries: list[RetrievalQuery]) -> list[Union[list[Hit], PortError]]:
        return [self.retrieval.found(query) for query in queries]

    def embed(self, texts: list[str]) -> list[list[float]]:
        if self.retrieval.vectors is None:
            raise PortError("unsupported")
        return [self.retrieval.vectors[text] for text in texts]

    # trace

    def note(self, level: str, message: str) -> None:
        self.trace.notes.append((level, message))

    def propose(self, candidate: Candidate) -> None:
        self.trace.proposed.append(replace(candidate))

    def keep(self, candidate: str, reason: str) -> None:
        self.trace.kept[candidate] = reason

    def discard(self, candidate: str, reason: str) -> None:
        self.trace.discarded[candidate] = reason

    def event(self, candidate: Optional[str], name: str, data: Any) -> None:
        self.trace.events.append((candidate, name, data))


def _of(known: dict[str, list[Any]], table: str) -> list[Any]:
    if table not in known:
        raise PortError("unknown-name", table)
    return known[table]


def rewrites(plugin: Rewriter, host: FakeHost, original: str, catalog: Catalog, trials: list[Trial]) -> list[Proposal]:
    """Calls a rewriter as the optimizer does: once for each of `trials`, which are the outcomes of its proposals in order. An accepted proposal
    is the best statement from then on. `host.database.plans` gives the plan of the best statement, or else the plan is empty."""
    best, history, proposals = original, list[Attempt](), list[Proposal]()
    for trial in trials:
        plan = host.database.plans.get(best, Plan())
        proposal = plugin.rewrite(host, original, best, plan, catalog, list(history))
        if proposal is None:
            break
        if trial.case == "accepted":
            best = proposal.sql
        history.append(Attempt(proposal.sql, proposal.family, trial))
        proposals.append(proposal)
    return proposals
