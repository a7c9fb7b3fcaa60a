import assert from "node:assert/strict";
import { test } from "node:test";
import { accepted, rejected } from "syrch-plugin";
import { call, results } from "syrch-plugin/fakes";
import plugin from "../plugin.ts";

test("a long result is rejected", () => {
  const rival = (rows: number) => ({ candidate: { id: "a", sql: "SELECT 1" }, results: results(["n"], [], { rows }) });
  const verdicts = call(plugin, "reward", { settings: { most: 2 }, rivals: [rival(2), rival(3)] });
  assert.deepEqual(verdicts, [accepted(1, "2 rows"), rejected(0, "3 rows are too many")]);
});
