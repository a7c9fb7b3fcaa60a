"""The ambiguity score of the default strategy, which the clarifier asks by and the aggregator discounts by."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Optional, Sequence

from .text import clamp01
from .types import Cancelled, Empty, Failed, Observation, Skipped


@dataclass(frozen=True)
class AmbiguityWeights:
    """The weights of the score's four parts: how far the best confidence is from certainty; the population variance of the confidences, when
    there are at least two; an error, which counts 0.5; and an empty result without an error, which counts 0.3."""

    doubt: float = 0.35
    variance: float = 0.15
    error: float = 0.30
    empty: float = 0.20


def ambiguity(confidences: Sequence[float], error: bool, empty: bool, weights: AmbiguityWeights = AmbiguityWeights()) -> float:
    """How unclear a task is after its attempts, 0 to 1: nothing found at all is 1."""
    if not confidences:
        return 1.0
    known = [clamp01(one) for one in confidences]
    score = weights.doubt * (1.0 - max(known))
    if len(known) >= 2:
        score += weights.variance * min(_variance(known), 1.0)
    if error:
        score += weights.error * 0.5
    elif empty:
        score += weights.empty * 0.3
    return clamp01(score)


def ambiguity_of(seen: Observation, weights: AmbiguityWeights = AmbiguityWeights()) -> Optional[float]:
    """The score of an observed task. A task that never ran because of another one, or was cancelled, is not unclear itself: none."""
    if isinstance(seen.ending, (Skipped, Cancelled)):
        return None
    is_error = isinstance(seen.ending, Failed)
    return ambiguity([one.sureness for one in seen.candidates], is_error, not is_error and is_empty(seen), weights)


def is_empty(seen: Observation) -> bool:
    """Whether a task ended with a result that has no rows."""
    return isinstance(seen.ending, Empty) or (seen.profile is not None and seen.profile.rows == 0)


def _variance(values: Sequence[float]) -> float:
    mean = _sum(values) / len(values)
    return _sum([(value - mean) * (value - mean) for value in values]) / len(values)


def _sum(values: Sequence[float]) -> float:
    """The sum from left to right, as other languages have it: `sum` corrects what is rounded off."""
    total = 0.0
    for value in values:
        total += value
    return total
