// A host for unit tests: scripted models, databases and judges, and a record of all requests and log entries. It stands behind the same code
// as the real host, so that a wrong value fails in a test as it would in a search.

import * as contract from "./contract.js";
import { LlmError, PortError, SqlError, failureOf } from "./errors.js";
import { ResultSet, scoped } from "./handles.js";
import { hostOf } from "./ports.js";
import { ROLES, checkedResult } from "./roles.js";
import { readSettings } from "./settings.js";

const variantOf = ({ kind, detail }) => ({ tag: kind, val: detail });
const sqlErrorOf = ({ kind, message, position, suggestions }) => ({ kind, message, position, suggestions });
const rawError = (error) => (error instanceof SqlError ? sqlErrorOf(error) : variantOf(error));

/** What a binding does with a scripted outcome: an error is thrown as the bindings throw it. */
function unwrap(outcome) {
  if (outcome instanceof Error) throw Object.assign(new Error("scripted"), { payload: rawError(outcome) });
  return outcome;
}

const asResult = (outcome) => (outcome instanceof Error ? { tag: "err", val: rawError(outcome) } : { tag: "ok", val: outcome });

let tickets = 0;

class FakeCall {
  #outcome;
  #ticket = tickets++;
  constructor(outcome) {
    this.#outcome = asResult(outcome);
  }
  ticket() {
    return this.#ticket;
  }
  // It has ended, so there is nothing to cancel.
  cancel() {}
  get() {
    return this.#outcome;
  }
  take() {
    const outcome = this.#outcome;
    this.#outcome = null;
    return outcome;
  }
}

function valueOf(value) {
  if (value === null || value === undefined) return { tag: "null" };
  if (typeof value === "boolean") return { tag: "boolean", val: value };
  if (typeof value === "string") return { tag: "text", val: value };
  if (value instanceof Uint8Array) return { tag: "bytes", val: value };
  return { tag: typeof value === "bigint" || Number.isSafeInteger(value) ? "integer" : "real", val: Number(value) };
}

class FakeRows {
  constructor(columns, rows, profile = {}) {
    this.columns = columns;
    this.rows = rows.map((row) => row.map(valueOf));
    const nulls = (index) => this.rows.filter((row) => (row[index]?.tag ?? "null") === "null").length;
    const named = columns.map((name, index) => ({ column: { name, sqlType: "", nullable: true, comment: null, extra: [] }, nulls: nulls(index), distinct: null }));
    this.shape = { rows: rows.length, truncated: false, columns: named, warnings: [], ...profile };
  }
  profile() {
    return this.shape;
  }
  fingerprint({ tag }) {
    const rows = this.rows.map((row) => JSON.stringify(row));
    if (tag === "ordered") return rows.join("\n");
    if (tag === "bag") return rows.sort().join("\n");
    return tag === "set" ? [...new Set(rows)].sort().join("\n") : null;
  }
  // Tests may use one result several times.
  [Symbol.dispose]() {}
}

/** A result as roles get it: its columns, its rows, and, if the profile counts other things than the rows have, those fields of it. */
export const results = (columns, rows, profile = {}) => new ResultSet(new FakeRows(columns, rows, profile));

/** A reply with that text and that parsed document, of ten tokens. */
export const reply = (text, parsed = null, fields = {}) => ({
  text, parsed, truncated: false, logprob: null, usage: { inputTokens: 6, outputTokens: 4, costMicros: null, model: "fake" }, ...fields,
});

class FakeModel {
  #script = new Map();
  /** The names that `models` returns. */
  names = [];
  /** The requests so far. */
  requests = [];

  /** The next answer for that purpose: a reply, or an `LlmError`. */
  script(purpose, answer) {
    this.#script.set(purpose, [...(this.#script.get(purpose) ?? []), answer]);
    return this;
  }
  /** The next reply to `plan`. */
  replyPlan(plan) {
    return this.script("plan", reply(JSON.stringify(plan), plan));
  }
  /** The next statement: for `generate`, unless another purpose is named. */
  replySql(sql, confidence = null, purpose = "generate") {
    return this.script(purpose, reply(sql, { sql, confidence }));
  }
  /** The next reply in plain text. */
  replyText(purpose, text) {
    return this.script(purpose, reply(text));
  }
  /** The whole text of one request's messages. */
  prompt(index) {
    return (this.requests[index]?.messages ?? []).map(({ text }) => text).join("\n");
  }
  answer(raw) {
    const request = contract.request.lift(raw);
    this.requests.push(request);
    const next = this.#script.get(request.purpose)?.shift() ?? new LlmError("unsupported", "nothing scripted");
    return next instanceof Error ? next : contract.reply.lower(next, "the scripted reply");
  }
}

