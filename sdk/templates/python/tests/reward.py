import unittest

from roles.reward import {{name_pascal}}Reward, RewardSettings
from syrch_plugin import Accepted, Candidate, Catalog, Problem, Rejected, Rival, Task, Verdict
from syrch_plugin.fakes import FakeHost, FakeRows


class Judge(unittest.TestCase):
    def verdict(self, rows: int) -> Verdict:
        rival = Rival(Candidate("a", "SELECT 1"), FakeRows(["n"], [], counted=rows))
        plugin = {{name_pascal}}Reward(RewardSettings(most_rows=2))
        return plugin.judge(FakeHost(), Problem("all"), Catalog(), Task("A", "all"), [rival])[0]

    def test_empty_and_long_results_are_rejected(self) -> None:
        self.assertEqual(self.verdict(0), Rejected(0.0, "the result has no rows"))
        self.assertEqual(self.verdict(2), Accepted(1.0, "2 rows"))
        self.assertEqual(self.verdict(3), Rejected(0.0, "3 rows are too many"))
