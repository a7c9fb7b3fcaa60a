// The table of inputs and outputs that the SDKs of all languages share: the same prompts, requests and readings, byte for byte.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import * as contract from "../src/contract.js";
import * as sdk from "../src/index.js";
import { FakeHost, results } from "../src/fakes.js";
import { readSettings } from "../src/settings.js";

const camel = (name) => name.replace(/_(.)/g, (_, letter) => letter.toUpperCase());
const snake = (name) => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
const renamed = (value, rename) => {
  if (Array.isArray(value)) return value.map((part) => renamed(part, rename));
  if (value instanceof Map) return [...value];
  if (typeof value !== "object" || value === null || value instanceof sdk.ResultSet) return value;
  return Object.fromEntries(Object.entries(value).map(([name, part]) => [rename(name), renamed(part, rename)]));
};

const wordOf = (word) => word.other ?? word;
const document = (text) => {
  try {
    return text === null || text === undefined ? null : JSON.parse(text);
  } catch {
    return text;
  }
};
const catalogOf = (raw) => {
  const value = renamed(raw, camel);
  const parsed = (extra = []) => extra.map(([name, text]) => [name, document(text)]);
  for (const table of value.tables) table.extra = parsed(table.extra);
  return sdk.catalog(value);
};
const taskOf = (raw) => sdk.task({ ...renamed(raw, camel), context: document(raw.context) });
const problemOf = ({ question, ...rest }) => sdk.problem(question, renamed(rest, camel));
const replyOf = (parsed) => ({ parsed: document(parsed) });
const cellOf = ({ type, value }) => {
  if (type === "null") return null;
  if (type === "bytes") return Uint8Array.from(value);
  if (type === "integer" || type === "real") return typeof value === "string" && type === "integer" ? BigInt(value) : Number(value === "inf" ? Infinity : value === "-inf" ? -Infinity : value);
  return value;
};
const errorOf = (Type, raw) => (typeof raw === "string" ? new Type(raw) : new Type(...Object.entries(raw)[0]));
const sqlErrorOf = ({ kind, message, position = null, suggestions = [] }) => new sdk.SqlError(kind, message, { position, suggestions });
const failureOf = (error) => {
  const { kind, message, retryable } = sdk.failureOf(error);
  return { kind, message, retryable };
};

function parentOf({ task, output, memo }) {
  const [kind, value] = typeof output === "string" ? [output, null] : Object.entries(output)[0];
  const given = { task: taskOf(task), memo: document(memo) };
  if (kind !== "relation") return { ...given, output: { [kind]: kind === "hits" ? value.map((hit) => sdk.hit(renamed(hit, camel))) : value } };
  const { columns, rows } = value.results;
  return { ...given, output: { relation: { name: value.name, results: results(columns, rows.map((row) => row.map(cellOf))) } } };
}

function briefOf({ catalog, problem, task, parents, catalog_bytes, parent_rows, granted_rows, shortened = 0 }) {
  const host = new FakeHost();
  host.database.grantedRows = granted_rows;
  const subject = { problem: problemOf(problem), catalog: catalogOf(catalog), task: taskOf(task), parents: parents.map(parentOf) };
  const brief = new sdk.Brief(host, { catalogBytes: catalog_bytes, parentRows: parent_rows }, subject);
  for (let times = 0; times < shortened; times += 1) brief.shorten();
  return brief;
}

const requestOf = (request) => {
  const { expect, ...rest } = request;
  const purpose = request.purpose === "vote" ? { other: "vote" } : request.purpose;
  return { ...renamed(rest, snake), purpose, expect: expect.json ? { json: JSON.stringify(expect.json) } : expect };
};

function asked({ purpose, messages, expect, ...fields }) {
  const request = sdk.ask(wordOf(purpose));
  for (const { speaker, text } of messages) request[speaker](text);
  for (const [name, value] of Object.entries(renamed(fields, camel))) request[name](value);
  if (expect === "plan") return request.json(sdk.planSchema);
  if (expect === "verdict") return request.json(sdk.verdictSchema);
  if (typeof expect === "string") return request[expect]();
  const [kind, value] = Object.entries(expect)[0];
  return request[kind](value);
}

const sample = {
  share: sdk.setting.number(0.5, "A share.", { least: 0, most: 1 }),
  count: sdk.setting.integer(3, "A count, described in two lines.", { least: 1, most: 9 }),
  switch: sdk.setting.boolean(true, "A switch."),
  word: sdk.setting.text("x", "A word."),
};

const counted = (make) => {
  const signals = sdk.signals();
  const given = make(signals);
  return { ...given, signals: renamed(signals, snake) };
};

// A candidate with its further numbers apart from its signals.
const candidateOf = ({ id, parents, origin, sql, rawConfidence, signals }) => {
  const counts = { ...renamed(signals, snake), extra: [] };
  return { id, parents, origin, sql, raw_confidence: rawConfidence, signals: counts, numbers: [...signals.extra] };
};
const signalsOf = (raw) => sdk.signals(renamed(raw, camel));

