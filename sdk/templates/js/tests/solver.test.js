import assert from "node:assert/strict";
import { test } from "node:test";
import { FakeHost, call } from "syrch-plugin/fakes";
import plugin from "../plugin.js";

const task = { id: "A", text: "How many customers?" };

test("the statement of the model becomes the candidate", () => {
  const host = new FakeHost();
  host.model.replySql("SELECT count(*) FROM customers", 0.9);
  host.database.answer("SELECT count(*) FROM customers", ["n"], [[3]]);
  const [candidate] = call(plugin, "solver", { host, task }).candidates;
  assert.deepEqual([candidate.id, candidate.sql, candidate.rawConfidence], ["A.1", "SELECT count(*) FROM customers", 0.9]);
  assert.equal(host.logged.kept("A.1"), "it ran");
});

test("a statement that fails is no candidate", () => {
  const host = new FakeHost();
  host.model.replySql("SELECT nothing");
  assert.deepEqual(call(plugin, "solver", { host, task }).candidates, []);
  assert.equal(host.logged.discarded("A.1"), "nothing scripted for this statement");
});
