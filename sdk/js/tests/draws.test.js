// Drawing and voting against scripted models and databases.

import assert from "node:assert/strict";
import { test } from "node:test";
import { FakeHost } from "../src/fakes.js";
import { Brief, Drawing, Failure, LlmError, SqlError, catalog, drawRequest, elect, problem, rejected, task } from "../src/index.js";

const ASKED = task({ id: "A", text: "How much?" });

/** A model that gives these replies; `SELECT n` gives n, `EMPTY` no rows, and `BAD` does not parse. */
function hostOf(...replies) {
  const host = new FakeHost();
  for (const sql of replies) {
    host.model.replySql(sql, null);
    if (sql.startsWith("EMPTY")) host.database.answer(sql, ["n"], []);
    else if (sql.startsWith("BAD")) host.database.failCheck(sql, new SqlError("syntax", "cannot parse"));
    else host.database.answer(sql, ["n"], [[Number(sql.split(" ")[1])]]);
  }
  return host;
}

/** Samples until `agree` results are equal, at most `most` times. */
function voter(host, most, agree = most) {
  const brief = new Brief(host, {}, { problem: problem("How much?"), catalog: catalog(), task: ASKED });
  return {
    request: (number) => drawRequest(brief, [], number, 0.7),
    missing: (pool) => Math.min(Math.max(0, agree - (pool.clusters()[0]?.members.length ?? 0)), most - pool.draws.length),
    shorten: () => brief.shorten(),
    standings: (pool) => pool.clusters().map((cluster) => ({ cluster, confidence: cluster.members.length / pool.ran, reason: `${cluster.members.length} of ${pool.ran}` })),
  };
}

const lines = (host, kind) => host.logged.lines.flatMap((line) => (line[kind] ? [line[kind]] : []));

test("the largest group wins, and the log says what became of each draw", () => {
  const host = hostOf("SELECT 1", "SELECT 2", "BAD", "SELECT 2 -- again");
  const { candidates } = elect(host, ASKED, 4, 1000, voter(host, 4));
  assert.deepEqual(candidates.map(({ id, rawConfidence }) => [id, rawConfidence]), [["A.2", 2 / 3], ["A.1", 1 / 3]]);
  const { samples, agreeing, attempts, maxAttempts, extra } = candidates[0].signals;
  assert.deepEqual([samples, agreeing, attempts, maxAttempts, extra.get("tokens")], [3, 2, 2, 4, 10]);
  assert.deepEqual(lines(host, "propose").map(({ id }) => id), ["A.1", "A.2", "A.3", "A.4"]);
  assert.deepEqual(lines(host, "keep"), [["A.2", "2 of 3"]]);
  assert.deepEqual(lines(host, "discard"), [["A.3", "cannot parse"], ["A.1", "1 of 3, where A.2 has 2 of 3"], ["A.4", "the same result as A.2"]]);
});

test("it stops as soon as enough agree, and never draws more than are missing", () => {
  const host = hostOf("SELECT 1", "SELECT 1", "SELECT 1");
  elect(host, ASKED, 5, 1000, voter(host, 5, 2));
  assert.equal(host.model.requests.length, 2);
});

test("the reward may reject a result, and more are drawn", () => {
  const host = hostOf("SELECT 1", "SELECT 2");
  host.judges.judge("SELECT 1", rejected(0, "not that")).judge("SELECT 2", { accepted: { score: 0.9 } });
  const { candidates } = elect(host, ASKED, 2, 1000, voter(host, 2, 1));
  assert.deepEqual(candidates.map(({ sql, score }) => [sql, score]), [["SELECT 2", 0.9]]);
  assert.equal(host.logged.discarded("A.1"), "rejected: not that");
});

test("a repair is a child of what it repairs", () => {
  const host = hostOf("BAD");
  host.model.replySql("SELECT 1", 0.5, "repair");
  host.database.answer("SELECT 1", ["n"], [[1]]);
  const brief = new Brief(host, {}, { problem: problem("How much?"), catalog: catalog(), task: ASKED });
  const drawing = new Drawing(host, ASKED, 2);
  drawing.run({ inRounds: true, request: (number, pool) => drawRequest(brief, pool.triedLately(false, 3), number), missing: (pool) => (pool.ran ? 0 : 1) });
  const last = drawing.pool.draws[1];
  assert.equal(last.repairs, 1);
  const candidate = drawing.pool.candidate(ASKED, last, 2);
  assert.deepEqual([candidate.parents, candidate.origin, candidate.signals.syntaxErrors], [["A.1"], "repair", 1]);
  assert.match(host.model.prompt(1), /Attempt 1:\nBAD\nWhat was wrong: cannot parse\n/);
});

test("without a statement there is no candidate; an outage is a failure", () => {
  const silent = new FakeHost();
  silent.model.script("generate", new LlmError("refused", "no model"));
  const outcome = elect(silent, ASKED, 1, 1000, voter(silent, 1));
  assert.deepEqual([outcome.candidates, outcome.memo], [[], { reason: "the model provider gave no answer: no model" }]);
  const empty = hostOf("EMPTY");
  assert.equal(elect(empty, ASKED, 1, 1000, voter(empty, 1)).memo.reason, "no statement did after 1 of 1 attempts: the result has no rows");
  const away = new FakeHost();
  away.model.script("generate", new LlmError("unavailable", "no network"));
  assert.throws(() => elect(away, ASKED, 1, 1000, voter(away, 1)), (error) => error instanceof Failure && error.kind === "model" && error.retryable);
});

test("a prompt that is too large is made shorter and does not count", () => {
  const host = new FakeHost();
  host.model.script("generate", new LlmError("too-large"));
  host.model.replySql("SELECT 1");
  host.database.answer("SELECT 1", ["n"], [[1]]);
  assert.equal(elect(host, ASKED, 1, 1000, voter(host, 1)).candidates[0].id, "A.1");
});
