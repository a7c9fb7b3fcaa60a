// The ambiguity score of the default strategy, which the clarifier asks by and the aggregator discounts by.

import { sureness } from "./makers.js";
import { clamp01 } from "./text.js";

/**
 * The weights of the score's four parts: how far the best confidence is from certainty; the population variance of the confidences, when there are at
 * least two; an error, which counts 0.5; and an empty result without an error, which counts 0.3.
 */
export const ambiguityWeights = { doubt: 0.35, variance: 0.15, error: 0.3, empty: 0.2 };

/** How unclear a task is after its attempts, 0 to 1: nothing found at all is 1. */
export function ambiguity(confidences, error, empty, weights = ambiguityWeights) {
  if (confidences.length === 0) return 1;
  const known = confidences.map(clamp01);
  let score = weights.doubt * (1 - known.reduce((best, one) => Math.max(best, one), 0));
  if (known.length >= 2) score += weights.variance * Math.min(variance(known), 1);
  if (error) score += weights.error * 0.5;
  else if (empty) score += weights.empty * 0.3;
  return clamp01(score);
}

/** The score of an observed task. A task that never ran because of another one, or was cancelled, is not unclear itself: null. */
export function ambiguityOf(observation, weights = ambiguityWeights) {
  const { ending, candidates } = observation;
  if (ending === "cancelled" || ending.skipped !== undefined) return null;
  const isError = ending.failed !== undefined;
  return ambiguity(candidates.map(sureness), isError, !isError && isEmpty(observation), weights);
}

/** Whether a task ended with a result that has no rows. */
export const isEmpty = ({ ending, profile }) => ending === "empty" || profile?.rows === 0;

function variance(values) {
  const sum = (all) => all.reduce((total, one) => total + one, 0);
  const mean = sum(values) / values.length;
  return sum(values.map((value) => (value - mean) * (value - mean))) / values.length;
}
