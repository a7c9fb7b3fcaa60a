// Attempts at a statement: from the reply to the statement, through check and run, to a candidate.

import { LlmError, PortError, SqlError, failureOf } from "./errors.js";
import { candidate, signals } from "./makers.js";
import { sqlReply } from "./replies.js";
import { byteLength, count, fnv1a, line } from "./text.js";

// The most columns that a doubt names.
const NAMED = 20;
// The length of the longest id that the host allows.
const ID = 64;

/** The outcome of a call as a value: `{ ok: true, value }`, or `{ ok: false, error }` for an error of a port. */
export function settle(call) {
  try {
    return { ok: true, value: call() };
  } catch (error) {
    if (error instanceof LlmError || error instanceof SqlError || error instanceof PortError) return { ok: false, error };
    throw error;
  }
}

/**
 * What a request for a statement gave: `{ statement }`; `{ noStatement }`, words for a model about a reply without one, which counts as an
 * attempt; `{ tooLarge: true }`; `{ abstained }`, the reason of a model that gives none, which is no failure; or `{ failed }`, a Failure that
 * later calls have too.
 */
export function written({ ok, value, error }) {
  if (ok) {
    const parsed = sqlReply(value);
    if (!parsed) return { noStatement: "the reply held no statement" };
    const { inputTokens, outputTokens } = value.usage;
    return { statement: { ...parsed, logprob: value.logprob, tokens: inputTokens + outputTokens } };
  }
  switch (error.kind) {
    case "malformed": return { noStatement: `the reply held no statement; it began: ${line(error.detail, 200)}` };
    case "too-large": return { tooLarge: true };
    case "refused":
    case "unsupported": return { abstained: error.message };
    default: return { failed: failureOf(error) };
  }
}

/** The id of a task's numbered candidate: `TASK.NUMBER`, or a shortened id of the task if that is too long for the host. */
export function candidateId(task, number) {
  const id = `${task}.${number}`;
  if (byteLength(id) <= ID) return id;
  // Two tasks may have the same head: a hash of the whole id distinguishes them.
  return `${[...task].slice(0, 32).join("")}.${fnv1a(task).toString(16).padStart(16, "0")}.${number}`;
}

const OVER = ["budget", "cancelled", "unavailable"];
const SCHEMA = ["unknown-table", "unknown-column", "ambiguous-name", "denied"];

/** An error of a statement in words for a model: the message, the position, and the nearest names. */
export function words({ message, position = null, suggestions = [] }) {
  const near = suggestions.slice(0, 5).map((name) => line(name, 80));
  return line(message, 400) + (position === null ? "" : `, at byte ${position}`) + (near.length === 0 ? "" : `; near: ${near.join(", ")}`);
}

/** Counts an error of a statement in `counts` and returns it in words for a model. Throws if no statement can run any more. */
export function failed(error, counts) {
  if (OVER.includes(error.kind)) throw failureOf(error);
  if (error.kind === "syntax") counts.syntaxErrors += 1;
  else if (SCHEMA.includes(error.kind)) counts.schemaErrors += 1;
  else counts.executionErrors += 1;
  return words(error);
}

/** Adds the errors that are counted in `own` to `counts`. */
function addErrors(counts, own) {
  counts.syntaxErrors += own.syntaxErrors;
  counts.schemaErrors += own.schemaErrors;
  counts.executionErrors += own.executionErrors;
}

/**
 * What a good answer would not look like, a sentence for each sign in the shape of a result: no rows, columns of NULL, more rows than
 * `overflowRows`. The signs are counted in `counts`.
 */
export function doubts(overflowRows, { rows, truncated, columns }, counts) {
  const found = [];
  counts.emptyResult = rows === 0;
  if (rows === 0) found.push("the result has no rows");
  const nulls = columns.filter((column) => rows > 0 && column.nulls >= rows).map(({ column }) => line(column.name, 80));
  counts.nullColumns = nulls.length;
  if (nulls.length > 0) {
    const more = nulls.length > NAMED ? ` and ${nulls.length - NAMED} more` : "";
    found.push(`${nulls.length === 1 ? "a column is" : "columns are"} NULL in all rows: ${nulls.slice(0, NAMED).join(", ")}${more}`);
  }
  counts.overflow = truncated || rows > overflowRows;
  if (counts.overflow) {
    found.push(`the result has ${count(rows, "row")}${truncated ? " and was cut" : ""}, where at most ${overflowRows} are expected`);
  }
  return found;
}

/**
 * Statements in the database: each text is checked and run once. A trial is `{ ran, wrong, signals, stopped }`: `ran` has the facts, results,
 * profile, doubts and fingerprint of a statement that ran, and `wrong` the words about one that did not.
 */
