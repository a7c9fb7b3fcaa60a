"""Attempts at a statement: from the reply to the statement, through check and run, to a candidate."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Iterable, Optional, Protocol, Union

from .brief import Tried
from .errors import Failure, ModelError, SqlError
from .ports import Inspect, Llm, Sql, Trace
from .replies import sql_reply
from .text import count, fnv1a, json_text, line
from .types import (
    Candidate,
    Facts,
    Outcome,
    Profile,
    Reply,
    Request,
    ResultSet,
    Signals,
)


class Checks(Inspect, Sql, Protocol):
    """The ports that test a statement."""


# Replies


@dataclass
class Statement:
    """A statement that a model wrote; `tokens` are those of the call."""

    sql: str
    confidence: Optional[float] = None
    logprob: Optional[float] = None
    tokens: float = 0.0

    def candidate(self, id: str, parents: list[str], origin: str, signals: Signals) -> Candidate:
        """The candidate of this statement. The log probability and the tokens (as `tokens` in `extra`) are added to the signals."""
        signals = replace(signals, logprob=self.logprob, extra=[*signals.extra, ("tokens", self.tokens)])
        return Candidate(id, self.sql, origin, parents, raw_confidence=self.confidence, signals=signals)


class NoStatement(Exception):
    """A reply without a statement, which counts as an attempt; the text explains it to a model."""


class TooLarge(Exception):
    """There is no reply, since the prompt was too large."""


class Abstained(Exception):
    """There is no reply, since the model abstains. This is not a failure."""


def written(reply: Union[Reply, ModelError]) -> Statement:
    """The statement in the reply to a request of the shape `sql`. Raises `NoStatement`, `TooLarge` or `Abstained`, or the failure of a
    model that later calls meet, too."""
    if isinstance(reply, Reply):
        parsed = sql_reply(reply)
        if parsed is None:
            raise NoStatement("the reply held no statement")
        tokens = float(reply.usage.input_tokens + reply.usage.output_tokens)
        return Statement(parsed.sql, parsed.confidence, reply.logprob, tokens)
    if reply.kind == "malformed":
        raise NoStatement(f"the reply held no statement; it began: {line(reply.text, 200)}")
    if reply.kind == "too-large":
        raise TooLarge
    if reply.kind in ("refused", "unsupported"):
        raise Abstained(reply.words())
    raise reply.failure()


def ask_statement(host: Llm, request: Request) -> Statement:
    """Asks the model for a statement; raises as `written` does."""
    try:
        reply = host.complete(request)
    except ModelError as error:
        return written(error)
    return written(reply)


def too_large() -> Failure:
    """The failure of a prompt that is too large and cannot be made shorter."""
    return ModelError("too-large").failure()


# Checks and runs

_SCHEMA_ERRORS = ("unknown-table", "unknown-column", "ambiguous-name", "denied")


def failed(error: SqlError, signals: Signals) -> str:
    """The message for a model about an error of a check or a run, which is counted in `signals`. Raises the failure, if no statement can run
    any more."""
    if error.is_over:
        raise error.failure()
    if error.kind == "syntax":
        signals.syntax_errors += 1
    elif error.kind in _SCHEMA_ERRORS:
        signals.schema_errors += 1
    else:
        signals.execution_errors += 1
    return error.words()


def _add_errors(signals: Signals, own: Signals) -> None:
    """Adds the errors that are counted in `own`."""
    signals.syntax_errors += own.syntax_errors
    signals.schema_errors += own.schema_errors
    signals.execution_errors += own.execution_errors


# The most columns that a doubt names.
_NAMED = 20


def doubts(overflow_rows: int, profile: Profile, signals: Signals) -> list[str]:
    """What a good answer would not look like, a sentence for each sign in the shape of a result: no rows, columns of NULL, more rows than
    `overflow_rows`. The signs are counted in `signals`."""
    out = []
    signals.empty_result = profile.rows == 0
    if signals.empty_result:
        out.append("the result has no rows")
    nulls = [column.column.name for column in profile.columns if profile.rows > 0 and column.nulls >= profile.rows]
    signals.null_columns = len(nulls)
    if nulls:
        more = f" and {len(nulls) - _NAMED} more" if len(nulls) > _NAMED else ""
        which = "a column is" if len(nulls) == 1 else "columns are"
        out.append(f"{which} NULL in all rows: {', '.join(line(name, 80) for name in nulls[:_NAMED])}{more}")
    signals.overflow = profile.truncated or profile.rows > overflow_rows
    if signals.overflow:
        cut = " and was cut" if profile.truncated else ""
        out.append(f"the result has {count(profile.rows, 'row')}{cut}, where at most {overflow_rows} are expected")
    return out


@dataclass
class Ran:
    """A statement that ran. Results with the same multiset of rows have equal fingerprints."""

    facts: Facts
    results: ResultSet
    profile: Profile
    doubts: list[str]
    fingerprint: str


@dataclass
class Trial:
    """A statement that was checked and run once: its result, or what was wrong with it in words for a model. `signals` are its own counts,
    and `stopped` is the failure after which no statement can run any more."""

    ended: Union[Ran, str]
    signals: Signals = field(default_factory=Signals)
    stopped: Optional[Failure] = None


class Trials:
    """The statements that were tested so far, by their texts. More rows than `overflow_rows` are a doubt."""

    def __init__(self, overflow_rows: int = 1000) -> None:
        self.overflow_rows = overflow_rows
        self._known: dict[str, Trial] = {}

    def get(self, sql: str) -> Optional[Trial]:
        """The trial of a text; none before `run` was called with it."""
        return self._known.get(sql)

    def run(self, host: Checks, texts: Iterable[str]) -> None:
        """Checks the texts that are not known yet, and runs those that pass concurrently. Raises the first failure after which no statement
        can run any more; every text has a trial then too."""
        stopped: Optional[Failure] = None
        facts: dict[str, Facts] = {}
        for sql in texts:
            if sql in self._known or sql in facts:
                continue
            if stopped is not None:
                self._known[sql] = Trial(stopped.message, stopped=stopped)
                continue
            try:
                facts[sql] = host.check(sql)
            except SqlError as error:
                stopped = self._fail(sql, error)
        results = host.run_all(list(facts)) if facts else []
        for (sql, found), result in zip(facts.items(), results):
            if isinstance(result, SqlError):
                failure = self._fail(sql, result)
                stopped = stopped or failure
            else:
                self._known[sql] = self._ran(found, result)
        if stopped is not None:
            raise stopped

    def _ran(self, facts: Facts, results: ResultSet) -> Trial:
        signals = Signals()
        profile = results.profile()
        signs = doubts(self.overflow_rows, profile, signals)
        fingerprint = results.fingerprint("bag")
        return Trial(Ran(facts, results, profile, signs, facts.normalized if fingerprint is None else fingerprint), signals)

    def _fail(self, sql: str, error: SqlError) -> Optional[Failure]:
        signals = Signals()
        try:
            self._known[sql] = Trial(failed(error, signals), signals)
            return None
        except Failure as failure:
            self._known[sql] = Trial(failure.message, stopped=failure)
            return failure


# Chains

# The length of the longest id that the host allows.
_ID = 64


def candidate_id(task: str, number: int) -> str:
    """The id of a task's numbered candidate: `TASK.NUMBER`, or a shortened id of the task if that is too long for the host."""
    id = f"{task}.{number}"
    if len(id.encode()) <= _ID:
        return id
    # Two tasks may have the same head: a hash of the whole id distinguishes them.
    return f"{task[:32]}.{fnv1a(task.encode()):016x}.{number}"


