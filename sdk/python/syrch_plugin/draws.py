"""Several statements for one task, with a stop as early as the strategy allows, and their groups of equal results.

A `Drawing` starts model calls concurrently, tests each statement as its reply arrives, and stores the draws in a `Pool` by their numbers,
not by their arrival. A `Sampler` is the strategy: it writes the prompts and returns how many more draws it needs at least. Since never more
than that are in flight, no more draws are made than one after the other would take.

Draws whose results have the same fingerprint agree (self-consistency, Wang et al. 2022): `Pool.clusters`. `vote.Voter` also orders these
groups, and `vote.elect` is the whole course from a task to its candidates.

`run_tries` is for strategies whose statements are repaired each by itself: a number of tries, in rounds, that a strategy ends one by one (`Tries`).
"""

from __future__ import annotations

from bisect import insort
from dataclasses import dataclass, replace
from typing import Any, Optional, Protocol, Sequence, Union

from .attempt import (
    Abstained,
    Chain,
    NoStatement,
    Ran,
    Statement,
    TooLarge,
    Trial,
    Trials,
    add_errors,
    candidate_id,
    too_large,
    written,
)
from .brief import Brief, Tried
from .errors import Failure, ModelError
from .ports import Inspect, Llm, PendingReply, Sql, Trace, Wait
from .text import line
from .types import Candidate, Reply, Request, Signals, Task



class DrawingHost(Wait, Llm, Inspect, Sql, Trace, Protocol):
    """What a drawing needs of the host."""


@dataclass
class Draw:
    """One drawn statement, from 1 in the order of the requests, and how it ended: with a result, or what was wrong with it. `repairs` is the
    draw that it repairs, and `sql` is empty if the reply had no statement."""

    number: int
    sql: str
    ended: Union[Ran, str]
    repairs: Optional[int]
    confidence: Optional[float]
    signals: Signals

    @property
    def ran(self) -> Optional[Ran]:
        """The result, if the statement ran."""
        return self.ended if isinstance(self.ended, Ran) else None


@dataclass
class Cluster:
    """A group of draws with equal results, by their numbers."""

    fingerprint: str
    members: list[int]

    @property
    def first(self) -> int:
        """The number of the earliest member, which represents the group."""
        return self.members[0]


def groups(keys: Sequence[object]) -> list[list[int]]:
    """The places of equal keys, ascending in each group: the largest group first, and of equally large ones that with the earliest member."""
    found: dict[object, list[int]] = {}
    for place, key in enumerate(keys):
        found.setdefault(key, []).append(place)
    return sorted(found.values(), key=len, reverse=True)


