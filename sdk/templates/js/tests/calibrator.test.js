import assert from "node:assert/strict";
import { test } from "node:test";
import { call } from "syrch-plugin/fakes";
import plugin from "../plugin.js";

test("many attempts halve a claim", () => {
  const claims = [{ claimed: 0.8, signals: { attempts: 2 } }, { claimed: 0.8, signals: { attempts: 3 } }];
  assert.deepEqual(call(plugin, "calibrator", { settings: { most: 2 }, claims }), [0.8, 0.4]);
});
