import unittest

from roles.clarifier import {{name_pascal}}Clarifier
from syrch_plugin import Catalog, Failed, Failure, Graph, Observation, Problem, Question, Solved, Table, Task
from syrch_plugin.types import Ending
from syrch_plugin.fakes import FakeHost


class Assess(unittest.TestCase):
    def questions(self, ending: Ending) -> list[Question]:
        catalog = Catalog("shop", "sqlite", [Table("customers"), Table("orders")])
        graph = Graph([Task("A", "How many?")])
        seen = [Observation("A", ending)]
        return {{name_pascal}}Clarifier().assess(FakeHost(), Problem("How many?"), catalog, graph, seen)

    def test_only_a_search_without_a_result_asks(self) -> None:
        self.assertEqual(self.questions(Solved()), [])
        self.assertEqual(self.questions(Failed(Failure("no statement", "model")))[0].choices, ["customers", "orders"])
