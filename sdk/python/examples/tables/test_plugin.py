import unittest

from plugin import Tables, TablesSettings
from syrch_plugin import Catalog, Graph, Problem, Table, Task
from syrch_plugin.fakes import FakeHost


class Tasks(unittest.TestCase):
    def graph(self, per_table: bool) -> Graph:
        catalog = Catalog("shop", "sqlite", [Table("customers"), Table("Orders"), Table("notes")])
        plugin = Tables(TablesSettings(per_table=per_table))
        return plugin.plan(FakeHost(), Problem("Which customers have no orders?"), catalog)

    def test_each_table_of_the_question_has_a_task(self) -> None:
        self.assertEqual(self.graph(False), Graph([Task("A", "Which customers have no orders?")]))
        graph = self.graph(True)
        self.assertEqual(
            [task.text for task in graph.tasks[:2]],
            ["Which customers have no orders? (table customers)", "Which customers have no orders? (table Orders)"],
        )
        self.assertEqual(graph.tasks[2].depends_on, ["T1", "T2"])
        self.assertTrue(graph.tasks[2].tolerant)
        self.assertEqual(graph.answer, "A")
