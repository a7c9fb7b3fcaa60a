import unittest

from plugin import Vote
from syrch_plugin import Catalog, Outcome, Problem, Task
from syrch_plugin.fakes import FakeHost, FakeRows


class Votes(unittest.TestCase):
    def host(self, *statements: tuple[str, float]) -> FakeHost:
        host = FakeHost()
        for sql, confidence in statements:
            host.model.reply_sql(sql, confidence)
        for sql, number in (("SELECT 1", 1), ("SELECT 2", 2), ("SELECT 1 + 1", 2)):
            host.database.answer(sql, FakeRows(["n"], [[number]]))
        return host

    def solve(self, host: FakeHost) -> Outcome:
        return Vote().solve(host, Problem("How many?"), Catalog(), Task("A", "How many?"), [])

    def test_the_result_of_most_draws_wins(self) -> None:
        host = self.host(("SELECT 1", 0.9), ("SELECT 2", 0.5), ("SELECT 1 + 1", 0.6))
        found = [(one.sql, one.signals.agreeing) for one in self.solve(host).candidates]
        self.assertEqual(found, [("SELECT 2", 2), ("SELECT 1", 1)])
        self.assertEqual(host.trace.kept, {"A.2": "2 of 3 results"})
        self.assertEqual(host.trace.discarded, {"A.3": "the same result as A.2", "A.1": "1 of 3 results"})

    def test_equally_many_votes_are_decided_by_the_stated_confidence(self) -> None:
        outcome = self.solve(self.host(("SELECT 1", 0.5), ("SELECT 2", 0.9), ("SELECT 3", 1.0)))
        self.assertEqual(outcome.candidates[0].sql, "SELECT 2")

    def test_without_a_statement_there_is_a_warning(self) -> None:
        host = self.host()
        self.assertEqual(self.solve(host).candidates, [])
        self.assertEqual(host.trace.notes, [("warn", "no statement: the model provider cannot do this: nothing scripted")])