class Chain:
    """The attempts at one statement: the first one and its repairs, at most `max_attempts`."""

    def __init__(self, max_attempts: int) -> None:
        self.tried: list[Tried] = []
        self.signals = Signals(max_attempts=max_attempts)
        self.last_id: Optional[str] = None

    @property
    def statements(self) -> int:
        """How many of the earlier replies had a statement."""
        return sum(bool(one.sql) for one in self.tried)

    @property
    def origin(self) -> str:
        """The origin of the chain's next candidate."""
        return "repair" if self.statements else "generate"

    def fail(self, sql: str, wrong: str) -> None:
        """Adds what was wrong with a statement, which the next request is to repair."""
        self.tried.append(Tried(sql, wrong))

    def fail_without_statement(self, wrong: str) -> None:
        """Adds a reply without a statement."""
        self.signals.syntax_errors += 1
        self.fail("", wrong)

    def candidate(self, id: str, origin: str, statement: Statement, own: Signals) -> Candidate:
        """The candidate of the chain's next statement, a child of the one before. `own` are the statement's own counts: its errors are added
        to those of the chain, while the shape of the result stays its own."""
        _add_errors(self.signals, own)
        signals = replace(
            self.signals, empty_result=own.empty_result, null_columns=own.null_columns, overflow=own.overflow, extra=[]
        )
        parents = [] if self.last_id is None else [self.last_id]
        self.last_id = id
        return statement.candidate(id, parents, origin, signals)


# The end of a task


def nothing(host: Trace, why: str) -> Outcome:
    """The outcome of a task without a candidate. The reason becomes a warning, since the host shows the last one to the user, and the memo,
    which the clarifier reads."""
    host.note("warn", why)
    return Outcome(memo=json_text({"reason": line(why, 600)}))
