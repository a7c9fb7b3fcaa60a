"""The discount of a claim by what happened on the way to its statement, as the built-in calibrator `signals` applies it. The weights are the table
of syrch 0.1.2; each discounts once, however often its signal occurred."""

from __future__ import annotations

from .settings import Settings, setting
from .text import clamp01
from .types import Signals


class Weights(Settings):
    """How much each signal takes off a confidence. A calibrator with these settings has `settings: Weights`, or a subclass of it."""

    syntax: float = setting(0.10, "Taken off when an attempt did not parse.", least=0.0, most=1.0)
    schema: float = setting(0.05, "Taken off when an attempt named what the catalog lacks.", least=0.0, most=1.0)
    execution: float = setting(0.10, "Taken off when an attempt failed while running.", least=0.0, most=1.0)
    empty: float = setting(0.15, "Taken off when the result has no rows.", least=0.0, most=1.0)
    null_column: float = setting(0.05, "Taken off when a column of the result is NULL throughout.", least=0.0, most=1.0)
    overflow: float = setting(0.05, "Taken off when the result is larger than expected.", least=0.0, most=1.0)
    retry: float = setting(
        0.05, "Taken off when the last allowed attempt was needed; earlier attempts lose their share of it.", least=0.0, most=1.0
    )


def discounted(raw: float, signals: Signals, weights: Weights) -> float:
    """`clamp01(raw × Π (1 − weight))` over the signals that occurred."""
    confidence = clamp01(raw)
    for occurred, weight in (
        (signals.syntax_errors > 0, weights.syntax),
        (signals.schema_errors > 0, weights.schema),
        (signals.execution_errors > 0, weights.execution),
        (signals.empty_result, weights.empty),
        (signals.null_columns > 0, weights.null_column),
        (signals.overflow, weights.overflow),
    ):
        if occurred:
            confidence *= 1.0 - weight
    return clamp01(confidence * (1.0 - weights.retry * _retry_share(signals.attempts, signals.max_attempts)))


def _retry_share(attempts: int, most: int) -> float:
    """Nothing for the first attempt, and nothing when only one is allowed."""
    return 0.0 if most <= 1 else (min(max(attempts, 1), most) - 1) / most
