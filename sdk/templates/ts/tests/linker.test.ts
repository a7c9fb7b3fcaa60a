import assert from "node:assert/strict";
import { test } from "node:test";
import { catalog } from "syrch-plugin";
import { call } from "syrch-plugin/fakes";
import plugin from "../plugin.ts";

test("the tables of the question are shown", () => {
  const tables = [{ name: "customers" }, { name: "orders" }];
  const linked = call(plugin, "linker", { problem: { question: "How many Customers?" }, catalog: catalog({ tables }) });
  assert.deepEqual(linked.tables.map(({ table }: { table: string }) => table), ["customers"]);
});
