"""From groups of equal results to an outcome: the reward may reject results, and the log states what became of every draw. The host
calibrates the confidence that the strategy states."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Optional, Protocol

from .attempt import Abstained, accept, candidate_id, carry_on, judged, nothing
from .draws import Cluster, Draw, Drawing, Pool, Sampler, Stopped
from .errors import Failure
from .ports import Evaluate, Inspect, Llm, Sql, Trace, Wait
from .types import Accepted, Candidate, Outcome, Rejected, Task, Verdict


class VotingHost(Wait, Llm, Inspect, Sql, Evaluate, Trace, Protocol):
    """What a vote needs of the host."""


@dataclass
class Standing:
    """A group of equal results with its place in the vote; its earliest member becomes the candidate. `confidence` is the strategy's own, and
    `reason` says why in words: `3 of 5 results`."""

    cluster: Cluster
    confidence: float
    reason: str


class Voter(Sampler):
    """A sampler that orders the results."""

    def standings(self, pool: Pool) -> list[Standing]:
        """The groups that may win, best first; none if no draw is acceptable."""
        raise NotImplementedError


def elect(host: VotingHost, task: Task, most: int, overflow_rows: int, voter: Voter) -> Outcome:
    """Draws, votes, has the reward judge the results, draws again if it rejected one, and returns one candidate for each remaining result,
    best first. The reward judges each result once. Without a candidate, an unavailable model or database and a used-up budget are raised as
    failures, and everything else is an empty outcome."""
    drawing = Drawing(host, task, most, overflow_rows)
    stopped = drawing.run(voter)
    verdicts: dict[str, Verdict] = {}
    while True:
        standings = voter.standings(drawing.pool)
        poll = _Poll(host, task, most, drawing.pool, standings)
        if not standings:
            poll.log()
            return poll.nothing(stopped, drawing.started)
        candidates = poll.candidates()
        _judge(host, task, standings, candidates, verdicts)
        rejected = [
            (standing.cluster.fingerprint, verdict.reason)
            for standing in standings
            if isinstance(verdict := verdicts.get(standing.cluster.fingerprint), Rejected)
        ]
        if not rejected:
            _report(host, task, stopped)
            poll.log()
            for candidate, standing in zip(candidates, standings):
                verdict = verdicts.get(standing.cluster.fingerprint)
                if isinstance(verdict, Accepted):
                    accept(candidate, verdict)
            return Outcome(candidates)
        for fingerprint, reason in rejected:
            drawing.pool.reject(fingerprint, reason)
        if stopped == "done":
            stopped = drawing.run(voter)


def _report(host: Trace, task: Task, stopped: Stopped) -> None:
    if isinstance(stopped, Abstained):
        # That a model has no more statements is nothing to warn of.
        carry_on(host, task, "info", str(stopped))
    elif isinstance(stopped, Failure):
        carry_on(host, task, "warn", stopped.message)


def _judge(
    host: VotingHost, task: Task, standings: list[Standing], candidates: list[Candidate], verdicts: dict[str, Verdict]
) -> None:
    """Has the results judged that were not judged yet, together. Without a reward they stay as they are."""
    fresh = [
        (standing.cluster.fingerprint, candidate)
        for standing, candidate in zip(standings, candidates)
        if standing.cluster.fingerprint not in verdicts
    ]
    if fresh:
        found = judged(host, task, [candidate for _, candidate in fresh])
        verdicts.update(zip((fingerprint for fingerprint, _ in fresh), found))


@dataclass
class _Poll:
    host: Trace
    task: Task
    most: int
    pool: Pool
    standings: list[Standing]

    def candidates(self) -> list[Candidate]:
        return [candidate for standing in self.standings if (candidate := self._candidate(standing)) is not None]

    def _candidate(self, standing: Standing) -> Optional[Candidate]:
        draw = self.pool.draw(standing.cluster.first)
        if draw is None:
            return None
        candidate = self.pool.candidate(self.task, draw, self.most)
        candidate.raw_confidence = standing.confidence
        candidate.rationale = standing.reason
        candidate.signals.samples = self.pool.ran
        candidate.signals.agreeing = len(standing.cluster.members)
        return candidate

    def log(self) -> None:
        """Logs why each statement that ran was chosen or not; what was wrong with the others was logged when they failed."""
        for draw in self.pool.draws:
            if draw.ran is None:
                continue
            id = candidate_id(self.task.id, draw.number)
            own = next((one for one in self.standings if draw.number in one.cluster.members), None)
            if own is None:
                self.host.discard(id, self.pool.wrong(draw) or "it has no vote")
            elif own is self.standings[0] and own.cluster.first == draw.number:
                self.host.keep(id, own.reason)
            else:
                self.host.discard(id, self._beaten(draw, own))

    def _beaten(self, draw: Draw, own: Standing) -> str:
        best = self.standings[0]
        if own.cluster.first == draw.number:
            return f"{own.reason}, where {candidate_id(self.task.id, best.cluster.first)} has {best.reason}"
        return f"the same result as {candidate_id(self.task.id, own.cluster.first)}"

    def nothing(self, stopped: Stopped, started: int) -> Outcome:
        if isinstance(stopped, Failure):
            raise stopped
        if isinstance(stopped, Abstained):
            return nothing(self.host, str(stopped))
        tried = self.pool.tried()
        last = tried[-1].wrong if tried else "the model gave no statement"
        return nothing(self.host, f"no statement did after {started} of {self.most} attempts: {last}")
