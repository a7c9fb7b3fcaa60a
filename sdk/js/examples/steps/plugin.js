// A calibrator that reads the probability of a claim from a list of steps.

import { clamp01, plugin, setting } from "syrch-plugin";

const STEPS = [[0, 0.2], [0.5, 0.5], [0.9, 0.8]];

export default plugin({
  name: "steps",
  version: "1.0.0",
  summary: "reads probabilities from a list of steps",
  settings: {
    steps: setting.pairs(STEPS, "Pairs of a claim and the probability from there on, ascending."),
  },
  calibrator: {
    calibrate({ settings, claims }) {
      return claims.map(({ claimed, signals }) => {
        const reached = settings.steps.filter(([from]) => from <= claimed);
        const [, probability] = reached[reached.length - 1] ?? [0, 0];
        const errors = signals.syntaxErrors + signals.schemaErrors + signals.executionErrors;
        return clamp01(probability - 0.1 * errors);
      });
    },
  },
});
