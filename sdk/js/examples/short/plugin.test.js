import assert from "node:assert/strict";
import { test } from "node:test";
import { accepted, rejected } from "syrch-plugin";
import { call, results } from "syrch-plugin/fakes";
import plugin from "./plugin.js";

const rival = (rows) => ({ candidate: { id: `c${rows}`, sql: "SELECT n FROM numbers" }, results: results(["n"], [], { rows }) });

test("a result with more rows than the setting is rejected", () => {
  const verdicts = call(plugin, "reward", { settings: { most_rows: 2 }, rivals: [rival(1), rival(2), rival(3)] });
  assert.deepEqual(verdicts, [accepted(1, "1 rows"), accepted(1, "2 rows"), rejected(0, "3 rows are too many")]);
});

test("a wrong setting is refused", () => {
  assert.throws(() => call(plugin, "reward", { settings: { most_rows: 0 } }), { kind: "input", message: /`most_rows` must be from 1/ });
});
