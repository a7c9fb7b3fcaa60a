// The exports of a component, called as the bindings call them: raw values in, raw values out.

import assert from "node:assert/strict";
import { test } from "node:test";
import { component } from "../src/component.js";
import { Failure, LlmError, accepted, plugin, setting } from "../src/index.js";

const PROBLEM = { question: "?", evidence: null, goal: null, answers: [["a", "b"]], hints: [], terms: [], extra: [["kind", '"x"']] };
const SYNTAX = { title: "kdb+", rules: "", backticks: true, foldsNames: false, backslashEscapes: false };
const CATALOG = { database: "shop", dialect: { tag: "other", val: "kdb" }, tables: [], syntax: SYNTAX };
const TASK = {
  id: "A", parent: null, text: "?", operation: { tag: "retrieve", val: { corpus: { tag: "notes" }, retriever: { tag: "vector" }, text: "x", limit: 3 } },
  dependsOn: [], join: { tag: "at-least", val: 2 }, tolerant: false, priority: 0, confidence: null, expected: null, database: null, context: '{"n":1.0}',
};
const SIGNALS = {
  attempts: 1, maxAttempts: 3, syntaxErrors: 0, schemaErrors: 0, executionErrors: 0, emptyResult: false, nullColumns: 0, overflow: false,
  samples: 0, agreeing: 0, logprob: null, reward: null, extra: [["tokens", 10]],
};
const CANDIDATE = { id: "c", parents: [], origin: "x", sql: "SELECT 1", rawConfidence: null, confidence: null, score: null, rationale: null, signals: SIGNALS, extra: [] };

class RawResults {
  released = 0;
  profile() {
    return { rows: 2, truncated: false, columns: [], warnings: [] };
  }
  fingerprint({ tag }) {
    return tag;
  }
  [Symbol.dispose]() {
    this.released += 1;
  }
}

/** The ports of a reward, and what they were called with. */
function portsOf(overrides = {}) {
  const notes = [];
  const trace = { note: (level, message) => notes.push([level, message]) };
  return { notes, ports: { trace, ...overrides } };
}

const judging = (judge, settings = {}) => plugin({ name: "test", settings, reward: { judge } });
const judged = (judge, overrides) => {
  const { notes, ports } = portsOf(overrides);
  const results = new RawResults();
  const call = () => component(judging(judge), ports).reward.judge(PROBLEM, CATALOG, TASK, [{ candidate: CANDIDATE, results }]);
  return { call, notes, results };
};
const thrown = (call) => {
  try {
    call();
  } catch (error) {
    return error;
  }
  return assert.fail("nothing was thrown");
};

test("a role gets whole values and may return the fields that matter", () => {
  const { call } = judged(({ problem, catalog, task, rivals }) => {
    assert.deepEqual([problem.answers, problem.extra.get("kind"), catalog.dialect, catalog.syntax.title], [[["a", "b"]], "x", "kdb", "kdb+"]);
    assert.deepEqual([task.operation.retrieve.corpus, task.join, task.context], ["notes", { atLeast: 2 }, { n: 1 }]);
    assert.deepEqual([rivals[0].results.profile.rows, rivals[0].results.fingerprint("bag")], [2, "bag"]);
    assert.equal(rivals[0].candidate.signals.extra.get("tokens"), 10);
    return [accepted(1), { rejected: { score: 0.5, reason: "no", checks: [["a", true]] } }, { unavailable: "later" }];
  });
  assert.deepEqual(call(), [
    { tag: "accepted", val: { score: 1, reason: "", checks: [] } },
    { tag: "rejected", val: { score: 0.5, reason: "no", checks: [["a", true]] } },
    { tag: "unavailable", val: "later" },
  ]);
});

