// Problems, catalogs and rows as prompt text: in the order in which they came, bounded, one fact a line. The texts have the same bytes as
// those of the SDKs for other languages.

import { findTable, shown } from "./names.js";
import { byteLength, clip, count, digits, line, trim } from "./text.js";

const COMMENT = 160;
// The most characters of a note, and bytes of a solved example: a longer example is left out, since a part of a statement is none.
const NOTE = 4000;
// The most hints, and the most bytes of all. One that does not fit is left out whole.
const MOST = 20;
const HINTS = 12 * 1024;
// The most bytes of all terms. One that does not fit is left out whole.
const TERMS = 8 * 1024;
// The most characters of a term's definition, and of its values.
const DEFINITION = 400;
const CELL = 60;
const QUESTION = 8 * 1024;

/** The question with all that the user added to it. */
export function problemText(problem) {
  let out = `Question: ${clip(trim(problem.question), QUESTION)}\n`;
  if (isGiven(problem.evidence)) out += `Explanation: ${clip(trim(problem.evidence), QUESTION)}\n`;
  if (isGiven(problem.goal)) out += `Goal: ${line(problem.goal, 400)}\n`;
  for (const [question, answer] of problem.answers ?? []) out += `Clarified: ${line(question, 400)} Answer: ${line(answer, 400)}\n`;
  return out + termTexts(problem.terms ?? []) + hintTexts(problem.hints ?? []);
}

const METRIC_REQUEST =
  "\nThe lines that begin with `Metric` and `Dimension` are definitions. If the question asks for metrics and nothing else, write in " +
  "place of the statement a request, whose statement is made by the definitions: a ```json fence with " +
  "{\"metrics\": [\"revenue\"], \"by\": [dimensions, or day, week, month, quarter or year], " +
  "\"where\": \"country = 'France' AND channel IN ('web', 'shop')\", \"period\": \"2024, 2024-Q1, 2024-03..2024-06, 2024.. or last_month\", " +
  "\"order\": \"revenue:desc\", \"limit\": 3, " +
  "\"within\": [those of by in each of whose groups limit and share_of_total count], " +
  "\"compare\": \"previous_period, same_period_last_year, growth, growth_last_year, share_of_total or running_total\"}, " +
  "without the keys that it does not need.";

/**
 * The form of a request for metrics, for the instructions of a prompt whose reply has the shape `sql`; empty unless the question mentions a
 * defined metric.
 */
export function metricRequest(problem) {
  return (problem.terms ?? []).some(({ mentioned, kind }) => mentioned && kind === "metric") ? METRIC_REQUEST : "";
}

// The terms that fit, as prompt text.
function termTexts(terms) {
  let out = "";
  let left = TERMS;
  for (const term of terms.map(termText)) {
    if (byteLength(term) > left) continue;
    left -= byteLength(term);
    out += term;
  }
  return out;
}

function termText({ kind, name, definition, synonyms, labels, description }) {
  const shownKind = { metric: "Metric", dimension: "Dimension" }[kind] ?? "Term";
  let out = `${shownKind} ${line(name, COMMENT)}: ${line(definition, DEFINITION)}`;
  if (synonyms?.length > 0) out += ` (also: ${line(synonyms.join(", "), COMMENT)})`;
  if (labels?.length > 0) out += ` values: ${line(labels.map(labelText).join("; "), DEFINITION)}`;
  return `${out}${isGiven(description) ? ` -- ${line(description, COMMENT)}` : ""}\n`;
}

const labelText = ({ value, words }) => (words?.length > 0 ? `${value} (${words.join(", ")})` : value);

/** The facts about tables among the hints of a problem, as prompt text. */
export function factsText(problem) {
  return hintTexts((problem.hints ?? []).filter(isFact));
}

/** Whether a hit is a fact about a table: cells of no column. */
export function isFact(hit) {
  return hit.corpus === "cells" && !isGiven(hit.column);
}

// The hits that fit, as prompt text.
function hintTexts(hits) {
  let out = "";
  let left = HINTS;
  for (const hint of hits.slice(0, MOST).map(hintText)) {
    if (hint === null || byteLength(hint) > left) continue;
    left -= byteLength(hint);
    out += hint;
  }
  return out;
}

// A hit as prompt text; null for a solved example that is too long.
function hintText(hit) {
  if (hit.corpus === "examples" && isGiven(hit.payload)) {
    const example = exampleOf(hit);
    return example && `Solved before: ${example.question}\n\`\`\`sql\n${example.sql}\n\`\`\`\n`;
  }
  const text = (hit.corpus === "notes" ? payloadText(hit, "note") : null) ?? hit.snippet;
  return `Hint: ${line(hit.path, COMMENT)}${isGiven(text) ? `: ${line(text, mostOf(hit))}` : ""}\n`;
}

