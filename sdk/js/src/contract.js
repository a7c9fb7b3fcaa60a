// The types of the contract (wit/*.wit) as shapes, with the defaults of fields that few plugins set.

import { bool, doubles, json, list, named, number, openWord, option, or, pair, record, text, tickets, u32, u64, variant, word } from "./codec.js";

const none = () => null;
const no = () => false;
const zero = () => 0;
const empty = () => [];
const maybe = (shape) => or(option(shape), none);
const many = (shape) => or(list(shape), empty);
const extra = or(named(json), empty);
const blank = or(text, () => "");

export const dialect = openWord("sqlite", "postgres", "mysql", "duckdb", "databricks", "spark", "ansi");

export const column = record("column", {
  name: text, sqlType: blank, nullable: or(bool, no), comment: maybe(text), extra,
});
const foreignKey = record("foreign key", { columns: list(text), refTable: text, refColumns: list(text) });
const index = record("index", { name: text, columns: list(text), isUnique: or(bool, no), method: maybe(text), predicate: maybe(text) });
export const table = record("table", {
  schemaName: maybe(text), name: text, columns: many(column), primaryKey: many(text), foreignKeys: many(foreignKey),
  indexes: many(index), rowEstimate: maybe(u64), comment: maybe(text), extra,
});
export const catalog = record("catalog", {
  database: or(text, () => "database"), dialect: or(dialect, () => ({ tag: "sqlite" })), tables: many(table),
});

export const corpus = openWord("tables", "columns", "cells", "notes", "examples");
export const hit = record("hit", {
  corpus, id: text, path: blank, table: maybe(text), column: maybe(text), snippet: maybe(text), payload: maybe(json), score: or(number, zero),
});
export const problem = record("problem", {
  question: text, evidence: maybe(text), goal: maybe(text), answers: many(pair(text, text)), hints: many(hit), extra,
});

export const profile = record("profile", {
  rows: u64, truncated: or(bool, no), columns: many(record("column profile", { column, nulls: u64, distinct: maybe(u64) })), warnings: many(text),
});

export const signals = record("signals", {
  attempts: or(u32, zero), maxAttempts: or(u32, zero), syntaxErrors: or(u32, zero), schemaErrors: or(u32, zero),
  executionErrors: or(u32, zero), emptyResult: or(bool, no), nullColumns: or(u32, zero), overflow: or(bool, no),
  samples: or(u32, zero), agreeing: or(u32, zero), logprob: maybe(number), reward: maybe(number), extra: or(named(number), empty),
});
export const candidate = record("candidate", {
  id: text, parents: many(text), origin: blank, sql: text, rawConfidence: maybe(number), confidence: maybe(number),
  score: maybe(number), rationale: maybe(text), signals: or(signals, () => signals.lower({}, "signals")), extra,
});

export const retrievalQuery = record("retrieval query", {
  corpus, retriever: openWord("lexical", "path-fuzzy", "segment-fuzzy", "vector"), text, limit: or(u32, () => 10),
});
const operation = variant({ solve: null, retrieve: retrievalQuery, choose: null, other: text });
const join = variant({ "all-of": null, "any-of": null, "at-least": u32 });
export const task = record("task", {
  id: text, parent: maybe(text), text, operation: or(operation, () => ({ tag: "solve" })), dependsOn: many(text),
  join: or(join, () => ({ tag: "all-of" })), tolerant: or(bool, no), priority: or(number, zero), confidence: maybe(number),
  expected: maybe(text), database: maybe(text), context: maybe(json),
});
export const graph = record("graph", { tasks: list(task), answer: text, memo: maybe(json) });

export const question = record("question", { text, choices: many(text), ambiguity: or(number, zero) });
const failureKind = openWord("input", "model", "database", "budget", "unsupported", "cancelled", "internal");
export const failure = record("failure", { kind: failureKind, message: text, retryable: or(bool, no) });
const ending = variant({ solved: null, empty: null, failed: failure, skipped: text, cancelled: null, other: text });
export const observation = record("observation", {
  task: text, ending, candidates: many(candidate), profile: maybe(profile), fingerprint: maybe(text), hits: many(hit),
  subtasks: many(task), memo: maybe(json),
});

const opinion = record("opinion", { score: number, reason: blank, checks: many(pair(text, bool)) });
export const verdict = variant({ accepted: opinion, rejected: opinion, unavailable: text });

export const request = record("request", {
  purpose: openWord("link", "plan", "generate", "repair", "judge", "select", "calibrate", "clarify", "summarise", "rewrite"),
  messages: list(record("message", { speaker: word("system", "user", "assistant"), text })),
  expect: or(variant({ text: null, sql: null, json, yaml: list(text), choice: list(text), other: text }), () => ({ tag: "text" })),
  model: maybe(text), subjects: many(text), temperature: maybe(number), topP: maybe(number), maxTokens: maybe(u32), stop: many(text),
  logprobs: or(bool, no), sample: or(u32, zero),
});
export const reply = record("reply", {
  text, parsed: maybe(json), truncated: or(bool, no), logprob: maybe(number),
  usage: record("usage", { inputTokens: u32, outputTokens: u32, costMicros: maybe(u64), model: text }),
});

export const policy = record("policy", { highConfidence: number, maxAttempts: u32, maxDepth: u32, maxParallel: u32, maxRounds: u32 });
export const budget = record("budget", {
  tokens: u64, llmCalls: u32, sqlRuns: u32, costMicros: maybe(u64), time: word("plenty", "little", "over"),
});
export const columnStats = record("column statistics", {
  column: text, distinct: maybe(number), nullFraction: maybe(number), correlation: maybe(number), averageWidth: maybe(u32),
});

export const claim = pair(number, signals);
export const facts = record("facts", {
  tables: list(text), columns: list(text), functions: list(text),
  literals: list(record("literal", { table: option(text), column: option(text), text })),
  subqueries: list(text), tasks: list(text), ordered: bool, normalized: text, skeleton: text,
});
export const equality = openWord("bag", "set", "ordered");
export const match = openWord("exact", "ngram", "fuzzy", "vector");

const plain = (value) => (typeof value === "bigint" ? Number(value) : value);

/** A cell: authors see null, booleans, numbers, texts and, for bytes, a Uint8Array. It only comes from the host. */
export const value = { same: false, lift: ({ tag, val }) => (tag === "null" ? null : plain(val)) };

/** A cell with its type in the contract. */
export const typedValue = { same: false, lift: ({ tag, val }) => (tag === "null" ? { type: tag } : { type: tag, value: plain(val) }) };

// What the roles return.
export const linked = record("linked", {
  tables: many(record("relevant table", { table: text, columns: many(text), score: or(number, () => 1), reason: blank })), hints: many(hit),
});
export const step = record("step", {
  edits: many(variant({ add: task, update: task, cancel: text, answer: text, finish: null, other: text })), memo: maybe(json),
});
export const outcome = record("outcome", { candidates: many(candidate), subtasks: many(task), ask: maybe(question), memo: maybe(json) });
export const answer = record("answer", {
  text, task: text, candidate: maybe(text), sql: maybe(text), confidence: or(number, zero), basis: many(text), caveats: many(text),
});
export const proposal = record("proposal", { sql: text, family: text, reason: blank });
const trial = variant({
  accepted: number, slower: number, mismatch: null, reordered: null, "other-columns": null, refused: text, failed: text,
  "too-large": null, other: text,
});
export const attempt = record("attempt", { sql: text, family: text, trial });
export const plan = record("plan", { format: blank, text, cost: maybe(number), rows: maybe(number) });
export { doubles, json, list, number, option, text, tickets, u32, u64 };