test("a failure keeps its kind, and another exception becomes internal with its stack in the trace", () => {
  const meant = judged(() => {
    throw new Failure("unsupported", "not here", { retryable: true });
  });
  assert.deepEqual(thrown(meant.call), { kind: { tag: "unsupported" }, message: "not here", retryable: true });
  assert.deepEqual(meant.notes, []);
  const other = judged(() => {
    throw new Error("the sky falls");
  });
  assert.deepEqual(thrown(other.call), { kind: { tag: "internal" }, message: "the sky falls", retryable: false });
  assert.match(other.notes[0][1], /^Error: the sky falls\n[^]*component\.test\.js/);
  assert.equal(other.notes[0][0], "debug");
  const defect = judged(() => null.rows);
  assert.match(thrown(defect.call).message, /^TypeError: /);
  assert.equal(thrown(judged(() => { throw "a text"; }).call).message, "a text");
});

test("a wrong value is named by its field", () => {
  const message = (value) => thrown(judged(() => value).call).message;
  assert.equal(message([{ accepted: { score: "high" } }]), 'TypeError: judge[0].accepted.score must be a number, not "high"');
  assert.equal(message([{ accept: {} }]), "TypeError: judge[0] must be one of { accepted: … }, { rejected: … }, { unavailable: … }, not an object with accept");
  assert.equal(message([{ accepted: { score: 1, reasons: "x" } }]), 'TypeError: judge[0].accepted has no field "reasons": the fields are score, reason, checks');
  assert.equal(message("yes"), 'TypeError: judge must be a list, not "yes"');
  assert.equal(message(undefined), "TypeError: judge returned nothing");
  assert.equal(message(Promise.resolve([])), "TypeError: judge must be a plain function: it returned a promise");
});

test("results and calls in flight are released at the end of the role call", () => {
  const opened = new RawResults();
  const pending = { ticket: () => 7, cancel() {}, get: () => null, released: 0, [Symbol.dispose]() { this.released += 1; } };
  let leaked;
  const { call, results } = judged(
    ({ host }) => {
      leaked = host.sql.run("SELECT 1");
      const early = host.llm.start({ purpose: "judge", messages: [] });
      assert.deepEqual(host.wait.any([early]), [early]);
      early.release();
      return [];
    },
    { sql: { run: () => opened }, llm: { start: () => pending }, wait: { any: (tickets) => tickets } },
  );
  call();
  assert.deepEqual([results.released, opened.released, pending.released], [1, 1, 1]);
  assert.throws(() => leaked.profile, { message: "the result was released" });
});

test("errors of ports are exceptions with a kind, and failures of that kind if nobody catches them", () => {
  const raise = (payload) => () => {
    throw Object.assign(new Error("raw"), { payload });
  };
  const overrides = {
    llm: { complete: raise({ tag: "unavailable", val: "no network" }) },
    sql: { run: raise({ kind: "unknown-table", message: "no such table", position: 3, suggestions: ["a"] }) },
    rows: { read: raise({ tag: "denied", val: "not granted" }) },
  };
  const kind = (use) => thrown(judged(({ host, rivals }) => use(host, rivals), overrides).call);
  const failure = kind((host) => host.llm.complete({ purpose: "judge", messages: [] }));
  assert.deepEqual([failure.kind.tag, failure.retryable], ["model", true]);
  assert.equal(kind((host) => host.sql.run("x")).kind.tag, "database");
  assert.equal(kind((host, rivals) => host.rows.read(rivals[0].results)).kind.tag, "unsupported");
  const { call } = judged(({ host }) => {
    assert.throws(() => host.sql.run("x"), { name: "SqlError", kind: "unknown-table", position: 3, suggestions: ["a"] });
    assert.throws(() => host.llm.complete({ purpose: "judge", messages: [] }), (error) => error instanceof LlmError && error.kind === "unavailable");
    return [];
  }, overrides);
  assert.deepEqual(call(), []);
});

