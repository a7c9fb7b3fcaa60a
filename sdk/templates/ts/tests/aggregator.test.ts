import assert from "node:assert/strict";
import { test } from "node:test";
import { candidate, task } from "syrch-plugin";
import { call, results } from "syrch-plugin/fakes";
import plugin from "../plugin.ts";

test("a long result has a caveat", () => {
  const last = {
    name: "t_A",
    task: task({ id: "A", text: "Who?" }),
    candidate: candidate({ id: "a", sql: "SELECT 1", confidence: 0.75 }),
    others: [],
    results: results(["n"], [], { rows: 3 }),
  };
  const answer = call(plugin, "aggregator", { settings: { most: 2 }, finished: [last] });
  assert.deepEqual([answer.text, answer.confidence, answer.caveats], ["3 rows", 0.75, ["the result is long"]]);
});
