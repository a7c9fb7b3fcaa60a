import assert from "node:assert/strict";
import { test } from "node:test";
import { catalog, task } from "syrch-plugin";
import { call } from "syrch-plugin/fakes";
import plugin from "./plugin.js";

const question = "Which customers have no orders?";
const plan = (settings) =>
  call(plugin, "planner", {
    settings,
    problem: { question },
    catalog: catalog({ tables: [{ name: "customers" }, { name: "Orders" }, { name: "notes" }] }),
  });

test("one task answers the question", () => {
  assert.deepEqual(plan({}), { tasks: [task({ id: "A", text: question })], answer: "A", memo: null });
});

test("each table of the question has a task", () => {
  const { tasks } = plan({ per_table: true });
  assert.deepEqual(tasks.map(({ text }) => text), [`${question} (table customers)`, `${question} (table Orders)`, question]);
  assert.deepEqual(tasks[2].dependsOn, ["T1", "T2"]);
  assert.equal(tasks[2].tolerant, true);
});