class Pool:
    """The draws that ended, by their numbers."""

    def __init__(self) -> None:
        self.draws: list[Draw] = []
        self._rejected: dict[str, str] = {}

    def draw(self, number: int) -> Optional[Draw]:
        """The draw of that number; none before it ended."""
        return next((draw for draw in self.draws if draw.number == number), None)

    @property
    def ran(self) -> int:
        """How many draws ran, with or without rows."""
        return sum(draw.ran is not None for draw in self.draws)

    def reject(self, fingerprint: str, reason: str) -> None:
        """Excludes a result from the vote, for all draws that have it now or later."""
        self._rejected[fingerprint] = reason

    def clusters(self, empty: bool = False) -> list[Cluster]:
        """The groups of equal results that were not rejected: the largest first, and of equally large ones that with the earliest member.
        Results without rows are left out unless `empty` says that they count."""
        voting = [
            (draw.number, draw.ran.fingerprint)
            for draw in self.draws
            if draw.ran and (empty or draw.ran.profile.rows > 0) and draw.ran.fingerprint not in self._rejected
        ]
        prints = [fingerprint for _, fingerprint in voting]
        return [Cluster(prints[places[0]], [voting[place][0] for place in places]) for places in groups(prints)]

    def tried(self, empty: bool = False) -> list[Tried]:
        """What was wrong with each draw that cannot win, in order: it failed, was rejected, or, unless `empty`, has no rows."""
        found = ((draw, self.wrong(draw, empty)) for draw in self.draws)
        return [Tried(draw.sql, wrong) for draw, wrong in found if wrong is not None]

    def tried_lately(self, empty: bool, attempts: int) -> list[Tried]:
        """What was wrong with the draws since the last one that can win, in order: what the next draw may repair. A draw that ends a chain of
        `attempts` statements, the first one and its repairs, is repaired no more, so that the next one is fresh."""
        out: list[Tried] = []
        for draw in reversed(self.draws):
            wrong = self.wrong(draw, empty)
            if wrong is None or self._chain(draw) >= attempts:
                break
            out.insert(0, Tried(draw.sql, wrong))
        return out

    def _chain(self, draw: Draw) -> int:
        """The number of statements from the first one of a chain to this repair of it."""
        repaired = None if draw.repairs is None else self.draw(draw.repairs)
        return 1 if repaired is None else 1 + self._chain(repaired)

    def wrong(self, draw: Draw, empty: bool = False) -> Optional[str]:
        """Why a draw cannot win; none if it can."""
        if isinstance(draw.ended, str):
            return draw.ended
        if draw.ended.fingerprint in self._rejected:
            return f"rejected: {line(self._rejected[draw.ended.fingerprint], 400)}"
        return "; ".join(draw.ended.doubts) if draw.ended.profile.rows == 0 and not empty else None

    def candidate(self, task: Task, draw: Draw, most: int) -> Candidate:
        """The candidate of a draw. Its signals count the errors of the draws up to and including this one, out of `most`; the strategy adds
        agreement and confidence. The parent of a repair is the draw that it repairs."""
        signals = replace(draw.signals, attempts=draw.number, max_attempts=most)
        for earlier in self.draws:
            if earlier.number < draw.number:
                add_errors(signals, earlier.signals)
        parents = [] if draw.repairs is None else [candidate_id(task.id, draw.repairs)]
        origin = "generate" if draw.repairs is None else "repair"
        return Candidate(
            candidate_id(task.id, draw.number), draw.sql, origin, parents, raw_confidence=draw.confidence, signals=signals
        )

    def insert(self, draw: Draw) -> None:
        """Adds a draw that ended."""
        insort(self.draws, draw, key=lambda one: one.number)


class Sampler:
    """What a strategy decides about a drawing."""

    #: Whether all draws in flight have to end before others start. If prompts contain earlier results, this keeps them independent of which
    #: reply was the quickest.
    in_rounds = False

    def request(self, number: int, pool: Pool) -> Request:
        """The request of a draw. `pool` has the draws that ended; earlier draws than this one may still be in flight."""
        raise NotImplementedError

    def seen(self, draw: Draw) -> None:
        """Called once for each draw after it ended, before the next call of `missing`."""

    def missing(self, pool: Pool) -> int:
        """The least number of further draws, those in flight included, after which the vote may be decided whatever they give; 0 if it is
        decided."""
        raise NotImplementedError

    def shorten(self) -> bool:
        """Makes the prompts shorter, after one was too large; false if they cannot be."""
        return False


def request(brief: Brief, tried: Sequence[Tried], number: int, temperature: Optional[float] = None) -> Request:
    """The request of a draw: a repair of the statements in `tried`, or, if there are none, a fresh one at that temperature.

    Among draws that repair, `sample` is the number of the draw, from 0, less the number of statements that the request repairs: a repair of
    draw n is the n-th sample again, and two draws never share both."""
    made = brief.request(tried, max(0, number - 1))
    if made.purpose == "repair":
        return replace(made, sample=max(0, made.sample - len(made.subjects)))
    return replace(made, temperature=temperature)


#: Why a drawing stopped: `"done"`, because the sampler has enough or all draws were made; an `Abstained` of the model, which is no failure;
#: or a `Failure`, since no call or no statement can succeed any more.
Stopped = Union[str, Abstained, Failure]


@dataclass
class _Call:
    number: int
    repairs: Optional[int]
    # How often the prompts had been made shorter before this request.
    shortened: int
    pending: PendingReply