function chained({ max_attempts, steps }) {
  const chain = new sdk.Chain(max_attempts);
  const candidates = [];
  for (const step of steps) {
    const [kind, of] = Object.entries(step)[0];
    if (kind === "fail") chain.fail(of.sql, of.wrong);
    else if (kind === "no_statement") chain.failWithoutStatement(of);
    else {
      const statement = { confidence: null, logprob: null, ...of.statement };
      candidates.push(candidateOf(chain.candidate(of.id, of.origin ?? chain.origin, statement, signalsOf(of.signals))));
    }
  }
  const { tried, origin, statements, signals } = chain;
  return { candidates, tried, origin, statements, signals: renamed(signals, snake) };
}

const FUNCTIONS = {
  "attempt.chain": chained,
  "text.line": ({ text, limit }) => sdk.line(text, limit),
  "text.clip": ({ text, bytes }) => sdk.clip(text, bytes),
  "text.count": ({ number, noun }) => sdk.count(number, noun),
  "text.clamp01": ({ value }) => sdk.clamp01(Number(value)),
  "names.quote": ({ syntax, name }) => sdk.quote(renamed(syntax, camel), name),
  "names.quote_if_odd": ({ syntax, name }) => sdk.quoteIfOdd(renamed(syntax, camel), name),
  "names.shown": ({ syntax, name }) => sdk.shown(renamed(syntax, camel), name),
  "names.from_name": ({ syntax, table }) => sdk.fromName(renamed(syntax, camel), renamed(table, camel)),
  "names.literal": ({ syntax, text }) => sdk.literal(renamed(syntax, camel), text),
  "catalog.place": ({ catalog, name }) => sdk.tablePlace(catalogOf(catalog), name),
  "catalog.table_names": ({ catalog }) => sdk.tableNames(catalogOf(catalog)),
  "prompt.problem": ({ problem }) => sdk.problemText(problemOf(problem)),
  "prompt.catalog": ({ catalog, bytes }) => sdk.catalogText(catalogOf(catalog), bytes),
  "prompt.cell": ({ value }) => sdk.cellText(cellOf(value)),
  "prompt.rows": ({ page }) => sdk.rowsText({ ...page, rows: page.rows.map((row) => row.map(cellOf)) }),
  "brief.instructions": (input) => briefOf(input).instructions(),
  "brief.setting": (input) => briefOf(input).setting(),
  "brief.request": (input) => requestOf(briefOf(input).request(input.tried, input.sample)),
  "brief.feedback": ({ tried }) => sdk.feedback(tried),
  "draws.request": (input) => requestOf(sdk.drawRequest(briefOf(input), input.tried, input.number, input.temperature)),
  "draws.groups": ({ keys }) => sdk.groups(keys),
  ask: (input) => requestOf(asked(input)),
  "replies.plan_schema": () => JSON.stringify(sdk.planSchema),
  "replies.verdict_schema": () => JSON.stringify(sdk.verdictSchema),
  "replies.join_context": ({ keys }) => {
    const context = sdk.joinContext(keys.map((key) => ({ ...renamed(key, camel), how: sdk.joinHow(key.how) })));
    return context && JSON.stringify(context);
  },
  "replies.join_keys_of": ({ task }) => renamed(sdk.joinKeysOf(taskOf(task)), snake),
  "replies.plan_context": ({ steps }) => {
    const context = sdk.planContext(steps);
    return context && JSON.stringify(context);
  },
  "replies.plan_of": ({ task }) => sdk.planOf(taskOf(task)),
  "replies.plan_reply": ({ parsed }) => renamed(sdk.planReply(replyOf(parsed)), snake),
  "replies.sql_reply": ({ parsed }) => sdk.sqlReply(replyOf(parsed)),
  "replies.verdict_reply": ({ parsed }) => sdk.verdictReply(replyOf(parsed)),
  "failure.llm": ({ error }) => failureOf(errorOf(sdk.LlmError, error)),
  "failure.sql": ({ error }) => failureOf(sqlErrorOf(error)),
  "failure.port": ({ error }) => failureOf(errorOf(sdk.PortError, error)),
  "attempt.candidate_id": ({ task, number }) => sdk.candidateId(task, number),
  "attempt.words": ({ error }) => sdk.words(sqlErrorOf(error)),
  "attempt.failed": ({ error }) => {
    try {
      return counted((signals) => ({ words: sdk.failed(sqlErrorOf(error), signals) }));
    } catch (failure) {
      return { failure: failureOf(failure) };
    }
  },
  "attempt.doubts": ({ overflow_rows, profile }) =>
    counted((signals) => ({ doubts: sdk.doubts(overflow_rows, contract.profile.full(renamed(profile, camel)), signals) })),
  "random.fnv1a": ({ text }) => String(sdk.fnv1a(text)),
  "settings.schema": () => sdk.schemaOf(sample),
  "settings.read": ({ config }) => {
    try {
      return { settings: readSettings(sample, config) };
    } catch (error) {
      return { error: error.message };
    }
  },
};

const { cases } = JSON.parse(readFileSync(new URL("../../vectors/prompts.json", import.meta.url), "utf8"));
for (const { function: name, name: title, input, output } of cases) {
  test(`${name}: ${title.slice(0, 60)}`, () => {
    const given = FUNCTIONS[name](input);
    if (name === "settings.read" && output.error !== undefined) assert.equal(typeof given.error, "string");
    else assert.deepEqual(given, output);
  });
}