class FakeDatabase {
  #checks = new Map();
  #runs = new Map();
  /** How many rows of a result a role may read; null: the grant is missing. */
  grantedRows = 3;
  /** What `cells.find` answers for a phrase. */
  hits = new Map();
  /** What `cells.samples` answers for a table. */
  samples = new Map();
  /** What `inspect.compileMetric` answers for a request. */
  metrics = new Map();
  /** What `inspect.columnStats` answers for a table. */
  stats = new Map();
  /** What `inspect.explain` answers for a statement. */
  plans = new Map();
  /** The statements that were run, in order. */
  log = [];

  /** This statement passes its check and gives these rows. */
  answer(sql, columns, rows, profile = {}) {
    this.#checks.set(sql, facts(sql));
    this.#runs.set(sql, () => new FakeRows(columns, rows, profile));
    return this;
  }
  /** This statement fails its check. */
  failCheck(sql, error) {
    this.#checks.set(sql, error);
    return this;
  }
  /** This statement passes its check and fails when it is run. */
  failRun(sql, error) {
    this.#checks.set(sql, facts(sql));
    this.#runs.set(sql, () => error);
    return this;
  }
  check(sql) {
    return this.#checks.get(sql) ?? new SqlError("syntax", "nothing scripted for this statement");
  }
  run(sql) {
    this.log.push(sql);
    return this.#runs.get(sql)?.() ?? new SqlError("other", "nothing scripted for this statement");
  }
  read({ rows, columns }, offset, limit) {
    if (this.grantedRows === null) return this.#denied();
    const shown = rows.slice(0, this.grantedRows).slice(offset, offset + limit);
    return { columns, rows: shown, clipped: shown.length < rows.slice(offset, offset + limit).length };
  }
  sampled(table, columns, limit) {
    if (this.grantedRows === null) return this.#denied();
    if (!this.samples.has(table)) return new PortError("unknown-name", table);
    const raw = ({ column, least = null, greatest = null, frequent = [] }) => ({
      column, least: valueOf(least), greatest: valueOf(greatest), frequent: frequent.slice(0, limit).map(([value, times]) => [valueOf(value), times]),
    });
    return this.samples.get(table).filter(({ column }) => columns.includes(column)).map(raw);
  }
  found(phrases, limit) {
    if (this.grantedRows === null) return this.#denied();
    return phrases.map((phrase) => (this.hits.get(phrase) ?? []).slice(0, limit).map((hit) => contract.hit.lower(hit, "the scripted hit")));
  }
  compiled(request) {
    return this.metrics.get(request) ?? new PortError("unsupported");
  }

  statistics(table, columns) {
    if (!this.stats.has(table)) return new PortError("unknown-name", table);
    const all = { distinct: null, nullFraction: null, correlation: null, averageWidth: null };
    return this.stats.get(table).filter(({ column }) => columns.includes(column)).map((stats) => ({ ...all, ...stats }));
  }
  explained(sql) {
    const plan = this.plans.get(sql);
    return plan ? contract.plan.lower(plan, "the scripted plan") : new SqlError("other", "no plan scripted for this statement");
  }
  #denied() {
    return new PortError("denied", "rows are not granted");
  }
}

/** Facts about a statement, with nothing but its text filled in. */
export const facts = (sql) => ({
  tables: [], columns: [], functions: [], literals: [], subqueries: [], tasks: [], ordered: false, normalized: sql, skeleton: sql,
});

class FakeEvaluate {
  #verdicts = new Map();
  /** What calibration makes of a claim; null: no calibrator answers. */
  calibrate = (claimed) => claimed;
  /** Why the reward cannot be asked, when it cannot: a `PortError`. */
  rewardError = null;
  /** The statements that the reward was asked about, by call. */
  asked = [];

