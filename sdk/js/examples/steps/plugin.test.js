import assert from "node:assert/strict";
import { test } from "node:test";
import { call } from "syrch-plugin/fakes";
import plugin from "./plugin.js";

test("a claim has the probability of its step less its errors", () => {
  const claims = [{ claimed: 0.49 }, { claimed: 0.5 }, { claimed: 1 }, { claimed: 0.1, signals: { syntaxErrors: 3 } }];
  assert.deepEqual(call(plugin, "calibrator", { claims }), [0.2, 0.5, 0.8, 0]);
});

test("the user may set other steps", () => {
  assert.deepEqual(call(plugin, "calibrator", { settings: { steps: [[0.5, 1]] }, claims: [{ claimed: 0.4 }, { claimed: 0.6 }] }), [0, 1]);
});