class Drawing:
    """The draws in flight and those that ended: a drawing of at most `most` statements. More rows than `overflow_rows` are a doubt."""

    def __init__(self, host: DrawingHost, task: Task, most: int, overflow_rows: int = 1000) -> None:
        self.host, self.task, self.most = host, task, most
        self.pool = Pool()
        self.started = 0
        self._trials = Trials(overflow_rows)
        # Draws are logged in the order of their numbers: how many were logged.
        self._logged = 0
        self._in_flight: list[_Call] = []
        # The numbers of draws whose prompts were too large and that are to be requested again, ascending.
        self._again: list[int] = []
        self._shortened = 0
        self._seen: set[int] = set()
        self._stopped: Optional[Stopped] = None

    def run(self, sampler: Sampler) -> Stopped:
        """Draws until the sampler has enough. It can be called again, for example after a result was rejected. If the model abstains or
        fails, the draws in flight are waited for, since they are charged anyway; if the database fails, they are cancelled. A prompt that is
        too large does not count as a draw: it is made shorter and requested again, once for each of its sizes."""
        self._stopped = None
        while True:
            if self._stopped is None and not (self._in_flight and sampler.in_rounds):
                missing = sampler.missing(self.pool)
                if missing == 0:
                    self._cancel()
                    return "done"
                self._start(sampler, missing)
            if not self._in_flight:
                self._cancel()
                return self._stopped or "done"
            failure: Optional[Failure] = None
            try:
                self._receive(sampler)
            except Failure as error:
                failure = error
                self._cancel()
            self._log()
            for draw in self.pool.draws:
                if draw.number not in self._seen:
                    self._seen.add(draw.number)
                    sampler.seen(draw)
            if failure is not None:
                return failure

    def _start(self, sampler: Sampler, missing: int) -> None:
        while len(self._in_flight) < missing and (self._again or self.started < self.most):
            if self._again:
                number = self._again.pop(0)
            else:
                self.started += 1
                number = self.started
            made = sampler.request(number, self.pool)
            pending = self.host.start_reply(made)
            self._in_flight.append(_Call(number, self._repaired(made), self._shortened, pending))

    def _repaired(self, made: Request) -> Optional[int]:
        """The draw whose statement is the last of those that a repair is about."""
        if made.purpose != "repair" or not made.subjects:
            return None
        return next((draw.number for draw in reversed(self.pool.draws) if draw.sql == made.subjects[-1]), None)

    def _cancel(self) -> None:
        for call in self._in_flight:
            call.pending.cancel()
        self._in_flight.clear()
        self._again.clear()
        self._log()

    def _log(self) -> None:
        """Logs each statement after all with smaller numbers have ended, so that the log does not depend on which call was quicker. The reason
        of a failed one follows at once."""
        while self._logged < self.started:
            number = self._logged + 1
            draw = self.pool.draw(number)
            if draw is None and (number in self._again or any(call.number == number for call in self._in_flight)):
                return
            if draw is not None and draw.sql:
                candidate = self.pool.candidate(self.task, draw, self.most)
                self.host.propose(candidate)
                if isinstance(draw.ended, str):
                    self.host.discard(candidate.id, draw.ended)
            self._logged = number

    def _wait(self) -> list[tuple[_Call, Union[Reply, ModelError]]]:
        """The calls that are ready, by number, with their replies. A call that is ready without a reply counts as cancelled, so that no wait is
        endless."""
        ready = set(self.host.any([call.pending.ticket() for call in self._in_flight]))
        calls = [call for call in self._in_flight if not ready or call.pending.ticket() in ready]
        self._in_flight = [call for call in self._in_flight if call not in calls]
        replies = [(call, call.pending.get() or ModelError("cancelled")) for call in calls]
        for call in calls:
            call.pending.close()
        return replies

    def _receive(self, sampler: Sampler) -> None:
        """Waits for replies and tests their statements together. Raises the database's failure; the pool has all draws that ended then too."""
        statements: list[tuple[_Call, Statement]] = []
        for call, reply in self._wait():
            try:
                statements.append((call, written(reply)))
            except NoStatement as wrong:
                self.pool.insert(Draw(call.number, "", str(wrong), call.repairs, None, Signals(syntax_errors=1)))
            except TooLarge:
                if self._shorten(sampler, call.shortened):
                    insort(self._again, call.number)
                else:
                    self._stopped = self._stopped or too_large()
            except (Abstained, Failure) as stop:
                self._stopped = self._stopped or stop
        try:
            self._trials.run(self.host, [statement.sql for _, statement in statements])
        finally:
            for call, statement in statements:
                self._insert(call, statement)

    def _shorten(self, sampler: Sampler, size: int) -> bool:
        """Whether a prompt that was too large may be requested again: it was made shorter since, by another draw of its size, or is now."""
        if size == self._shortened and sampler.shorten():
            self._shortened += 1
        return size < self._shortened

    def _insert(self, call: _Call, statement: Statement) -> None:
        trial = self._trials.get(statement.sql)
        if trial is not None:
            signals = replace(trial.signals, logprob=statement.logprob, extra=[("tokens", statement.tokens)])
            self.pool.insert(Draw(call.number, statement.sql, trial.ended, call.repairs, statement.confidence, signals))


