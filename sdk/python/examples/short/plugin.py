"""A reward that likes short results."""

from syrch_plugin import Accepted, Catalog, Problem, Rejected, Reward, RewardHost, Rival, Settings, Task, Verdict, export, setting


class ShortSettings(Settings):
    """What the user may set: `-P reward.most_rows=20`."""

    most_rows: int = setting(100, "Results with more rows are rejected.", least=1, most=1_000_000)


class Short(Reward):
    name = "short"
    summary = "likes short results"
    settings: ShortSettings

    def judge(self, host: RewardHost, problem: Problem, catalog: Catalog, task: Task, rivals: list[Rival]) -> list[Verdict]:
        return [self.verdict(rival.results.profile().rows) for rival in rivals]

    def verdict(self, rows: int) -> Verdict:
        if rows > self.settings.most_rows:
            return Rejected(0.0, f"{rows} rows are too many")
        return Accepted(1.0, f"{rows} rows")


export(Short)
