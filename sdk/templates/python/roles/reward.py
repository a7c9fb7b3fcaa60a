"""Judges all candidates of a task."""

from identity import Identity
from syrch_plugin import Accepted, Catalog, Problem, Rejected, Reward, RewardHost, Rival, Settings, Task, Verdict, setting


class RewardSettings(Settings):
    most_rows: int = setting(1000, "Results with more rows are rejected.", least=1, most=1_000_000)


class {{name_pascal}}Reward(Identity, Reward):
    settings: RewardSettings

    def judge(self, host: RewardHost, problem: Problem, catalog: Catalog, task: Task, rivals: list[Rival]) -> list[Verdict]:
        """One verdict for each rival, in order."""
        return [self.verdict(rival.results.profile().rows) for rival in rivals]

    def verdict(self, rows: int) -> Verdict:
        if rows == 0:
            return Rejected(0.0, "the result has no rows")
        if rows > self.settings.most_rows:
            return Rejected(0.0, f"{rows} rows are too many")
        return Accepted(1.0, f"{rows} rows")