  /** The verdict on a statement. */
  judge(sql, verdict) {
    this.#verdicts.set(sql, verdict);
    return this;
  }
  calibrated(claims) {
    if (!this.calibrate) return new PortError("unsupported");
    return claims.map(([claimed, signals]) => this.calibrate(claimed, contract.signals.lift(signals)));
  }
  judged(candidates) {
    this.asked.push(candidates.map(({ sql }) => sql));
    if (this.rewardError) return this.rewardError;
    return candidates.map(({ sql }) => contract.verdict.lower(this.#verdicts.get(sql) ?? { unavailable: "nothing scripted" }, "the scripted verdict"));
  }
}

class FakeRetrieval {
  #hits = new Map();
  /** The vectors by text; null without a model for embeddings. */
  vectors = null;
  /** The queries so far. */
  queries = [];

  /** The hits of queries to that corpus by that retriever, whatever the text. */
  script(corpus, retriever, hits) {
    this.#hits.set(`${corpus} by ${retriever}`, hits);
    return this;
  }
  found(raw) {
    const query = contract.retrievalQuery.lift(raw);
    this.queries.push(query);
    if (query.corpus === "cells") return new PortError("denied", "the port `cells` has them");
    if (query.retriever === "vector" && !this.vectors) return new PortError("unsupported");
    const hits = this.#hits.get(`${query.corpus} by ${query.retriever}`) ?? [];
    return hits.slice(0, query.limit).map((hit) => contract.hit.lower(hit, "the scripted hit"));
  }
  embedded(texts) {
    if (!this.vectors) return new PortError("unsupported");
    const unknown = texts.find((text) => !this.vectors.has(text));
    return unknown === undefined ? texts.map((text) => this.vectors.get(text)) : new PortError("unknown-name", unknown);
  }
}

class FakeTrace {
  /** All entries in order: `{ note: [level, message] }`, `{ propose: candidate }`, `{ keep: [id, reason] }`, `{ discard: [id, reason] }` and
   * `{ event: [candidate, name, data] }`. */
  lines = [];
  /** The texts of all notes so far. */
  get notes() {
    return this.lines.flatMap(({ note }) => (note ? [note[1]] : []));
  }
  /** Why a candidate was not chosen; null without such an entry. */
  discarded(id) {
    return this.lines.find(({ discard }) => discard?.[0] === id)?.discard[1] ?? null;
  }
  /** Why a candidate was chosen; null without such an entry. */
  kept(id) {
    return this.lines.find(({ keep }) => keep?.[0] === id)?.keep[1] ?? null;
  }
}

/** All ports in one value; it serves every role. Its scripts stand in `model`, `database`, `judges`, `corpora` and `logged`. */
export class FakeHost {
  policy = { highConfidence: 0.85, maxAttempts: 3, maxDepth: 3, maxParallel: 5, maxRounds: 8 };
  budget = { tokens: 100_000, llmCalls: 200, sqlRuns: 500, costMicros: null, time: "plenty" };
  /** Further settings of the user's, by name. */
  settings = {};
  seed = 0;
  /** The pauses that the plugin asked for, in milliseconds. They take no time. */
  pauses = [];
  model = new FakeModel();
  database = new FakeDatabase();
  judges = new FakeEvaluate();
  corpora = new FakeRetrieval();
  logged = new FakeTrace();

  constructor() {
    Object.assign(this, hostOf(this.#ports()));
  }

  #ports() {
    const { model, database, judges, corpora, logged } = this;
    return {
      run: {
        currentPolicy: () => this.policy,
        setting: (name) => (Object.hasOwn(this.settings, name) ? JSON.stringify(this.settings[name]) : null),
        remaining: () => this.budget,
        seed: () => this.seed,
      },
      // Fake calls have always ended, so all tickets are ready.
      wait: { any: (all) => all, pause: (milliseconds) => this.pauses.push(milliseconds) },
      llm: {
        models: () => model.names,
        complete: (raw) => unwrap(model.answer(raw)),
        completeAll: (all) => all.map((raw) => asResult(model.answer(raw))),
        start: (raw) => new FakeCall(model.answer(raw)),
      },
      inspect: {
        check: (sql) => unwrap(database.check(sql)),
        explain: (sql) => unwrap(database.explained(sql)),
        columnStatsOf: (table, columns) => unwrap(database.statistics(table, columns)),
        compileMetric: (request) => unwrap(database.compiled(request)),
      },
      sql: {
        run: (sql) => unwrap(database.run(sql)),
        runAll: (texts) => texts.map((sql) => asResult(database.run(sql))),
        start: (sql) => new FakeCall(database.run(sql)),
      },
      rows: { read: (rows, offset, limit) => unwrap(database.read(rows, offset, limit >>> 0)) },
      cells: {
        samples: (table, columns, limit) => unwrap(database.sampled(table, columns, limit >>> 0)),
        find: (phrases, _, limit) => unwrap(database.found(phrases, limit >>> 0)),
      },
      evaluate: {
        calibrate: (claims) => unwrap(judges.calibrated(claims)),
        reward: (candidates) => unwrap(judges.judged(candidates)),
        startReward: (candidates) => new FakeCall(judges.judged(candidates)),
      },
      retrieval: {
        find: (query) => unwrap(corpora.found(query)),
        findAll: (queries) => queries.map((query) => asResult(corpora.found(query))),
        embed: (texts) => unwrap(corpora.embedded(texts)),
      },
      trace: {
        note: (level, message) => logged.lines.push({ note: [level, message] }),
        propose: (raw) => logged.lines.push({ propose: contract.candidate.lift(raw) }),
        keep: (id, reason) => logged.lines.push({ keep: [id, reason] }),
        discard: (id, reason) => logged.lines.push({ discard: [id, reason] }),
        event: (id, name, data) => logged.lines.push({ event: [id, name, JSON.parse(data)] }),
      },
    };
  }
}

const emptyCatalog = () => contract.catalog.full({ database: "test" });
const DEFAULTS = {
  problem: () => contract.problem.full({ question: "" }), catalog: emptyCatalog, parents: () => [], rivals: () => [], seen: () => [],
  finished: () => [], history: () => [], claims: () => [], fresh: () => 0, plan: () => contract.plan.full({ text: "" }),
  task: () => contract.task.full({ id: "A", text: "" }), graph: () => ({ tasks: [contract.task.full({ id: "A", text: "" })], answer: "A", memo: null }),
};
const RECORDS = ["problem", "catalog", "task", "graph", "plan"];

/**
 * Calls a role of a plugin as the host does: `call(plugin, "reward", { settings: { most_rows: 2 }, rivals })`. Settings have the names that users
 * write. Arguments that are left out get defaults, and `host` is a `FakeHost` unless one is given. Returns what the role returned, with all fields;
 * throws a `Failure` for what it threw. The planner's second function is `call(plugin, "planner.next", …)`.
 */
export function call(plugin, role, { host = new FakeHost(), settings = {}, ...given } = {}) {
  const [of, called = Object.keys(ROLES[of])[0]] = role.split(".");
  const one = ROLES[of][called];
  const args = { host, settings: readSettings(plugin.settings, JSON.stringify(settings)) };
  for (const field of Object.keys(one.takes)) {
    const value = given[field] ?? DEFAULTS[field]?.() ?? "";
    args[field] = RECORDS.includes(field) ? contract[field].full(value) : value;
  }
  if (args.rivals) args.rivals = args.rivals.map((rival) => ({ ...rival, candidate: contract.candidate.full(rival.candidate) }));
  if (args.claims) args.claims = args.claims.map(({ claimed, signals }) => ({ claimed, signals: contract.signals.full(signals ?? {}) }));
  return scoped(() => {
    try {
      return one.gives.lift(checkedResult(one, called, plugin[of][called] ? plugin[of][called](args) : one.otherwise(args)));
    } catch (error) {
      throw failureOf(error);
    }
  });
}

/**
 * Calls a rewriter as the optimizer does: once for each of `trials`, which are the outcomes of its proposals in order. An accepted proposal is the
 * best statement from then on. Returns the proposals; they are fewer than the trials when the rewriter had no more.
 */
export function rewrites(plugin, original, trials, { host = new FakeHost(), ...given } = {}) {
  let best = original;
  const history = [];
  const proposals = [];
  for (const trial of trials) {
    const plan = host.database.plans.get(best) ?? { text: "" };
    const proposal = call(plugin, "rewriter", { ...given, host, original, best, plan, history });
    if (!proposal) break;
    if (trial.accepted !== undefined) best = proposal.sql;
    history.push({ sql: proposal.sql, family: proposal.family, trial });
    proposals.push(proposal);
  }
  return proposals;
}
