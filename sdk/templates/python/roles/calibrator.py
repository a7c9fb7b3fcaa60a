"""Turns stated confidences into probabilities."""

from identity import Identity
from syrch_plugin import Calibrator, Settings, Signals, setting
from syrch_plugin.text import clamp01


class CalibratorSettings(Settings):
    error: float = setting(0.1, "What each failed attempt takes off a confidence.", least=0.0, most=1.0)


class {{name_pascal}}Calibrator(Identity, Calibrator):
    settings: CalibratorSettings

    def calibrate(self, claims: list[tuple[float, Signals]]) -> list[float]:
        """One number of 0 to 1 for each claim."""
        return [clamp01(claimed - self.settings.error * errors(signals)) for claimed, signals in claims]


def errors(signals: Signals) -> int:
    return signals.syntax_errors + signals.schema_errors + signals.execution_errors
