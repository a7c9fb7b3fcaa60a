import assert from "node:assert/strict";
import { test } from "node:test";
import { rewrites } from "syrch-plugin/fakes";
import plugin from "../plugin.js";

test("a condition that always holds is dropped once", () => {
  const proposals = rewrites(plugin, "SELECT id FROM customers WHERE 1 = 1", ["mismatch", "mismatch"]);
  assert.deepEqual(proposals.map(({ sql }) => sql), ["SELECT id FROM customers"]);
});
