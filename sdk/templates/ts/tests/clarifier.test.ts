import assert from "node:assert/strict";
import { test } from "node:test";
import { observation } from "syrch-plugin";
import { call } from "syrch-plugin/fakes";
import plugin from "../plugin.ts";

test("a failed task is asked about", () => {
  const failed = { kind: "model", message: "no idea", retryable: false };
  const questions = call(plugin, "clarifier", {
    graph: { tasks: [{ id: "A", text: "the sums" }], answer: "A" },
    seen: [observation({ task: "A", ending: { failed } }), observation({ task: "B", ending: "solved" })],
  });
  assert.deepEqual(questions.map(({ text }: { text: string }) => text), ['"the sums" failed: no idea. How else can it be said?']);
});
