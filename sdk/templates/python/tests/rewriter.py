import unittest

from roles.rewriter import {{name_pascal}}Rewriter
from syrch_plugin import Catalog, Trial
from syrch_plugin.fakes import FakeHost, rewrites


class Rewrite(unittest.TestCase):
    def test_one_statement_is_proposed(self) -> None:
        trials = [Trial("slower", speed=0.9), Trial("mismatch")]
        proposals = rewrites({{name_pascal}}Rewriter(), FakeHost(), "SELECT count(id) FROM orders", Catalog(), trials)
        self.assertEqual([proposal.sql for proposal in proposals], ["SELECT count(*) FROM orders"])
