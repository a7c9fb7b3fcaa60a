import unittest

from roles.planner import {{name_pascal}}Planner
from syrch_plugin import Catalog, Graph, Problem, Task
from syrch_plugin.fakes import FakeHost


class Plan(unittest.TestCase):
    def test_the_question_is_one_task(self) -> None:
        graph = {{name_pascal}}Planner().plan(FakeHost(), Problem("How many orders?"), Catalog())
        self.assertEqual(graph, Graph([Task("A", "How many orders?")]))