export class Trials {
  #overflowRows;
  #known = new Map();

  /** More rows than `overflowRows` are a doubt. */
  constructor(overflowRows = 1000) {
    this.#overflowRows = overflowRows;
  }

  /** The trial of a text; undefined before `run` was called with it. */
  get(sql) {
    return this.#known.get(sql);
  }

  /**
   * Checks the texts that are not known yet, and runs those that pass concurrently. Returns the first failure after which no statement can run
   * any more, or null. Every text has a trial then too.
   */
  run(host, texts) {
    let stopped = null;
    const passed = new Map();
    for (const sql of texts) {
      if (this.#known.has(sql) || passed.has(sql)) continue;
      if (stopped) {
        this.#known.set(sql, this.#trial({ wrong: stopped.message, stopped }));
        continue;
      }
      const checked = settle(() => host.inspect.check(sql));
      if (checked.ok) passed.set(sql, checked.value);
      else stopped = this.#fail(sql, checked.error);
    }
    const outcomes = passed.size === 0 ? [] : host.sql.runAll([...passed.keys()]);
    [...passed].forEach(([sql, facts], index) => {
      const { ok, value, error } = outcomes[index];
      if (ok) this.#known.set(sql, this.#ran(facts, value));
      else stopped = this.#fail(sql, error, stopped);
    });
    return stopped;
  }

  /** Checks and runs one text, and returns its trial. Throws the failure after which no statement can run any more. */
  one(host, sql) {
    const failure = this.run(host, [sql]);
    if (failure) throw failure;
    return this.get(sql);
  }

  #ran(facts, results) {
    const trial = this.#trial({});
    const { profile } = results;
    const found = doubts(this.#overflowRows, profile, trial.signals);
    trial.ran = { facts, results, profile, doubts: found, fingerprint: results.fingerprint("bag") ?? facts.normalized };
    return trial;
  }

  #fail(sql, error, earlier = null) {
    const trial = this.#trial({});
    this.#known.set(sql, trial);
    try {
      trial.wrong = failed(error, trial.signals);
      return earlier;
    } catch (failure) {
      Object.assign(trial, { wrong: failure.message, stopped: failure });
      return earlier ?? failure;
    }
  }

  #trial(fields) {
    return { ran: null, wrong: null, stopped: null, signals: signals(), ...fields };
  }
}

/** The candidate of a statement, with the log probability and the tokens (as `tokens` in `extra`) in its signals. */
export function statementCandidate(statement, { id, parents = [], origin, signals: own }) {
  const { sql, confidence, logprob, tokens } = statement;
  const counts = { ...own, logprob, extra: [...own.extra, ["tokens", tokens]] };
  return candidate({ id, parents, origin, sql, rawConfidence: confidence, signals: counts });
}

/** The attempts at one statement: the first one and its repairs, at most `maxAttempts`. */
export class Chain {
  #lastId = null;
  /** Earlier statements and what was wrong with them, the oldest first: `{ sql, wrong }` each. */
  tried = [];

  constructor(maxAttempts) {
    /** Counts over all attempts of the chain. */
    this.signals = signals({ maxAttempts });
  }

  /** How many of the earlier replies had a statement. */
  get statements() {
    return this.tried.filter(({ sql }) => sql !== "").length;
  }

  /** The origin of the chain's next candidate. */
  get origin() {
    return this.statements > 0 ? "repair" : "generate";
  }

  /** Adds what was wrong with a statement, which the next request is to repair. */
  fail(sql, wrong) {
    this.tried.push({ sql, wrong });
  }

  /** Adds a reply without a statement. */
  failWithoutStatement(wrong) {
    this.signals.syntaxErrors += 1;
    this.fail("", wrong);
  }

  /**
   * The candidate of the chain's next statement, a child of the one before. `own` are the statement's own counts: its errors are added to those of
   * the chain, while the shape of the result stays its own.
   */
  candidate(id, origin, statement, own) {
    addErrors(this.signals, own);
    const { emptyResult, nullColumns, overflow } = own;
    const parents = this.#lastId === null ? [] : [this.#lastId];
    this.#lastId = id;
    return statementCandidate(statement, { id, parents, origin, signals: { ...this.signals, emptyResult, nullColumns, overflow } });
  }
}

/** The outcome of a task without a candidate. The reason becomes a warning and the memo, which the clarifier reads. */
export function nothing(host, why) {
  host.trace.note("warn", why);
  return { candidates: [], subtasks: [], ask: null, memo: { reason: line(why, 600) } };
}
