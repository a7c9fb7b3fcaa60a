import unittest

from roles.solver import {{name_pascal}}Solver
from syrch_plugin import Catalog, Outcome, Problem, Task
from syrch_plugin.fakes import FakeHost, FakeRows


class Solve(unittest.TestCase):
    def solve(self, host: FakeHost) -> Outcome:
        return {{name_pascal}}Solver().solve(host, Problem("How many?"), Catalog(), Task("A", "How many?"), [])

    def test_the_statement_of_the_model_is_the_candidate(self) -> None:
        host = FakeHost()
        host.model.reply_sql("SELECT 7", 0.9)
        host.database.answer("SELECT 7", FakeRows(["n"], [[7]]))
        candidate = self.solve(host).candidates[0]
        self.assertEqual((candidate.id, candidate.sql, candidate.raw_confidence), ("A.1", "SELECT 7", 0.9))
        self.assertEqual(host.trace.proposed, [candidate])

    def test_without_a_model_there_is_a_warning(self) -> None:
        host = FakeHost()
        self.assertEqual(self.solve(host).candidates, [])
        self.assertEqual(host.trace.notes, [("warn", "the model provider cannot do this: nothing scripted")])
