// The discount of a claim by what happened on the way to its statement, as the built-in calibrator `signals` applies it. The weights are the table of
// syrch 0.1.2; each discounts once, however often its signal occurred.

import { setting } from "./settings.js";
import { clamp01 } from "./text.js";

const weight = (initial, description) => setting.number(initial, description, { least: 0, most: 1 });

/** How much each signal takes off a confidence, as settings: `settings: { ...discountWeights }`. */
export const discountWeights = {
  syntax: weight(0.1, "Taken off when an attempt did not parse."),
  schema: weight(0.05, "Taken off when an attempt named what the catalog lacks."),
  execution: weight(0.1, "Taken off when an attempt failed while running."),
  empty: weight(0.15, "Taken off when the result has no rows."),
  nullColumn: weight(0.05, "Taken off when a column of the result is NULL throughout."),
  overflow: weight(0.05, "Taken off when the result is larger than expected."),
  retry: weight(0.05, "Taken off when the last allowed attempt was needed; earlier attempts lose their share of it."),
};

// Nothing for the first attempt, and nothing when only one is allowed.
const retryShare = (attempts, most) => (most <= 1 ? 0 : (Math.min(Math.max(attempts, 1), most) - 1) / most);

/** `clamp01(raw × Π (1 − weight))` over the signals that occurred. `weights` are the settings above. */
export function discounted(weights, raw, signals) {
  const occurred = [
    [signals.syntaxErrors > 0, weights.syntax],
    [signals.schemaErrors > 0, weights.schema],
    [signals.executionErrors > 0, weights.execution],
    [signals.emptyResult, weights.empty],
    [signals.nullColumns > 0, weights.nullColumn],
    [signals.overflow, weights.overflow],
  ];
  const claimed = occurred.reduce((confidence, [has, share]) => (has ? confidence * (1 - share) : confidence), clamp01(raw));
  return clamp01(claimed * (1 - weights.retry * retryShare(signals.attempts, signals.maxAttempts)));
}