def await_all(host: Wait, calls: Sequence[Any]) -> None:
    """Waits until all of these calls in flight have ended."""
    waiting = [call.ticket() for call in calls]
    while waiting:
        ready = set(host.any(waiting))
        if not ready:
            return
        waiting = [ticket for ticket in waiting if ticket not in ready]


# Tries


Written = Union[Statement, NoStatement, TooLarge, Abstained, Failure]
"""What a request for a statement gave: the statement, or what `attempt.written` raises."""


class TriesHost(Llm, Inspect, Sql, Trace, Protocol):
    """What tries need of the host."""


class Tries:
    """What a strategy decides about tries. They are named by their places, from 0."""

    def is_open(self, place: int, chain: Chain) -> bool:
        """Whether the try has another attempt in the next round."""
        raise NotImplementedError

    def request(self, place: int, chain: Chain) -> Request:
        """The request of the next statement."""
        raise NotImplementedError

    def adapt(self, error: ModelError) -> bool:
        """Changes the prompts after that error so that a request may be made again; false if that is no use."""
        return False

    def read(self, replies: list[tuple[int, Written]], chains: list[Chain]) -> list[tuple[int, Statement]]:
        """The statements of a round's replies. A reply without a statement has to end its try or count in its chain, so that all tries end."""
        raise NotImplementedError

    def origin(self, place: int, chain: Chain) -> str:
        """The origin of the next candidate."""
        return chain.origin

    def settled(self, place: int, candidate: Candidate, trial: Trial, chain: Chain) -> None:
        """Called once for each statement after it ran or failed and was logged. What was wrong with one that failed is in its chain."""
        raise NotImplementedError

    def finish_round(self, chains: list[Chain]) -> None:
        """Called after the last statement of a round."""


def run_tries(host: TriesHost, task: Task, number: int, attempts: int, overflow_rows: int, tries: Tries) -> None:
    """Makes `number` tries of at most `attempts` statements each. The requests of a round are made concurrently, and its statements run together.
    A request that failed in a way that the prompts can be adapted to is made again in its round."""
    chains = [Chain(attempts) for _ in range(number)]
    trials = Trials(overflow_rows)
    proposed = 0
    while places := [place for place in range(number) if tries.is_open(place, chains[place])]:
        replies = [_written(reply) for reply in _ask(host, places, chains, tries)]
        statements = tries.read(list(zip(places, replies)), chains)
        try:
            trials.run(host, [statement.sql for _, statement in statements])
        except Failure:
            pass  # What stopped the database is in the trials, too.
        for place, statement in statements:
            trial = trials.get(statement.sql)
            if trial is None:
                continue
            chain = chains[place]
            proposed += 1
            chain.signals.attempts += 1
            candidate = chain.candidate(candidate_id(task.id, proposed), tries.origin(place, chain), statement, trial.signals)
            host.propose(candidate)
            if isinstance(trial.ended, str):
                host.discard(candidate.id, trial.ended)
                chain.fail(candidate.sql, trial.ended)
            tries.settled(place, candidate, trial, chain)
        tries.finish_round(chains)


def _written(reply: Union[Reply, ModelError]) -> Written:
    try:
        return written(reply)
    except (NoStatement, TooLarge, Abstained, Failure) as none:
        return none


def _ask(host: Llm, places: list[int], chains: list[Chain], tries: Tries) -> list[Union[Reply, ModelError]]:
    again = list(range(len(places)))
    replies: list[Union[Reply, ModelError]] = [ModelError("cancelled")] * len(places)
    while True:
        requests = [tries.request(places[at], chains[places[at]]) for at in again]
        for at, reply in zip(again, host.complete_all(requests)):
            replies[at] = reply
        # The prompts are adapted once to each kind of error.
        errors = {at: reply for at, reply in enumerate(replies) if isinstance(reply, ModelError)}
        firsts = {error.kind: error for error in reversed(errors.values())}
        adapted = next((kind for kind in dict.fromkeys(error.kind for error in errors.values()) if tries.adapt(firsts[kind])), None)
        if adapted is None:
            return replies
        again = [at for at, error in errors.items() if error.kind == adapted]
