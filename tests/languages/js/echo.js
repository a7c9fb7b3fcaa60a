// The habit `echo`: values go through unchanged.

import { accepted, rejected, unavailable } from "syrch-plugin";

export const linked = (settings, problem, catalog) => ({
  tables: catalog.tables.map(({ name, columns, comment }) => ({
    table: name, columns: columns.map((column) => column.name), score: settings.share, reason: comment ?? "",
  })),
  hints: problem.hints,
});

/** A chain of one task for each clarification, or one task with the question. */
export function graph({ question, answers }) {
  const tasks = answers.map(([id, text], n) => ({ id, text, dependsOn: n === 0 ? [] : [answers[n - 1][0]], context: { n } }));
  if (tasks.length === 0) tasks.push({ id: "A", text: question });
  return { tasks, answer: tasks[tasks.length - 1].id, memo: { question } };
}

/** The edit for an observation, or none. */
export function edits(current, { task, ending }) {
  if (ending === "solved") return ["finish"];
  if (ending === "empty") return [{ answer: task }];
  if (ending === "cancelled") return current.tasks.filter(({ id }) => id === task).map((found) => ({ update: { ...found, priority: 2 } }));
  if (ending.failed) return [{ add: { id: `${task}-again`, text: ending.failed.message } }];
  return ending.skipped === undefined ? [] : [{ cancel: task }];
}

export function outcome({ share, text }, task, parents) {
  const candidates = parents.flatMap(ofParent);
  if (parents.length === 0) candidates.push({ ...only("SELECT 1"), rawConfidence: share });
  const ask = text === "" ? null : { text, choices: ["yes", "no"], ambiguity: share };
  return { candidates, ask, memo: { task: task.id } };
}

export const named = (id, sql) => ({ id, origin: "conformance", sql });
export const only = (sql) => named("only", sql);

function ofParent({ output: { relation, hits, failed } }) {
  if (relation) {
    const { name, candidate, results } = relation;
    return [{ ...candidate, origin: candidate.origin || "conformance", rationale: `${name}: ${results.profile.rows} rows` }];
  }
  if (hits) return [named(`hits-${hits.length}`, `SELECT ${hits.length}`)];
  return failed ? [{ ...named("failed", "SELECT 0"), rationale: failed.message }] : [];
}

export const probability = ({ share }, { claimed, signals }) => Math.min(1, Math.max(0, claimed * share + signals.attempts / 1000));

export function verdict({ share }, { results }) {
  const { rows, truncated, columns } = results.profile;
  if (rows === 0) return rejected(0, "no rows");
  if (truncated) return unavailable("truncated");
  return accepted(share, `${rows} rows of ${columns.length} columns`, columns.map(({ column, nulls }) => [column.name, nulls === 0]));
}

/** The question about an observation, or none. */
export function questions({ share }, { ending, candidates }) {
  if (!ending.failed) return [];
  return [{ text: ending.failed.message, choices: candidates.map(({ origin }) => origin), ambiguity: share }];
}

export function answer({ flag }, { answer: wanted }, finished, seen) {
  const last = finished.find(({ task }) => task.id === wanted);
  if (!last) return null;
  return {
    text: last.candidate.sql,
    task: last.task.id,
    candidate: last.candidate.id,
    sql: flag ? `SELECT * FROM ${last.name}` : null,
    confidence: last.candidate.confidence ?? 0,
    basis: finished.map(({ task }) => task.text),
    caveats: seen.filter(({ ending }) => ending.skipped !== undefined).map(({ task }) => task),
  };
}

export function proposal({ size }, best, history) {
  const number = history.length;
  if (number >= size) return null;
  return { sql: `${best} -- ${number}`, family: `f${number}`, reason: number === 0 ? "first" : word(history[number - 1].trial) };
}

function word(trial) {
  if (typeof trial === "string") return trial;
  const [kind, value] = Object.entries(trial)[0];
  if (kind === "other") return value;
  return kind === "accepted" || kind === "slower" ? `${kind} ${oneDigit(value)}` : `${kind}: ${value}`;
}

/** One digit after the point; a value between two of them goes to the even one. */
function oneDigit(value) {
  const isHalf = Number.isInteger(value * 4) && !Number.isInteger(value * 2);
  return isHalf ? (2 * Math.round(value * 5) / 10).toFixed(1) : value.toFixed(1);
}
