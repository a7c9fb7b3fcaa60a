// The ports as authors see them, over the bindings of the component or over the fakes of a test.

import * as contract from "./contract.js";
import { doubles, json, list, number, option, pair, text, tickets, typedValue, u32, u64, value } from "./codec.js";
import { LlmError, PortError, SqlError } from "./errors.js";
import { Pending, ResultSet, Running } from "./handles.js";

const llmError = (raw) => new LlmError(raw.tag === "other" ? "other" : raw.tag, raw.val ?? "");
const portError = (raw) => new PortError(raw.tag, raw.val ?? "");
const sqlError = ({ kind, message, position, suggestions }) =>
  new SqlError(kind, message, { position: option(u32).lift(position), suggestions });

/** Calls a function of a port; what it throws becomes an error of the SDK. */
function attempt(call, toError) {
  try {
    return call();
  } catch (error) {
    if (error?.payload === undefined) throw error;
    throw toError(error.payload);
  }
}

/** An outcome among several: `{ ok: true, value }` or `{ ok: false, error }`. */
const settled = (lift, toError) => (raw) =>
  raw.tag === "ok" ? { ok: true, value: lift(raw.val) } : { ok: false, error: toError(raw.val) };

const reply = settled(contract.reply.lift, llmError);
const result = settled((raw) => new ResultSet(raw), sqlError);
const hits = settled((raw) => raw.map(contract.hit.lift), portError);
const verdicts = settled((raw) => raw.map(contract.verdict.lift), portError);

const isRounded = ({ tag, val }) => tag === "integer" && !Number.isSafeInteger(Number(val));
const claim = pair(number, contract.signals);

const of = {
  run: (port) => ({
    policy: () => contract.policy.lift(port.currentPolicy()),
    setting: (name) => option(json).lift(port.setting(text.lower(name, "run.setting"))),
    remaining: () => contract.budget.lift(port.remaining()),
    seed: () => u64.lift(port.seed()),
  }),

  wait: (port) => ({
    any(calls) {
      const ready = new Set(tickets.lift(port.any(tickets.lower(calls.map((call) => call.ticket), "wait.any"))));
      return calls.filter((call) => ready.has(call.ticket));
    },
    pause: (milliseconds) => port.pause(u32.lower(milliseconds, "wait.pause")),
  }),

  llm: (port) => ({
    models: () => port.models(),
    complete(request) {
      const raw = contract.request.lower(request, "llm.complete");
      return contract.reply.lift(attempt(() => port.complete(raw), llmError));
    },
    completeAll: (requests) => port.completeAll(list(contract.request).lower(requests, "llm.completeAll")).map(reply),
    start: (request) => new Pending(port.start(contract.request.lower(request, "llm.start")), reply),
  }),

  inspect: (port) => ({
    check: (sql) => contract.facts.lift(attempt(() => port.check(text.lower(sql, "inspect.check")), sqlError)),
    explain: (sql) => contract.plan.lift(attempt(() => port.explain(text.lower(sql, "inspect.explain")), sqlError)),
    columnStats(table, columns) {
      const [name, names] = [text.lower(table, "inspect.columnStats"), list(text).lower(columns, "inspect.columnStats")];
      return attempt(() => port.columnStatsOf(name, names), portError).map(contract.columnStats.lift);
    },
    compileMetric: (request) =>
      contract.compiled.lift(attempt(() => port.compileMetric(text.lower(request, "inspect.compileMetric")), portError)),
  }),

  sql: (port) => ({
    run: (sql) => new ResultSet(attempt(() => port.run(text.lower(sql, "sql.run")), sqlError)),
    runAll: (texts) => port.runAll(list(text).lower(texts, "sql.runAll")).map(result),
    start: (sql) => new Running(port.start(text.lower(sql, "sql.start")), result),
  }),

  rows: (port, warn) => ({
    read(results, { offset = 0, limit = 1000, typed = false } = {}) {
      const [from, most] = [u64.lower(offset, "rows.read.offset"), u32.lower(limit, "rows.read.limit")];
      const page = attempt(() => port.read(results.raw, from, most), portError);
      if (page.rows.some((row) => row.some(isRounded))) warn();
      return { ...page, rows: page.rows.map((row) => row.map((typed ? typedValue : value).lift)) };
    },
  }),

  cells: (port, warn) => ({
    samples(table, columns, limit = 3) {
      const names = list(text).lower(columns, "cells.samples");
      const samples = attempt(() => port.samples(text.lower(table, "cells.samples"), names, u32.lower(limit, "cells.samples.limit")), portError);
      if (samples.some(({ least, greatest, frequent }) => [least, greatest, ...frequent.map(([value]) => value)].some(isRounded))) warn();
      return samples.map(contract.sample.lift);
    },
    find(phrases, how, limit = 10) {
      const [all, match] = [list(text).lower(phrases, "cells.find"), contract.match.lower(how, "cells.find.how")];
      const found = attempt(() => port.find(all, match, u32.lower(limit, "cells.find.limit")), portError);
      return found.map((hits) => hits.map(contract.hit.lift));
    },
  }),

  evaluate: (port) => ({
    calibrate: (claims) => doubles.lift(attempt(() => port.calibrate(claimsOf(claims)), portError)),
    reward(candidates) {
      const raw = list(contract.candidate).lower(candidates, "evaluate.reward");
      return attempt(() => port.reward(raw), portError).map(contract.verdict.lift);
    },
    startReward: (candidates) => new Pending(port.startReward(list(contract.candidate).lower(candidates, "evaluate.startReward")), verdicts),
  }),

  retrieval: (port) => ({
    find(query) {
      const raw = contract.retrievalQuery.lower(query, "retrieval.find");
      return attempt(() => port.find(raw), portError).map(contract.hit.lift);
    },
    findAll: (queries) => port.findAll(list(contract.retrievalQuery).lower(queries, "retrieval.findAll")).map(hits),
    embed: (texts) => attempt(() => port.embed(list(text).lower(texts, "retrieval.embed")), portError).map(doubles.lift),
  }),

  trace: (port) => ({
    note: (level, message) => port.note(contract.level.lower(level, "trace.note.level"), text.lower(message, "trace.note")),
    propose: (candidate) => port.propose(contract.candidate.lower(candidate, "trace.propose")),
    keep: (id, reason) => port.keep(text.lower(id, "trace.keep"), text.lower(reason, "trace.keep.reason")),
    discard: (id, reason) => port.discard(text.lower(id, "trace.discard"), text.lower(reason, "trace.discard.reason")),
    event(name, data = {}, candidate = null) {
      const id = option(text).lower(candidate, "trace.event.candidate");
      port.event(id, text.lower(name, "trace.event"), json.lower(data, "trace.event.data"));
    },
  }),
};

function claimsOf(claims) {
  return list({ lower: ({ claimed, signals }, at) => claim.lower([claimed, signals ?? {}], at) }).lower(claims, "evaluate.calibrate");
}

const ROUNDED = "whole numbers beyond 9007199254740991 are rounded in JavaScript: select them as text";

/** The ports by name: those that the world of the plugin has. */
export function hostOf(ports) {
  const host = {};
  let warned = false;
  const warn = () => {
    if (!warned) host.trace?.note("debug", ROUNDED);
    warned = true;
  };
  for (const [name, port] of Object.entries(ports)) host[name] = of[name](port, warn);
  return host;
}

