// From a reply to a statement, and from a statement to its result, against a scripted model and database.

import assert from "node:assert/strict";
import { test } from "node:test";
import { FakeHost } from "../src/fakes.js";
import { Failure, LlmError, SqlError, Trials, ask, nothing, settle, written } from "../src/index.js";

const asked = (host) => written(settle(() => host.llm.complete(ask("generate").sql())));

function hostOf() {
  const host = new FakeHost();
  host.database.answer("SELECT 1", ["n"], [[1]]);
  host.database.answer("EMPTY", ["n"], []);
  host.database.failCheck("BAD", new SqlError("unknown-column", "no column x", { suggestions: ["y"] }));
  host.database.failCheck("GONE", new SqlError("unavailable", "locked"));
  return host;
}

test("a statement has the tokens of its call", () => {
  const host = new FakeHost();
  host.model.replySql("SELECT 1", 0.5);
  assert.deepEqual(asked(host), { statement: { sql: "SELECT 1", confidence: 0.5, logprob: null, tokens: 10 } });
});

test("what is no statement is told apart", () => {
  const of = (...error) => {
    const host = new FakeHost();
    host.model.script("generate", new LlmError(...error));
    return asked(host);
  };
  assert.deepEqual(of("malformed", "I cannot"), { noStatement: "the reply held no statement; it began: I cannot" });
  assert.deepEqual(of("too-large"), { tooLarge: true });
  assert.deepEqual(of("refused", "no model"), { abstained: "the model provider gave no answer: no model" });
  const { failed } = of("unavailable", "no network");
  assert.deepEqual([failed instanceof Failure, failed.kind, failed.retryable], [true, "model", true]);
});

test("each text is checked and run once", () => {
  const host = hostOf();
  const trials = new Trials();
  assert.equal(trials.run(host, ["SELECT 1", "BAD", "SELECT 1"]), null);
  const first = trials.get("SELECT 1");
  assert.equal(trials.one(host, "SELECT 1"), first);
  assert.deepEqual(first.ran.doubts, []);
  assert.deepEqual(trials.one(host, "EMPTY").ran.doubts, ["the result has no rows"]);
  const { ran, wrong, signals } = trials.get("BAD");
  assert.deepEqual([ran, wrong, signals.schemaErrors], [null, "no column x; near: y", 1]);
});

test("a database that is gone stops all that follow", () => {
  const trials = new Trials();
  const failure = trials.run(hostOf(), ["GONE", "SELECT 1"]);
  assert.deepEqual([failure.kind, failure.message, failure.retryable], ["database", "locked", true]);
  assert.equal(trials.get("SELECT 1").stopped, failure);
  assert.throws(() => new Trials().one(hostOf(), "GONE"), { kind: "database" });
});

test("nothing is an empty outcome with a warning", () => {
  const host = new FakeHost();
  assert.deepEqual(nothing(host, "no statement ran"), { candidates: [], subtasks: [], ask: null, memo: { reason: "no statement ran" } });
  assert.deepEqual(host.logged.notes, ["no statement ran"]);
});
