import unittest

from plugin import Short, ShortSettings
from syrch_plugin import Accepted, Candidate, Catalog, Problem, Rejected, Rival, Task, Verdict
from syrch_plugin.fakes import FakeHost, FakeRows


class LongResults(unittest.TestCase):
    def verdict(self, rows: int) -> Verdict:
        rival = Rival(Candidate("a", "SELECT 1"), FakeRows(["n"], [], counted=rows))
        plugin = Short(ShortSettings(most_rows=2))
        return plugin.judge(FakeHost(), Problem("all customers"), Catalog(), Task("A", "all customers"), [rival])[0]

    def test_long_results_are_rejected(self) -> None:
        self.assertEqual(self.verdict(2), Accepted(1.0, "2 rows"))
        self.assertEqual(self.verdict(3), Rejected(0.0, "3 rows are too many"))
