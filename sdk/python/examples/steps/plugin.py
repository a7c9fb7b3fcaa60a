"""A calibrator that reads the probability of a claim from a list of steps."""

from syrch_plugin import Calibrator, Settings, Signals, export, setting


class StepsSettings(Settings):
    """What the user may set."""

    steps: list[tuple[float, float]] = setting(
        [(0.0, 0.2), (0.5, 0.5), (0.9, 0.8)], "Pairs of a claim and the probability from there on, ascending."
    )


class Steps(Calibrator):
    name = "steps"
    summary = "reads probabilities from a list of steps"
    settings: StepsSettings

    def calibrate(self, claims: list[tuple[float, Signals]]) -> list[float]:
        return [self.probability(claimed, signals) for claimed, signals in claims]

    def probability(self, claimed: float, signals: Signals) -> float:
        reached = [probability for start, probability in self.settings.steps if start <= claimed]
        errors = signals.syntax_errors + signals.schema_errors + signals.execution_errors
        return min(1.0, max(0.0, (reached[-1] if reached else 0.0) - 0.1 * errors))


export(Steps)
