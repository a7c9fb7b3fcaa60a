import unittest

from roles.linker import {{name_pascal}}Linker
from syrch_plugin import Catalog, Problem, Relevant, Table
from syrch_plugin.fakes import FakeHost


class Link(unittest.TestCase):
    def test_a_table_of_the_question_is_shown(self) -> None:
        catalog = Catalog("shop", "sqlite", [Table("customers"), Table("orders")])
        linked = {{name_pascal}}Linker().link(FakeHost(), Problem("How many orders?"), catalog)
        self.assertEqual(linked.tables, [Relevant("orders", reason="the question names it")])
