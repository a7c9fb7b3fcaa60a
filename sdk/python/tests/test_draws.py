"""Drawing, voting, and what they log."""

from __future__ import annotations

import unittest

from syrch_plugin import Accepted, Catalog, Failure, ModelError, Outcome, Problem, Rejected, Request, SqlError, Task
from syrch_plugin.brief import Brief, PromptSize
from syrch_plugin.draws import Drawing, Pool, Sampler, request
from syrch_plugin.fakes import FakeHost, FakeRows
from syrch_plugin.vote import Standing, Voter, elect

TASK = Task("A", "How many?")


class Majority(Voter):
    """Draws until one result cannot be overtaken any more; a draw repairs the failures before it if `repairs` says so."""

    def __init__(self, host: FakeHost, most: int, repairs: bool = False) -> None:
        self.brief = Brief(host, PromptSize(), Problem("How many?"), Catalog(), TASK, [])
        self.most, self.repairs, self.ended = most, repairs, 0
        self.in_rounds = repairs

    def request(self, number: int, pool: Pool) -> Request:
        return request(self.brief, pool.tried_lately(False, 3) if self.repairs else [], number, 0.7)

    def seen(self, draw: object) -> None:
        self.ended += 1

    def missing(self, pool: Pool) -> int:
        left = self.most - self.ended
        clusters = pool.clusters()
        best = len(clusters[0].members) if clusters else 0
        second = len(clusters[1].members) if len(clusters) > 1 else 0
        if best > second + left:
            return 0
        return min(left, 1) if self.repairs else left

    def standings(self, pool: Pool) -> list[Standing]:
        ran = pool.ran
        return [Standing(one, len(one.members) / ran, f"{len(one.members)} of {ran} results") for one in pool.clusters()]

    def shorten(self) -> bool:
        return self.brief.shorten()


def host(*statements: str) -> FakeHost:
    made = FakeHost()
    for sql in statements:
        made.model.reply_sql(sql, 0.5)
    for sql, number in (("SELECT 1", 1), ("SELECT 2", 2), ("SELECT 1 + 1", 2)):
        made.database.answer(sql, FakeRows(["n"], [[number]]))
    made.database.answer("SELECT nothing", FakeRows(["n"], []))
    return made


def vote(fake: FakeHost, most: int, repairs: bool = False) -> Outcome:
    return elect(fake, TASK, most, 1000, Majority(fake, most, repairs))


class Votes(unittest.TestCase):
    def test_most_votes_win_and_the_log_says_why(self) -> None:
        fake = host("SELECT 1", "SELECT 2", "SELECT 1 + 1")
        outcome = vote(fake, 3)
        found = [(one.id, one.signals.agreeing, one.signals.samples) for one in outcome.candidates]
        self.assertEqual(found, [("A.2", 2, 3), ("A.1", 1, 3)])
        self.assertEqual([one.id for one in fake.trace.proposed], ["A.1", "A.2", "A.3"])
        self.assertEqual(fake.trace.kept, {"A.2": "2 of 3 results"})
        self.assertEqual(
            fake.trace.discarded, {"A.1": "1 of 3 results, where A.2 has 2 of 3 results", "A.3": "the same result as A.2"}
        )

    def test_a_failed_statement_is_repaired_by_the_next_draw(self) -> None:
        fake = host()
        fake.model.reply_sql("SELECT x")
        fake.model.reply_sql("SELECT 1", 0.5, purpose="repair")
        fake.database.fail_check("SELECT x", SqlError("unknown-column", "no column x", None, ["y"]))
        outcome = vote(fake, 2, repairs=True)
        self.assertEqual(outcome.candidates[0].parents, ["A.1"])
        self.assertEqual(outcome.candidates[0].signals.schema_errors, 1)
        self.assertIn("no column x; near: y", fake.model.prompt(1))
        self.assertEqual(fake.trace.discarded["A.1"], "no column x; near: y")

    def test_a_rejected_result_cannot_win(self) -> None:
        fake = host("SELECT 1", "SELECT 2", "SELECT 1 + 1")
        fake.evaluate.judge("SELECT 2", Rejected(0.1, "no"))
        fake.evaluate.judge("SELECT 1", Accepted(0.9, "yes"))
        outcome = vote(fake, 3)
        self.assertEqual([one.sql for one in outcome.candidates], ["SELECT 1"])
        self.assertEqual((outcome.candidates[0].score, outcome.candidates[0].signals.reward), (0.9, 0.9))
        self.assertEqual(fake.trace.discarded["A.2"], "rejected: no")
        self.assertEqual(fake.evaluate.asked, [["SELECT 2", "SELECT 1"]])

    def test_nothing_that_did_is_an_empty_outcome_with_a_warning(self) -> None:
        fake = host("SELECT nothing")
        fake.model.script("generate", ModelError("malformed", "I cannot"))
        outcome = vote(fake, 2)
        self.assertEqual(outcome.candidates, [])
        wrong = "the reply held no statement; it began: I cannot"
        self.assertEqual(fake.trace.notes, [("warn", f"no statement did after 2 of 2 attempts: {wrong}")])

    def test_a_spent_budget_is_a_failure_only_without_a_candidate(self) -> None:
        fake = host()
        fake.model.script("generate", ModelError("budget"))
        with self.assertRaises(Failure) as raised:
            vote(fake, 1)
        self.assertEqual(raised.exception.kind, "budget")
        fake = host("SELECT 1")
        fake.model.script("generate", ModelError("budget"))
        self.assertEqual(len(vote(fake, 2).candidates), 1)
        self.assertEqual(fake.trace.notes[-1], ("warn", "A: going on with what there is: the model budget is used up"))


class Drawings(unittest.TestCase):
    def test_a_prompt_that_is_too_large_is_made_shorter(self) -> None:
        fake = host()
        fake.model.script("generate", ModelError("too-large"))
        fake.model.reply_sql("SELECT 1")
        drawing = Drawing(fake, TASK, 1)
        sampler = Majority(fake, 1)
        self.assertEqual(drawing.run(sampler), "done")
        self.assertEqual(sampler.brief.catalog_bytes, 24_000)
        self.assertEqual([draw.sql for draw in drawing.pool.draws], ["SELECT 1"])

    def test_a_prompt_that_stays_too_large_is_a_failure(self) -> None:
        fake = host()
        fake.model.script("generate", ModelError("too-large"))

        class Stubborn(Majority):
            def shorten(self) -> bool:
                return False

        stopped = Drawing(fake, TASK, 1).run(Stubborn(fake, 1))
        self.assertEqual(stopped, Failure("the prompt or the reply is over the limit", "model"))

    def test_a_database_that_is_gone_ends_the_drawing(self) -> None:
        fake = host("SELECT 1", "SELECT 2")
        fake.database.fail_run("SELECT 1", SqlError("unavailable", "locked"))
        stopped = Drawing(fake, TASK, 2).run(Majority(fake, 2))
        self.assertEqual(stopped, Failure("locked", "database", retryable=True))

    def test_the_base_class_does_not_shorten(self) -> None:
        self.assertFalse(Sampler().shorten())