/** The most characters of a hit's text: what people wrote, and facts about a table, are whole. */
export function mostOf(hit) {
  const isWhole = hit.corpus === "notes" || hit.corpus === "examples" || isFact(hit);
  return isWhole ? NOTE : COMMENT;
}

// A text of a hit's payload; null if there is none.
function payloadText(hit, key) {
  if (!isGiven(hit.payload)) return null;
  try {
    const payload = typeof hit.payload === "string" ? JSON.parse(hit.payload) : hit.payload;
    return typeof payload?.[key] === "string" ? payload[key] : null;
  } catch {
    return null;
  }
}

/** The solved example `{ question, sql }` of a hit; null for any other hit, and for an example of more than 4,000 bytes. */
export function exampleOf(hit) {
  const [question, sql] = [payloadText(hit, "question"), payloadText(hit, "sql")];
  if (hit.corpus !== "examples" || question === null || sql === null) return null;
  const example = { question: line(question, NOTE), sql: trim(sql) };
  return example.sql !== "" && byteLength(example.question) + byteLength(example.sql) <= NOTE ? example : null;
}

const isGiven = (value) => value !== null && value !== undefined;

/**
 * All tables with columns, types, keys and comments in at most about `bytes` bytes: comments go first, then types and keys, and at last whole
 * tables, whose number is stated.
 */
export function catalogText(catalog, bytes) {
  for (const detail of ["comments", "types", "names"]) {
    const text = catalog.tables.map((table) => tableText(catalog, table, detail)).join("");
    if (byteLength(text) <= bytes) return text;
  }
  let out = "";
  let used = 0;
  for (const [place, table] of catalog.tables.entries()) {
    const text = tableText(catalog, table, "names");
    used += byteLength(text);
    if (used > bytes) return `${out}(${count(catalog.tables.length - place, "table")} more not shown)\n`;
    out += text;
  }
  return out;
}

/** A table's name as it stands in FROM, on one line: for prompts, not for a statement that is run. */
export function tableName(syntax, { schemaName, name }) {
  return isGiven(schemaName) ? `${shown(syntax, schemaName)}.${shown(syntax, name)}` : shown(syntax, name);
}

function target(catalog, key) {
  const table = findTable(catalog, key.refTable);
  return table ? tableName(catalog.syntax, table) : shown(catalog.syntax, key.refTable);
}

function tableText(catalog, table, detail) {
  const { syntax } = catalog;
  const kind = table.extra?.get?.("kind") === "view" ? "View" : "Table";
  const name = tableName(syntax, table);
  const list = (names) => names.map((column) => shown(syntax, column)).join(", ");
  if (detail === "names") return `${kind} ${name} (${list(table.columns.map((column) => column.name))})\n`;
  const rows = isGiven(table.rowEstimate) ? ` (about ${count(table.rowEstimate, "row")})` : "";
  let out = `${kind} ${name}${rows}${comment(table.comment, detail)}\n`;
  for (const column of table.columns) out += columnText(catalog, table, column, detail);
  for (const key of table.foreignKeys) {
    if (key.columns.length > 1) out += `  (${list(key.columns)}) -> ${target(catalog, key)} (${list(key.refColumns)})\n`;
  }
  return out;
}

function columnText(catalog, table, column, detail) {
  const { syntax } = catalog;
  let out = `  ${shown(syntax, column.name)}`;
  if (column.sqlType !== "") out += ` ${line(column.sqlType, 40)}`;
  if (table.primaryKey.includes(column.name)) out += " primary key";
  const key = table.foreignKeys.find(({ columns }) => columns.length === 1 && columns[0] === column.name);
  if (key) {
    out += ` -> ${target(catalog, key)}`;
    if (key.refColumns.length > 0) out += `.${shown(syntax, key.refColumns[0])}`;
  }
  return `${out}${comment(column.comment, detail)}\n`;
}

const comment = (text, detail) => (isGiven(text) && detail === "comments" && trim(text) !== "" ? ` -- ${line(text, COMMENT)}` : "");

/** A cell on one line, short. */
export function cellText(value) {
  if (value === null || value === undefined) return "NULL";
  if (typeof value === "number") return digits(value);
  if (value instanceof Uint8Array) return count(value.length, "byte");
  return typeof value === "string" ? line(value, CELL) : String(value);
}

/** Rows as a small table: names, then one line for each row. */
export function rowsText({ columns, rows }) {
  const lines = [columns.map((name) => line(name, CELL)), ...rows.map((row) => row.map(cellText))];
  return lines.map((cells) => `${cells.join(" | ")}\n`).join("");
}