test("big whole numbers: exact up to 2^53, rounded with a note beyond, and a BigInt of a role where it fits", () => {
  const page = { columns: ["n"], rows: [[{ tag: "integer", val: 2 ** 53 }]], clipped: false };
  const reads = [];
  const { call, notes } = judged(
    ({ host, rivals }) => {
      host.rows.read(rivals[0].results, { offset: 5n, limit: 2n });
      return [{ accepted: { score: 1n } }];
    },
    { rows: { read: (_, offset, limit) => (reads.push([offset, limit]), page) } },
  );
  assert.equal(call()[0].val.score, 1);
  assert.deepEqual(reads, [[5, 2]]);
  assert.match(notes[0][1], /^whole numbers beyond 9007199254740991 are rounded/);
  assert.match(thrown(judged(({ host, rivals }) => host.rows.read(rivals[0].results, { limit: -1 }), { rows: {} }).call).message, /rows\.read\.limit must be a whole number/);
});

test("numbers of 32 bits are never negative", () => {
  const policy = { highConfidence: 0.5, maxAttempts: -1, maxDepth: 1, maxParallel: 1, maxRounds: 1 };
  const { call } = judged(({ host }) => (assert.equal(host.run.policy().maxAttempts, 4294967295), []), { run: { currentPolicy: () => policy } });
  assert.deepEqual(call(), []);
  const made = component(plugin({ name: "x", calibrator: { calibrate: ({ claims }) => claims.map(({ signals }) => signals.attempts) } }), {});
  assert.deepEqual(made.calibrator.calibrate([[0.5, { ...SIGNALS, attempts: -1 }]]), [4294967295]);
});

test("a document that goes back unchanged keeps its spelling", () => {
  const made = component(plugin({ name: "test", planner: { plan: () => ({ tasks: [], answer: "A" }) } }), {});
  const next = (memo) => made.planner.next(PROBLEM, CATALOG, { tasks: [TASK], answer: "A", memo }, [], 0);
  assert.deepEqual(next('{"a": 1.0}'), { edits: [], memo: '{"a": 1.0}' });
  assert.deepEqual(next(null), { edits: [], memo: null });
  const changed = plugin({ name: "test", planner: { plan: () => {}, next: ({ graph }) => ({ memo: Object.assign(graph.memo, { b: "\ud800" }) }) } });
  assert.equal(component(changed, {}).planner.next(PROBLEM, CATALOG, { tasks: [], answer: "A", memo: '{"a": 1.0}' }, [], 0).memo, '{"a":1,"b":"\\ud800"}');
});

test("settings: the schema, the reader, and a refusal", () => {
  const declared = { mostRows: setting.integer(100, "The most.", { least: 1, most: 9 }), how: setting.word(["a", "b"], "a", "How.") };
  let seen;
  const made = component(judging(({ settings }) => ((seen = settings), []), declared), portsOf().ports);
  const { properties } = JSON.parse(made.about.describe().configSchema);
  assert.deepEqual(properties.most_rows, { type: "integer", description: "The most.", default: 100, minimum: 1, maximum: 9 });
  made.about.configure('{"most_rows": 7}');
  made.reward.judge(PROBLEM, CATALOG, TASK, []);
  assert.deepEqual(seen, { mostRows: 7, how: "a" });
  const refused = (config) => thrown(() => made.about.configure(config));
  assert.deepEqual(refused('{"how": "c"}'), { kind: { tag: "input" }, message: 'test: `how` must be one of a, b, not "c"', retryable: false });
  assert.match(refused('{"mostRows": 7}').message, /unknown setting `mostRows`; known are most_rows, how/);
});

test("a plugin is checked when it is declared", () => {
  assert.throws(() => plugin({ name: "x", rewards: {} }), /unknown field `rewards`/);
  assert.throws(() => plugin({ name: "x" }), /it has no role/);
  assert.throws(() => plugin({ name: "x", reward: {} }), /the role reward needs the function `judge`/);
});

test("a calibrator has no failure, so its exception goes on with the names of the functions", () => {
  const made = component(plugin({ name: "x", calibrator: { calibrate: ({ claims }) => claims.map(({ claimed }) => claimed.toFixed()) } }), {});
  assert.throws(() => made.calibrator.calibrate([[0.5, SIGNALS]]), { message: /^TypeError: calibrate\[0\] must be a number, not "1"/, stack: "" });
});
