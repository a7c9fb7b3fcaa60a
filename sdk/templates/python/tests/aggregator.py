import unittest

from roles.aggregator import {{name_pascal}}Aggregator
from syrch_plugin import Candidate, Finished, Graph, Problem, Task
from syrch_plugin.fakes import FakeHost, FakeRows


class Aggregate(unittest.TestCase):
    def test_the_last_task_gives_the_answer(self) -> None:
        task = Task("A", "all")
        finished = Finished("t_A", task, Candidate("a", "SELECT 1", confidence=0.8), FakeRows(["n"], [[1]]))
        answer = {{name_pascal}}Aggregator().aggregate(FakeHost(), Problem("all"), Graph([task]), [finished], [])
        assert answer is not None
        self.assertEqual((answer.text, answer.candidate, answer.confidence), ("The result has 1 row.", "a", 0.8))
