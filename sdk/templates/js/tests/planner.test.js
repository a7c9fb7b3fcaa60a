import assert from "node:assert/strict";
import { test } from "node:test";
import { catalog } from "syrch-plugin";
import { call } from "syrch-plugin/fakes";
import plugin from "../plugin.js";

test("the question comes after the tables that it names", () => {
  const tables = [{ name: "customers" }, { name: "orders" }];
  const graph = call(plugin, "planner", { problem: { question: "How many customers?" }, catalog: catalog({ tables }) });
  assert.deepEqual(graph.tasks.map(({ text }) => text), ["How many customers? (table customers)", "How many customers?"]);
  assert.deepEqual(graph.tasks[1].dependsOn, ["T1"]);
});
