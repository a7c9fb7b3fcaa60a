import assert from "node:assert/strict";
import { test } from "node:test";
import { LlmError, SqlError } from "syrch-plugin";
import { FakeHost, call } from "syrch-plugin/fakes";
import plugin from "./plugin.ts";

/** A model that gives these statements; `SELECT n` gives n, and a remark makes another statement of the same result. */
function hostOf(statements: [sql: string, confidence: number][]) {
  const host = new FakeHost();
  for (const [sql, confidence] of statements) {
    host.model.replySql(sql, confidence);
    host.database.answer(sql, ["n"], [[Number(sql.split(" ")[1])]]);
  }
  return host;
}
const ids = (outcome: { candidates: { id: string }[] }) => outcome.candidates.map(({ id }) => id);

test("the result with most votes wins", () => {
  const host = hostOf([["SELECT 1", 0.9], ["SELECT 2", 0.4], ["SELECT 2 -- again", 0.3]]);
  const outcome = call(plugin, "solver", { host, problem: { question: "?" }, task: { id: "A", text: "?" } });
  assert.deepEqual(ids(outcome), ["A.2", "A.1"]);
  const { samples, agreeing } = outcome.candidates[0].signals;
  assert.deepEqual([samples, agreeing, outcome.candidates[0].rationale], [3, 2, "2 of 3 results"]);
  assert.equal(host.logged.kept("A.2"), "2 of 3 results");
  assert.equal(host.logged.discarded("A.3"), "the same result as A.2");
  assert.deepEqual(host.model.requests.map(({ sample, temperature }) => [sample, temperature]), [[0, 0.7], [1, 0.7], [2, 0.7]]);
});

test("equal votes go to the higher stated confidence", () => {
  const host = hostOf([["SELECT 1", 0.2], ["SELECT 2", 0.8]]);
  assert.deepEqual(ids(call(plugin, "solver", { host, settings: { samples: 2 }, task: { id: "A", text: "?" } })), ["A.2", "A.1"]);
});

test("without a statement the outcome is empty, with a warning", () => {
  const host = new FakeHost();
  host.model.script("generate", new LlmError("refused", "no model"));
  const outcome = call(plugin, "solver", { host, settings: { samples: 1 } });
  assert.deepEqual(outcome.candidates, []);
  assert.deepEqual(host.logged.notes, ["no statement: the model provider gave no answer: no model"]);
});

test("a database that is gone fails the task", () => {
  const host = hostOf([["SELECT 1", 0.9]]);
  host.database.failCheck("SELECT 1", new SqlError("unavailable", "locked"));
  assert.throws(() => call(plugin, "solver", { host, settings: { samples: 1 } }), { kind: "database", retryable: true });
});
