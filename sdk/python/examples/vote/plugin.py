"""A solver that draws several statements and returns the result on which most of them agree."""

from dataclasses import dataclass
from typing import Optional

from syrch_plugin import (
    Candidate,
    Catalog,
    Failure,
    Outcome,
    Parent,
    Problem,
    Settings,
    Signals,
    Solver,
    SolverHost,
    Task,
    export,
    setting,
)
from syrch_plugin.attempt import Abstained, NoStatement, Ran, Statement, TooLarge, Trials, candidate_id, nothing, too_large, written
from syrch_plugin.brief import Brief, PromptSize
from syrch_plugin.draws import groups, request


class VoteSettings(Settings):
    """What the user may set."""

    samples: int = setting(3, "How many statements are drawn.", least=1, most=16)
    temperature: float = setting(0.7, "The temperature of the model.", least=0.0, most=2.0)


@dataclass
class Draw:
    """A statement that was drawn, and its result or what was wrong with it."""

    candidate: Candidate
    ended: object


class Vote(Solver):
    name = "vote"
    summary = "returns the result on which most samples agree"
    settings: VoteSettings

    def solve(self, host: SolverHost, problem: Problem, catalog: Catalog, task: Task, parents: list[Parent]) -> Outcome:
        brief = Brief(host, PromptSize(), problem, catalog, task, parents)
        statements, wrong = self.statements(host, brief)
        if not statements:
            return nothing(host, f"no statement: {wrong}")
        draws = run(host, task, statements)
        voted = ranked(draws)
        report(host, draws, voted)
        if not voted:
            return nothing(host, f"no statement ran: {draws[0].ended}")
        return Outcome([group[0].candidate for group in voted])

    def statements(self, host: SolverHost, brief: Brief) -> tuple[dict[int, Statement], Optional[str]]:
        """The drawn statements by their numbers, and the first reason why one is missing."""
        numbers = range(1, self.settings.samples + 1)
        replies = host.complete_all([request(brief, [], number, self.settings.temperature) for number in numbers])
        drawn: dict[int, Statement] = {}
        wrong: Optional[str] = None
        for number, reply in zip(numbers, replies):
            try:
                drawn[number] = written(reply)
            except TooLarge:
                wrong = wrong or too_large().message
            except (NoStatement, Abstained, Failure) as why:
                wrong = wrong or str(why)
        return drawn, wrong


def run(host: SolverHost, task: Task, statements: dict[int, Statement]) -> list[Draw]:
    trials = Trials()
    trials.run(host, [statement.sql for statement in statements.values()])
    draws = []
    for number, statement in statements.items():
        trial = trials.get(statement.sql)
        candidate = Candidate(candidate_id(task.id, number), statement.sql, "generate", raw_confidence=statement.confidence)
        draws.append(Draw(candidate, trial.ended if trial else "it was not run"))
    return draws


def ranked(draws: list[Draw]) -> list[list[Draw]]:
    """The groups of draws with equal results: more votes first, then a higher stated confidence, then the first drawn."""
    ran = [(draw, draw.ended.fingerprint) for draw in draws if isinstance(draw.ended, Ran)]
    voted = [[ran[place][0] for place in places] for places in groups([fingerprint for _, fingerprint in ran])]
    for group in voted:
        for draw in group:
            draw.candidate.rationale = f"{len(group)} of {len(ran)} results"
            draw.candidate.signals = Signals(samples=len(ran), agreeing=len(group))
    return sorted(voted, key=lambda group: (-len(group), -max(draw.candidate.raw_confidence or 0.0 for draw in group)))


def report(host: SolverHost, draws: list[Draw], voted: list[list[Draw]]) -> None:
    """Reports every draw and what became of it."""
    for draw in draws:
        host.propose(draw.candidate)
    for draw in draws:
        group = next((group for group in voted if draw in group), None)
        if group is None:
            host.discard(draw.candidate.id, str(draw.ended))
        elif draw is not group[0]:
            host.discard(draw.candidate.id, f"the same result as {group[0].candidate.id}")
        elif group is voted[0]:
            host.keep(draw.candidate.id, draw.candidate.rationale or "")
        else:
            host.discard(draw.candidate.id, draw.candidate.rationale or "")


export(Vote)
